//! How a cut text is passed to the server: as the text itself and an outline of its stretches.

use std::collections::HashMap;
use std::sync::Arc;

use cicerone_domain::content::{Stretch, Warnings};
use cicerone_domain::limits;
use cicerone_language::Language;
use serde::{Deserialize, Serialize};

use crate::bounded::at_most;
use crate::extract::{PageReading, Prepared};

/// Everything of a [`Prepared`] except its text. Each heading and language is listed once; stretches refer to them by
/// number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outline {
    title: Option<String>,
    page_count: Option<u32>,
    table_count: u32,
    /// Reading them checks their bounds.
    warnings: Warnings,
    #[serde(deserialize_with = "at_most::<_, _, { limits::DOCUMENT_PASSAGES }>")]
    headings: Vec<String>,
    #[serde(deserialize_with = "at_most::<_, _, LANGUAGES>")]
    languages: Vec<String>,
    #[serde(deserialize_with = "at_most::<_, _, { limits::DOCUMENT_PASSAGES }>")]
    stretches: Vec<Line>,
}

/// More than the number of languages that are distinguished.
const LANGUAGES: usize = 200;

/// One stretch: where it begins and ends, its heading, its page and its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Line(usize, usize, Option<usize>, Option<u32>, Option<usize>);

impl Outline {
    /// Splits a result into its outline and its text.
    pub(super) fn of(prepared: Prepared) -> (Self, String) {
        let Prepared { title, text, page_count, table_count, warnings, stretches } = prepared;
        let mut headings = Names::default();
        let mut languages = Names::default();
        let lines = stretches.iter().map(|stretch| {
            let heading = stretch.heading.as_deref().map(|heading| headings.number(heading));
            let language = stretch.language.map(|language| languages.number(language));
            Line(stretch.range.start, stretch.range.end, heading, stretch.page, language)
        });
        let stretches = lines.collect();
        let (headings, languages) = (headings.names, languages.names);
        (Self { title, page_count, table_count, warnings, headings, languages, stretches }, text)
    }

    /// The result, if this is a valid outline of that text; `None` if anything is out of bounds. Nothing that a reading
    /// process sends is trusted. It sends no NUL, because databases cannot store it.
    pub(super) fn with(self, text: String) -> Option<Prepared> {
        let is_short =
            |text: &String, limit: usize| text.chars().nth(limit).is_none() && !text.contains('\0');
        let fits = !text.contains('\0')
            && self.title.iter().all(|title| is_short(title, limits::HEADING_CHARS))
            && self
                .warnings
                .iter()
                .filter_map(|warning| warning.reason.detail())
                .all(|text| !text.contains('\0'))
            && self.headings.iter().all(|path| is_short(path, limits::HEADING_PATH_CHARS))
            && self.warnings.pages().last().is_none_or(|page| Some(*page) <= self.page_count)
            && self.stretches.len() <= limits::DOCUMENT_PASSAGES;
        if !fits {
            return None;
        }
        let headings: Vec<Arc<str>> = self.headings.into_iter().map(Arc::from).collect();
        let languages = self.languages.iter().map(|code| Language::from_code(code));
        let languages: Vec<&str> =
            languages.map(|code| Some(code?.code())).collect::<Option<_>>()?;
        let (mut end, mut heading_bytes) = (0, 0);
        let mut stretches = Vec::with_capacity(self.stretches.len());
        for Line(from, to, heading, page, language) in self.stretches {
            let is_next = end <= from && from < to && text.get(from..to).is_some();
            let is_page = page.is_none_or(|page| page > 0 && Some(page) <= self.page_count);
            if !is_next || !is_page {
                return None;
            }
            end = to;
            let heading = number(&headings, heading)?.map(Arc::clone);
            heading_bytes += heading.as_ref().map_or(0, |heading| heading.len());
            let language = number(&languages, language)?.copied();
            stretches.push(Stretch { range: from..to, heading, page, language });
        }
        let Self { title, page_count, table_count, warnings, .. } = self;
        (heading_bytes <= limits::DOCUMENT_HEADING_BYTES).then_some(Prepared {
            title,
            text,
            page_count,
            table_count,
            warnings,
            stretches,
        })
    }
}

/// Whether a page's links are within bounds.
pub(super) fn has_bounded_links<R>(page: &PageReading<R>) -> bool {
    let addresses = page.links.iter().chain(&page.canonical).chain(&page.refresh);
    page.links.len() <= limits::PAGE_LINKS
        && page.links.iter().map(String::len).sum::<usize>() <= limits::PAGE_LINK_BYTES
        && addresses.map(String::len).all(|bytes| bytes <= limits::WEBSITE_URL_CHARS)
}

