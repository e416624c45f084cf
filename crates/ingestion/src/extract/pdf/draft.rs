//! The raw text of a PDF, before it is tidied.

use super::quality::Quality;
use crate::extract::Unreadable;

/// How much better the second text of a page must be to be taken.
const CLEARLY_BETTER: f64 = 1.05;
/// How good the second text of a page must be, relative to the first, if the first is in the wrong order.
const ABOUT_AS_GOOD: f64 = 0.8;

/// The text of each page, line by line, and the title that the file states.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) pages: Vec<String>,
    pub(super) title: Option<String>,
    /// The file is a form: its values are stored apart from the text of the pages.
    pub(super) has_form: bool,
}

impl Draft {
    /// Whether another reader could do better on any page.
    pub(super) fn has_doubtful_pages(&self) -> bool {
        self.pages.is_empty() || (0..self.pages.len()).any(|page| self.is_doubtful(page))
    }

    /// Whether another reader could do better on a page, from 0; of a page that is not there it could.
    pub(super) fn is_doubtful(&self, page: usize) -> bool {
        self.has_form || self.pages.get(page).is_none_or(|page| Quality::of(page).is_doubtful())
    }

    /// Of each page the better text; of two that are about as good, its own.
    pub(super) fn better_pages(mut self, other: Self) -> Self {
        self.title = self.title.or(other.title);
        if self.pages.is_empty() {
            self.pages = other.pages;
            return self;
        }
        for (page, theirs) in self.pages.iter_mut().zip(other.pages) {
            let (own, other) = (Quality::of(page), Quality::of(&theirs));
            let factor = if own.is_right_to_left() { ABOUT_AS_GOOD } else { CLEARLY_BETTER };
            if other.score() > factor * own.score() {
                *page = theirs;
            }
        }
        self
    }
}

/// Why a reader failed.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It takes a password.
    Protected,
    /// It is broken, and how.
    Damaged(String),
}

impl Refusal {
    /// The more specific of two: to some readers, protection looks like damage.
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

/// Runs a reader's code, which may panic on files made for it.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, Refusal> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    outcome.map_err(|_| Refusal::Damaged("it cannot be parsed".to_owned()))
}
