//! What is missing in the text of a document, and why: a type in the program, a code and a detail in the database, a
//! sentence for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cut_at_word;
use crate::limits;

/// Why part of a document is missing in its text. Its [`Display`](fmt::Display) is the sentence that the owner of the
/// source reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Coded", into = "Coded")]
pub enum WarningReason {
    /// A part of the page cannot be decoded.
    Damaged,
    /// The page exceeds the limits.
    TooLarge,
    /// Fonts of the page do not state which characters they show.
    UnknownCharacters,
    /// The page shows pictures and no text, as scans do.
    Scanned,
    /// The page is a picture whose text was recognised (OCR). Nothing is known to be missing.
    Ocr,
    /// The page shows pictures and no text, and recognising their text (OCR) failed.
    OcrFailed {
        /// Why, as a sentence.
        reason: String,
    },
    /// The document has more parts than the limit.
    Beyond {
        /// The kind of parts of which it has too many.
        parts: Parts,
        /// The number that is read.
        most: u32,
    },
    /// An attachment of a message was not read.
    Attachment {
        /// The name of the attachment, in one line and cut if it is long.
        name: String,
        /// Why, as a sentence.
        reason: String,
    },
    /// Part of an attachment of a message was not read.
    AttachmentPartly {
        /// The name of the attachment, in one line and cut if it is long.
        name: String,
        /// Why, as a sentence.
        reason: String,
    },
    /// There are more warnings than the limit.
    Further,
}

/// Parts of a document that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Parts {
    Pages,
    Sheets,
    Columns,
    Slides,
    Chapters,
    Attachments,
}

impl Parts {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Pages, Self::Sheets, Self::Columns, Self::Slides, Self::Chapters, Self::Attachments];

    /// The name in the database and in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Sheets => "sheets",
            Self::Columns => "columns",
            Self::Slides => "slides",
            Self::Chapters => "chapters",
            Self::Attachments => "attachments",
        }
    }

    /// The parts with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parts| parts.name() == name)
    }
}

impl WarningReason {
    /// Text of pictures that was not recognised. The reason is cut if it is long.
    pub fn ocr_failed(reason: &str) -> Self {
        Self::OcrFailed { reason: one_line(reason) }
    }

    /// Whether something is missing in the text. This is true of all reasons except recognised text.
    pub const fn loses_text(&self) -> bool {
        !matches!(self, Self::Ocr)
    }

    /// An attachment that was not read. Its name and the reason are cut if they are long.
    pub fn attachment(name: &str, reason: &str) -> Self {
        let (name, reason) = attached(name, reason);
        Self::Attachment { name, reason }
    }

    /// An attachment that was not read completely. Its name and the reason are cut if they are long.
    pub fn attachment_partly(name: &str, reason: &str) -> Self {
        let (name, reason) = attached(name, reason);
        Self::AttachmentPartly { name, reason }
    }

    /// The name in the database and in the API.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::TooLarge => "too_large",
            Self::UnknownCharacters => "unknown_characters",
            Self::Scanned => "scanned",
            Self::Ocr => "read_by_ocr",
            Self::OcrFailed { .. } => "ocr_failed",
            Self::Beyond { .. } => "beyond",
            Self::Attachment { .. } => "attachment",
            Self::AttachmentPartly { .. } => "attachment_partly",
            Self::Further => "further",
        }
    }

    /// The detail that the database stores with the code.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Damaged
            | Self::TooLarge
            | Self::UnknownCharacters
            | Self::Scanned
            | Self::Ocr
            | Self::Further => None,
            Self::OcrFailed { reason } => Some(reason.clone()),
            Self::Beyond { parts, most } => Some(format!("{most} {}", parts.name())),
            Self::Attachment { name, reason } | Self::AttachmentPartly { name, reason } => {
                Some(format!("{name}\n{reason}"))
            }
        }
    }

    /// The reason of this code and detail. `None` if they do not belong together, or if the detail is too long.
    pub fn from_parts(code: &str, detail: Option<&str>) -> Option<Self> {
        let is_short = |text: &&str| text.chars().nth(limits::HEADING_CHARS).is_none();
        let attachment = || {
            let (name, reason) = detail?.split_once('\n')?;
            let (name, reason) = (Some(name).filter(is_short)?, Some(reason).filter(is_short)?);
            Some((name.to_owned(), reason.to_owned()))
        };
        let failed = || {
            let reason = detail.filter(is_short)?.to_owned();
            Some(Self::OcrFailed { reason })
        };
        let beyond = || {
            let (most, parts) = detail?.split_once(' ')?;
            Some(Self::Beyond { parts: Parts::from_name(parts)?, most: most.parse().ok()? })
        };
        match code {
            "beyond" => beyond(),
            "ocr_failed" => failed(),
            "attachment" => attachment().map(|(name, reason)| Self::Attachment { name, reason }),
            "attachment_partly" => {
                attachment().map(|(name, reason)| Self::AttachmentPartly { name, reason })
            }
            _ if detail.is_some() => None,
            "damaged" => Some(Self::Damaged),
            "too_large" => Some(Self::TooLarge),
            "unknown_characters" => Some(Self::UnknownCharacters),
            "scanned" => Some(Self::Scanned),
            "read_by_ocr" => Some(Self::Ocr),
            "further" => Some(Self::Further),
            _ => None,
        }
    }
}