/// The item with this number, if a number is given. `None` if there is no such item.
fn number<T>(items: &[T], number: Option<usize>) -> Option<Option<&T>> {
    match number {
        Some(number) => items.get(number).map(Some),
        None => Some(None),
    }
}

/// Names by number, in the order in which they first occurred.
#[derive(Default)]
struct Names<'a> {
    names: Vec<String>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::content::WarningReason;
    use cicerone_domain::limits;

    use super::{Line, Outline, Warnings};
    use crate::extract::{Prepared, Reading};

    fn prepared() -> Prepared {
        let section = "Die Öffnungszeiten für Gäste stehen im Hafen an der Tür. ".repeat(9);
        let text = format!("# Häfen\n\n{section}\n\n## Süd\n\n{section}\n\n## Nord\n\n{section}");
        let title = Some("Hafen".to_owned());
        let reading = Reading { title, pages: vec![0, 300], text, ..Reading::default() };
        reading.cut(limits::DOCUMENT_TEXT_BYTES).unwrap()
    }

    fn outline() -> (Outline, String) {
        Outline::of(prepared())
    }

    #[test]
    fn what_was_cut_comes_back() {
        let (outline, text) = outline();
        assert_eq!((outline.headings.len(), outline.languages.len()), (3, 1));
        assert_eq!(outline.with(text), Some(prepared()));
    }

    #[test]
    fn an_outline_that_does_not_fit_is_not_believed() {
        let (whole, text) = outline();
        let last = text.len();
        let umlaut = text.find('ä').unwrap();
        let lines = [
            Line(last, last, None, None, None),
            Line(0, last + 1, None, None, None),
            Line(umlaut + 1, last, None, None, None),
            Line(5, 3, None, None, None),
            Line(0, 9, Some(3), None, None),
            Line(0, 9, None, Some(3), None),
            Line(0, 9, None, Some(0), None),
            Line(0, 9, None, None, Some(1)),
        ];
        for line in lines {
            let outline = Outline { stretches: vec![line], ..whole.clone() };
            assert_eq!(outline.with(text.clone()), None, "{line:?}");
        }
        let twice = Outline { stretches: vec![Line(0, 9, None, None, None); 2], ..whole.clone() };
        assert_eq!(twice.with(text.clone()), None);
        let long = |chars: usize| "x".repeat(chars + 1);
        for outline in [
            Outline { title: Some(long(limits::HEADING_CHARS)), ..whole.clone() },
            Outline { headings: vec![long(limits::HEADING_PATH_CHARS); 3], ..whole.clone() },
            Outline { languages: vec!["???".to_owned()], ..whole.clone() },
        ] {
            assert_eq!(outline.with(text.clone()), None);
        }
    }

    #[test]
    fn no_text_of_a_reading_process_contains_nul() {
        let (whole, text) = outline();
        assert_eq!(whole.clone().with(text.replacen(' ', "\0", 1)), None);
        let nul = || "a\0b".to_owned();
        let mut warnings = Warnings::default();
        warnings.add(WarningReason::OcrFailed { reason: nul() });
        for outline in [
            Outline { title: Some(nul()), ..whole.clone() },
            Outline { headings: vec![nul(); 3], ..whole.clone() },
            Outline { warnings, ..whole.clone() },
        ] {
            assert_eq!(outline.with(text.clone()), None);
        }
    }

    #[test]
    fn headings_and_stretches_have_a_bound_in_all() {
        let text = "x".repeat(2 * limits::DOCUMENT_PASSAGES + 2);
        let outline = |count: usize, heading: &str| Outline {
            title: None,
            page_count: None,
            table_count: 0,
            warnings: Warnings::default(),
            headings: vec![heading.to_owned()],
            languages: Vec::new(),
            stretches: (0..count).map(|n| Line(n, n + 1, Some(0), None, None)).collect(),
        };
        let heading = "é".repeat(limits::HEADING_PATH_CHARS);
        let most = limits::DOCUMENT_HEADING_BYTES / heading.len();
        assert!(outline(most, &heading).with(text.clone()).is_some());
        assert!(outline(most + 1, &heading).with(text.clone()).is_none());
        assert!(outline(limits::DOCUMENT_PASSAGES, "x").with(text.clone()).is_some());
        assert!(outline(limits::DOCUMENT_PASSAGES + 1, "x").with(text).is_none());
    }
}
