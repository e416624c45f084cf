//! A reading made into a document and the passages that it is searched by.

use cicerone_domain::{Document, Passage};
use cicerone_language::Language;

use super::Reading;
use crate::chunk::chunks;

/// So much of a text tells its language.
const LANGUAGE_CHARS: usize = 4_000;

/// The document that a reading is, under `title` and at `url`, and its passages of about 1,600
/// characters. Both count their positions from 0.
///
/// A passage knows the headings that it stands under and, where the reading has pages, the page that
/// it begins on. A passage whose language cannot be told is taken to be in that of the whole.
pub(crate) fn passages_of(
    reading: &Reading,
    title: Option<&str>,
    url: Option<&str>,
) -> (Document, Vec<Passage>) {
    let text = &reading.text;
    let title = title.map(str::to_owned);
    let url = url.map(str::to_owned);
    let language = Language::detect(&start_of(text));
    let passages = chunks(text)
        .into_iter()
        .zip(0..)
        .filter_map(|(chunk, position)| {
            let page = page_of(&reading.pages, chunk.range.start);
            let stretch = text.get(chunk.range)?.to_owned();
            Some(Passage {
                position,
                title: title.clone(),
                heading: chunk.heading,
                url: url.clone(),
                page,
                language: code(Language::detect(&stretch).or(language)),
                text: stretch,
                is_pair: false,
            })
        })
        .collect();
    let page_count = u32::try_from(reading.pages.len()).ok().filter(|count| *count > 0);
    let document =
        Document { position: 0, url, title, page_count, text: text.clone(), is_pair: false };
    (document, passages)
}

/// The language as passages name it.
pub(super) fn code(language: Option<Language>) -> Option<String> {
    language.map(|language| language.code().to_owned())
}

/// The number, from 1, of the page that the byte `at` lies on: the last that begins there or before.
fn page_of(pages: &[usize], at: usize) -> Option<u32> {
    let begun = pages.partition_point(|start| *start <= at);
    // What stands before the first page belongs to it.
    (!pages.is_empty()).then(|| u32::try_from(begun.max(1)).unwrap_or(u32::MAX))
}

fn start_of(text: &str) -> String {
    text.chars().take(LANGUAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{Reading, page_of, passages_of};

    #[test]
    fn a_passage_knows_its_headings_and_the_page_that_it_begins_on() {
        let first = "# Tides\n\nThe harbour falls dry twice a day. ".repeat(20);
        let second = "## Pilots\n\nA pilot is taken at the outer buoy. ".repeat(20);
        let text = format!("{first}\n\n{second}");
        let pages = vec![0, first.len() + 2];
        let reading = Reading { title: None, text, pages };
        let (document, passages) =
            passages_of(&reading, Some("Harbour"), Some("http://h.example/"));
        assert_eq!(document.page_count, Some(2));
        assert_eq!(document.url.as_deref(), Some("http://h.example/"));
        let last = passages.last().unwrap();
        assert_eq!(passages[0].page, Some(1));
        assert_eq!(last.page, Some(2));
        assert_eq!(last.heading.as_deref(), Some("Tides › Pilots"));
        assert_eq!(last.title.as_deref(), Some("Harbour"));
        assert_eq!(last.language.as_deref(), Some("eng"));
    }

    #[test]
    fn a_page_without_text_is_passed_over() {
        let pages = [0, 10, 10, 25];
        assert_eq!(page_of(&pages, 0), Some(1));
        assert_eq!(page_of(&pages, 9), Some(1));
        assert_eq!(page_of(&pages, 10), Some(3));
        assert_eq!(page_of(&pages, 400), Some(4));
        assert_eq!(page_of(&[], 4), None);
    }

    #[test]
    fn a_reading_without_pages_has_no_page_count() {
        let reading = Reading { text: "A line.".to_owned(), ..Reading::default() };
        let (document, passages) = passages_of(&reading, None, None);
        assert_eq!((document.page_count, passages[0].page), (None, None));
    }
}