/// The name of an attachment and a reason, each in one line of bounded length.
fn attached(name: &str, reason: &str) -> (String, String) {
    (one_line(name), one_line(reason))
}

/// A text in one line of bounded length, without NUL.
fn one_line(text: &str) -> String {
    let is_space = |char: char| char.is_whitespace() || char == '\0';
    let words = text.split(is_space).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    cut_at_word(&line, limits::HEADING_CHARS).into_owned()
}

impl fmt::Display for WarningReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("a part of the page is damaged and cannot be decoded"),
            Self::TooLarge => f.write_str("the page exceeds the limits and was read only in part"),
            Self::UnknownCharacters => {
                f.write_str("some fonts of the page do not state which characters they show")
            }
            Self::Scanned => f.write_str(
                "the page shows pictures without text; make the file searchable (OCR) if they are scans",
            ),
            Self::Ocr => f.write_str(
                "the page is a picture; its text was recognised (OCR) and may contain mistakes",
            ),
            Self::OcrFailed { reason } => write!(
                f,
                "the page shows pictures without text, and recognising their text (OCR) failed: {reason}"
            ),
            Self::Beyond { parts, most } => {
                write!(f, "only the first {most} {} are read", parts.name())
            }
            Self::Attachment { name, reason } => {
                write!(f, "the attachment `{name}` was not read: {reason}")
            }
            Self::AttachmentPartly { name, reason } => {
                write!(f, "the attachment `{name}` was read only in part: {reason}")
            }
            Self::Further => f.write_str("there are more warnings, which were not stored"),
        }
    }
}

/// A reason as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Coded {
    code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl From<WarningReason> for Coded {
    fn from(reason: WarningReason) -> Self {
        Self { code: reason.code().to_owned(), detail: reason.detail() }
    }
}

impl TryFrom<Coded> for WarningReason {
    type Error = NoWarning;

    fn try_from(Coded { code, detail }: Coded) -> Result<Self, NoWarning> {
        Self::from_parts(&code, detail.as_deref()).ok_or(NoWarning)
    }
}

/// Warnings that are invalid or exceed their limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the warnings exceed their limits")]
pub struct NoWarning;

/// Why part of a document is missing, and on which pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Why.
    #[serde(flatten)]
    pub reason: WarningReason,
    /// The pages, from 1, in order; empty if the warning is not about pages. If there are very many, only the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<u32>,
    /// The number of pages.
    #[serde(default)]
    pub page_count: u32,
}

/// What is missing in the text of a document: each reason once, with its pages.
///
/// There are at most [`DOCUMENT_WARNINGS`](limits::DOCUMENT_WARNINGS) reasons with
/// [`WARNING_PAGES`](limits::WARNING_PAGES) pages in all; of further ones, only the number is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Warning>", into = "Vec<Warning>")]
pub struct Warnings {
    all: Vec<Warning>,
    /// Pages over all warnings.
    pages: usize,
}

impl Warnings {
    /// Adds a warning that is not about a page.
    pub fn add(&mut self, reason: WarningReason) {
        self.of(reason);
    }

    /// Adds a page to the warning of this reason. Pages come in order.
    pub fn add_page(&mut self, reason: WarningReason, page: u32) {
        let has_room = self.pages < limits::WARNING_PAGES;
        let warning = self.of(reason);
        warning.page_count = warning.page_count.saturating_add(1);
        if has_room {
            warning.pages.push(page);
            self.pages += 1;
        }
    }

    /// The warning with a reason, which is created if it does not exist.
    fn of(&mut self, reason: WarningReason) -> &mut Warning {
        let known = self.all.iter().position(|warning| warning.reason == reason);
        let at = known.unwrap_or_else(|| {
            let is_full = self.all.len() + 1 >= limits::DOCUMENT_WARNINGS;
            let reason = if is_full { WarningReason::Further } else { reason };
            let last = self.all.iter().position(|warning| warning.reason == reason);
            last.unwrap_or_else(|| {
                self.all.push(Warning { reason, pages: Vec::new(), page_count: 0 });
                self.all.len() - 1
            })
        });
        #[expect(clippy::indexing_slicing, reason = "a place that was found or made above")]
        &mut self.all[at]
    }

    /// The warnings, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.all.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The warnings that report missing content.
    pub fn losses(&self) -> impl Iterator<Item = &Warning> {
        self.iter().filter(|warning| warning.reason.loses_text())
    }

    /// The pages that were not read completely, in order.
    pub fn pages(&self) -> Vec<u32> {
        let mut pages: Vec<u32> =
            self.losses().flat_map(|warning| warning.pages.iter().copied()).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }
}

impl From<Warnings> for Vec<Warning> {
    fn from(warnings: Warnings) -> Self {
        warnings.all
    }
}

impl TryFrom<Vec<Warning>> for Warnings {
    type Error = NoWarning;

