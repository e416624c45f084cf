//! What is missing in a trained source.

use serde::{Deserialize, Serialize};

use crate::content::{Extracted, WarningReason, Warnings};
use crate::limits;

/// A source was not read completely, with the reasons. The documents have the details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialReading {
    /// How many of its documents have warnings that something is missing.
    pub documents: u64,
    /// For a source that is one document, the pages that were not read completely, in order: the first
    /// [`PARTIAL_PAGES`](limits::PARTIAL_PAGES).
    pub pages: Vec<u32>,
    /// Why, each reason once: the first [`PARTIAL_REASONS`](limits::PARTIAL_REASONS).
    pub reasons: Vec<WarningReason>,
}

impl PartialReading {
    /// Summarises the warnings of an extracted source.
    pub fn of(extracted: &Extracted) -> Option<Self> {
        let mut documents = extracted.documents.iter().map(|cut| &cut.document.warnings);
        if extracted.documents.len() == 1 {
            return Self::of_one(documents.next()?);
        }
        let mut losses = Losses::default();
        documents.for_each(|warnings| losses.add(warnings));
        losses.into_partial()
    }

    fn of_one(warnings: &Warnings) -> Option<Self> {
        let mut losses = Losses::default();
        losses.add(warnings);
        let mut pages = warnings.pages();
        pages.truncate(limits::PARTIAL_PAGES);
        Some(Self { pages, ..losses.into_partial()? })
    }
}

/// Sums up what is missing in the documents of a source, one document after the other.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    documents: u64,
    reasons: Vec<WarningReason>,
}

impl Losses {
    /// Adds the next document. It counts if its warnings say that something is missing.
    pub fn add(&mut self, warnings: &Warnings) {
        let mut losses = warnings.losses().peekable();
        self.documents += u64::from(losses.peek().is_some());
        for warning in losses {
            if self.reasons.len() < limits::PARTIAL_REASONS
                && !self.reasons.contains(&warning.reason)
            {
                self.reasons.push(warning.reason.clone());
            }
        }
    }

    /// The summary; `None` if nothing is missing.
    pub fn into_partial(self) -> Option<PartialReading> {
        let Self { documents, reasons } = self;
        (documents > 0).then_some(PartialReading { documents, pages: Vec::new(), reasons })
    }
}

#[cfg(test)]
mod tests {
    use super::{Losses, PartialReading};
    use crate::content::{WarningReason, Warnings};
    use crate::limits;

    #[test]
    fn a_source_of_one_document_names_its_pages_and_others_count_documents() {
        let mut warnings = Warnings::default();
        assert_eq!(PartialReading::of_one(&warnings), None);
        warnings.add_page(WarningReason::Ocr, 1);
        assert_eq!(PartialReading::of_one(&warnings), None, "recognised text is not missing");
        warnings.add_page(WarningReason::Damaged, 4);
        warnings.add_page(WarningReason::Scanned, 2);
        let reasons = vec![WarningReason::Damaged, WarningReason::Scanned];
        let one = PartialReading { documents: 1, pages: vec![2, 4], reasons: reasons.clone() };
        assert_eq!(PartialReading::of_one(&warnings), Some(one));
        let many = PartialReading { documents: 2, pages: Vec::new(), reasons };
        let mut recognised = Warnings::default();
        recognised.add_page(WarningReason::Ocr, 1);
        let mut losses = Losses::default();
        [&warnings, &recognised, &warnings].into_iter().for_each(|warnings| losses.add(warnings));
        assert_eq!(losses.into_partial(), Some(many));
    }

    #[test]
    fn pages_and_reasons_have_bounds() {
        let mut warnings = Warnings::default();
        (1..=500).for_each(|page| warnings.add_page(WarningReason::Damaged, page));
        for number in 0..20 {
            warnings.add(WarningReason::attachment(&number.to_string(), "why"));
        }
        let partial = PartialReading::of_one(&warnings).unwrap();
        assert_eq!(partial.pages.len(), limits::PARTIAL_PAGES);
        assert_eq!(partial.reasons.len(), limits::PARTIAL_REASONS);
    }
}
