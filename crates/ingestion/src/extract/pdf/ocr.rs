//! Text that is only in pictures: scanned pages and uploaded pictures.

use cicerone_domain::content::WarningReason;
use hayro_syntax::Pdf;
use hayro_syntax::object::Dict;

use super::bounds::Budget;
use super::draft::{Draft, DraftPage, guarded};
use super::layers::Layers;
use super::scan;
#[cfg(any(feature = "office", test))]
use crate::extract::Unreadable;
use crate::extract::ocr::{Ocr, Recognized};

/// After this many consecutive failures, the remaining pages are not tried.
const FAILURES: usize = 3;
/// Lines of a text that would be Markdown.
const MARKS: [&str; 3] = ["#", "|", "```"];

/// How the recognition of a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// Its text was recognised.
    Read,
    /// It was not, and why.
    Failed(String),
}

impl Ended {
    pub(super) fn warning(&self) -> WarningReason {
        match self {
            Self::Read => WarningReason::Ocr,
            Self::Failed(reason) => WarningReason::ocr_failed(reason),
        }
    }
}

/// Recognises the pages that show pictures and no text.
pub(super) fn fill(draft: &mut Draft, bytes: &[u8], ocr: &mut dyn Ocr) {
    if !draft.pages.iter().any(DraftPage::is_scan) {
        return;
    }
    let Ok(Ok(pdf)) = guarded(|| Pdf::new(bytes.to_vec())) else { return };
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let layers = guarded(|| Layers::of(&catalog)).unwrap_or_default();
    let mut budget = Budget::default();
    let mut failures = 0;
    let Ok(pages) = guarded(|| pdf.pages()) else { return };
    for (page, draft) in pages.iter().zip(&mut draft.pages).filter(|(_, draft)| draft.is_scan()) {
        let last = draft.ocr.take();
        debug_assert!(last.is_none(), "a page is recognised once");
        let picture = guarded(|| scan::of(page, &layers, &mut budget)).ok().flatten();
        let outcome = match picture {
            None => Recognized::Failed("its pictures cannot be decoded".to_owned()),
            Some(picture) if picture.is_blank() => Recognized::Text(String::new()),
            Some(picture) => ocr.text_of(&picture.into_file()),
        };
        failures = if matches!(outcome, Recognized::Failed(_)) { failures + 1 } else { 0 };
        draft.take(outcome);
        if failures == FAILURES {
            break;
        }
    }
    stop(draft);
}

/// Pages that were not tried because of earlier failures fail for the reason of the last one.
fn stop(draft: &mut Draft) {
    let reason = draft.pages.iter().rev().find_map(|page| page.ocr.clone());
    if let Some(Ended::Failed(reason)) = reason {
        for page in draft.pages.iter_mut().filter(|page| page.is_scan() && page.ocr.is_none()) {
            page.ocr = Some(Ended::Failed(reason.clone()));
        }
    }
}

impl DraftPage {
    /// Whether it shows pictures and no text.
    pub(super) fn is_scan(&self) -> bool {
        self.is_picture && self.text.trim().is_empty()
    }

    /// Takes the recognised text.
    fn take(&mut self, outcome: Recognized) {
        self.ocr = Some(match outcome {
            Recognized::Failed(reason) => Ended::Failed(reason),
            Recognized::Text(text) if text.trim().is_empty() => {
                Ended::Failed("no text was found in them".to_owned())
            }
            Recognized::Text(text) => {
                self.text = text_of(&text);
                Ended::Read
            }
        });
    }
}

/// The draft of a picture file: a page for each form feed.
#[cfg(any(feature = "office", test))]
pub(super) fn draft_of(picture: &[u8], ocr: &mut dyn Ocr) -> Result<Draft, Unreadable> {
    let text = match ocr.text_of(picture) {
        Recognized::Text(text) => text,
        Recognized::Failed(reason) => {
            let message = format!("the text of the picture was not recognised (OCR): {reason}");
            return Err(Unreadable::new(message));
        }
    };
    let text = text.trim_end();
    if text.is_empty() {
        return Err(Unreadable::new("the picture holds no text that was recognised (OCR)"));
    }
    let pages = text.split('\u{c}').map(|page| DraftPage {
        text: text_of(page),
        is_picture: true,
        ocr: (!page.trim().is_empty()).then_some(Ended::Read),
        ..DraftPage::default()
    });
    Ok(Draft { pages: pages.collect(), ..Draft::default() })
}

/// Escapes recognised text for a page: lines that begin like Markdown become plain text.
fn text_of(recognised: &str) -> String {
    let mut text = String::with_capacity(recognised.len());
    for line in recognised.lines().map(|line| line.trim_matches(['\u{c}', ' ', '\t'])) {
        if MARKS.iter().any(|mark| line.starts_with(mark)) {
            text.push('\\');
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Draft, DraftPage, Ended, draft_of, stop};
    use crate::extract::ocr::{Ocr, Recognized};

    struct Says(Recognized);

    impl Ocr for Says {
        fn text_of(&mut self, _: &[u8]) -> Recognized {
            self.0.clone()
        }
    }

    #[test]
    fn pages_of_a_picture_end_with_a_form_feed() {
        let text = Recognized::Text("# Fees \n| 5\n\u{c}\n\u{c}Third\n\u{c}".to_owned());
        let draft = draft_of(b"", &mut Says(text)).unwrap();
        let pages: Vec<(&str, bool)> =
            draft.pages.iter().map(|page| (page.text.trim(), page.ocr.is_some())).collect();
        assert_eq!(pages, [("\\# Fees\n\\| 5", true), ("", false), ("Third", true)]);
    }

    #[test]
    fn a_picture_without_text_is_refused_with_the_reason() {
        for (outcome, part) in [
            (Recognized::Text(" \n\u{c}".to_owned()), "no text that was recognised"),
            (Recognized::Failed("it took too long".to_owned()), "(OCR): it took too long"),
        ] {
            let reason = draft_of(b"", &mut Says(outcome)).unwrap_err().to_string();
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn pages_that_are_not_tried_fail_for_the_last_reason() {
        let scan = DraftPage { is_picture: true, ..DraftPage::default() };
        let failed = DraftPage { ocr: Some(Ended::Failed("why".to_owned())), ..scan.clone() };
        let read = DraftPage { text: "Fees".to_owned(), ..scan.clone() };
        let mut draft = Draft { pages: vec![read, failed, scan], ..Draft::default() };
        stop(&mut draft);
        let ended: Vec<_> = draft.pages.into_iter().map(|page| page.ocr).collect();
        let why = || Some(Ended::Failed("why".to_owned()));
        assert_eq!(ended, [None, why(), why()]);
    }
}