    fn try_from(all: Vec<Warning>) -> Result<Self, NoWarning> {
        let pages = all.iter().map(|warning| warning.pages.len()).sum();
        let is_whole = |warning: &Warning| {
            let counted = usize::try_from(warning.page_count).unwrap_or(usize::MAX);
            warning.pages.len() <= counted && !warning.pages.contains(&0)
        };
        let fits = all.len() <= limits::DOCUMENT_WARNINGS
            && pages <= limits::WARNING_PAGES
            && all.iter().all(is_whole);
        if fits { Ok(Self { all, pages }) } else { Err(NoWarning) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Parts, Warning, WarningReason, Warnings};
    use crate::limits;

    fn reasons() -> Vec<WarningReason> {
        let mut reasons = vec![
            WarningReason::Damaged,
            WarningReason::TooLarge,
            WarningReason::UnknownCharacters,
            WarningReason::Scanned,
            WarningReason::Ocr,
            WarningReason::ocr_failed("it took\ntoo long"),
            WarningReason::attachment("a b.pdf", "it is `protected`"),
            WarningReason::attachment_partly("", "a page is damaged"),
            WarningReason::Further,
        ];
        reasons.extend(Parts::ALL.map(|parts| WarningReason::Beyond { parts, most: 200 }));
        reasons
    }

    #[test]
    fn a_reason_comes_back_from_its_code_and_detail() {
        for reason in reasons() {
            let back = WarningReason::from_parts(reason.code(), reason.detail().as_deref());
            assert_eq!(back.as_ref(), Some(&reason));
        }
        for (code, detail) in [
            ("unheard_of", None),
            ("damaged", Some("why")),
            ("beyond", Some("many sheets")),
            ("beyond", Some("3 houses")),
            ("attachment", None),
            ("attachment", Some("a name")),
        ] {
            assert_eq!(WarningReason::from_parts(code, detail), None, "{code}");
        }
        let long = format!("a\n{}", "x".repeat(limits::HEADING_CHARS + 1));
        assert_eq!(WarningReason::from_parts("attachment", Some(&long)), None);
    }

    #[test]
    fn what_a_stranger_names_an_attachment_is_cut_and_has_no_nul() {
        let long = "a\nna\0me ".repeat(1_000);
        let reason = WarningReason::attachment(&long, &long);
        assert!(!reason.to_string().contains('\0'), "{reason}");
        let back = WarningReason::from_parts(reason.code(), reason.detail().as_deref());
        assert_eq!(back, Some(reason));
    }

    #[test]
    fn a_reason_is_there_once_with_its_pages() {
        let mut warnings = Warnings::default();
        warnings.add_page(WarningReason::Damaged, 2);
        warnings.add_page(WarningReason::Scanned, 3);
        warnings.add_page(WarningReason::Damaged, 7);
        warnings.add(WarningReason::Beyond { parts: Parts::Sheets, most: 200 });
        let told: Vec<(&str, &[u32])> =
            warnings.iter().map(|warning| (warning.reason.code(), &*warning.pages)).collect();
        let expected: [(&str, &[u32]); 3] =
            [("damaged", &[2, 7]), ("scanned", &[3]), ("beyond", &[])];
        assert_eq!(told, expected);
        assert_eq!(warnings.pages(), [2, 3, 7]);
        let json = serde_json::to_string(&warnings).unwrap();
        assert_eq!(serde_json::from_str::<Warnings>(&json).unwrap(), warnings);
    }

    #[test]
    fn warnings_and_their_pages_have_a_bound_and_are_counted_beyond_it() {
        let mut warnings = Warnings::default();
        for page in 1..=5_000 {
            warnings.add_page(WarningReason::Damaged, page);
        }
        for number in 0..1_000 {
            warnings.add(WarningReason::attachment(&format!("{number}"), "why"));
        }
        assert_eq!(warnings.iter().count(), limits::DOCUMENT_WARNINGS);
        assert_eq!(warnings.iter().last().unwrap().reason, WarningReason::Further);
        let first = warnings.iter().next().unwrap();
        assert_eq!((first.page_count, first.pages.len()), (5_000, limits::WARNING_PAGES));
        let json = serde_json::to_string(&warnings).unwrap();
        assert!(json.len() < 64 * 1_024, "{}", json.len());
        assert_eq!(serde_json::from_str::<Warnings>(&json).unwrap(), warnings);
    }

    #[test]
    fn warnings_out_of_bounds_are_not_believed() {
        let warning = |pages: Vec<u32>, page_count| Warning {
            reason: WarningReason::Damaged,
            pages,
            page_count,
        };
        assert!(Warnings::try_from(vec![warning(vec![1], 1)]).is_ok());
        let many = u32::try_from(limits::WARNING_PAGES).unwrap() + 1;
        for refused in [
            vec![warning(vec![1, 2], 1)],
            vec![warning(vec![0], 1)],
            vec![warning((1..=many).collect(), many)],
            vec![warning(Vec::new(), 0); limits::DOCUMENT_WARNINGS + 1],
        ] {
            assert!(Warnings::try_from(refused).is_err());
        }
    }
}
