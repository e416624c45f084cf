//! The raw text of a PDF, before cleanup.

use cicerone_domain::content::WarningReason;

use super::ocr::Ended;
use super::quality::Quality;
use crate::extract::Unreadable;

/// How much better the second text of a page must be to be used.
const CLEARLY_BETTER: f64 = 1.1;

/// The text of each page, line by line, and the title that the file states.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) pages: Vec<DraftPage>,
    pub(super) title: Option<String>,
    /// Whether it has more pages than the limit.
    pub(super) is_cut: bool,
}

#[derive(Debug, Default, Clone)]
pub(super) struct DraftPage {
    pub(super) text: String,
    /// Why it was not read completely.
    pub(super) unread: Option<Unread>,
    /// Whether it shows text, even if none of it was read.
    pub(super) has_content: bool,
    /// Pictures cover most of it.
    pub(super) is_picture: bool,
    /// How the recognition of its pictures ended, if they were recognised.
    pub(super) ocr: Option<Ended>,
}

/// Why a page is not read completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// A part of it cannot be decoded.
    Damaged,
    /// It contains more than the limits allow.
    TooLarge,
    /// Its fonts do not state which characters they show.
    Fonts,
}

impl From<Unread> for WarningReason {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Damaged => Self::Damaged,
            Unread::TooLarge => Self::TooLarge,
            Unread::Fonts => Self::UnknownCharacters,
        }
    }
}

impl DraftPage {
    /// What is missing in the page's text.
    pub(super) fn warning(&self) -> Option<WarningReason> {
        let recognised = self.ocr.as_ref().map(Ended::warning);
        let scan = recognised.or_else(|| self.is_scan().then_some(WarningReason::Scanned));
        self.unread.map(WarningReason::from).or(scan)
    }
}

impl Draft {
    /// Whether another reader could do better on any page.
    pub(super) fn has_doubtful_pages(&self) -> bool {
        self.pages.is_empty() || (0..self.pages.len()).any(|page| self.is_doubtful(page))
    }

    /// Whether another reader could do better on a page, from 0; true for a missing page.
    pub(super) fn is_doubtful(&self, page: usize) -> bool {
        self.pages.get(page).is_none_or(|page| {
            let has_doubtful_text = page.has_content && Quality::of(&page.text).is_doubtful();
            // A page that exceeds the limits of the first reader would take the second one forever.
            page.unread != Some(Unread::TooLarge) && (page.unread.is_some() || has_doubtful_text)
        })
    }

    /// Takes the better text of each doubtful page; if both are about equally good, its own.
    pub(super) fn better_pages(mut self, other: Self) -> Self {
        self.title = self.title.or(other.title);
        if self.pages.is_empty() {
            self.pages = other.pages;
            return self;
        }
        for (page, theirs) in self.pages.iter_mut().zip(other.pages) {
            let (own, other) = (Quality::of(&page.text), Quality::of(&theirs.text));
            if other.score() > CLEARLY_BETTER * own.score() {
                page.text = theirs.text;
                let is_doubtful = other.is_doubtful();
                page.unread = page.unread.filter(|_| is_doubtful);
            }
        }
        self
    }
}
/// Why a reader failed.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It requires a password.
    Protected,
    /// It is damaged, with the details.
    Damaged(String),
}

impl Refusal {
    /// The more specific of two: some readers report protection as damage.
    pub(super) fn or(self, other: Self) -> Self {
        if matches!(other, Self::Protected) { other } else { self }
    }
}

impl From<Refusal> for Unreadable {
    fn from(refusal: Refusal) -> Self {
        Self::new(match refusal {
            Refusal::Protected => {
                "the PDF is protected by a password; remove it and upload again".to_owned()
            }
            Refusal::Damaged(how) => format!("the PDF is damaged: {how}"),
        })
    }
}

/// Runs a reader's code, which may panic on malicious files.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Refusal> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    outcome.map_err(|_| Refusal::Damaged("it cannot be parsed".to_owned()))
}
