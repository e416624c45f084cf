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
        let warnings = || extracted.documents.iter().map(|cut| &cut.document.warnings);
        if extracted.documents.len() == 1 {
            return Self::of_one(warnings().next()?);
        }
        let documents = warnings().filter(|warnings| warnings.losses().next().is_some()).count();
        Self::of_many(u64::try_from(documents).unwrap_or(u64::MAX), warnings())
    }

    fn of_one(warnings: &Warnings) -> Option<Self> {
        let mut pages = warnings.pages();
        pages.truncate(limits::PARTIAL_PAGES);
        Some(Self { pages, ..Self::of_many(1, [warnings])? })
    }

    /// Summarises the warnings of a source: how many documents have any, and the reasons from the first ones.
    pub fn of_many<'a>(
        documents: u64,
        first: impl IntoIterator<Item = &'a Warnings>,
    ) -> Option<Self> {
        let mut reasons = Vec::new();
        for warning in first.into_iter().flat_map(Warnings::losses) {
            if reasons.len() < limits::PARTIAL_REASONS && !reasons.contains(&warning.reason) {
                reasons.push(warning.reason.clone());
            }
        }
        (!reasons.is_empty()).then_some(Self { documents, pages: Vec::new(), reasons })
    }
}

#[cfg(test)]
mod tests {
    use super::PartialReading;
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
        let many = PartialReading { documents: 7, pages: Vec::new(), reasons };
        assert_eq!(PartialReading::of_many(7, [&warnings, &warnings]), Some(many));
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
