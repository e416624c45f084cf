//! The result of reading a file or a web page: text with its structure, in one form for all formats.

use std::ops::Range;

use cicerone_domain::content::{CutDocument, Document, Stretch, Warnings, cut_title};
use cicerone_domain::limits;
use cicerone_domain::text::{is_blank, without_nul};
use cicerone_language::Language;
use serde::{Deserialize, Serialize};

use super::Unreadable;
use crate::bounded::at_most;
use crate::chunk::{Chunk, chunks};

/// This much of a text is enough to detect its language.
const LANGUAGE_CHARS: usize = 4_000;
/// This many letters of sentences show that a part of a text is in another language than most of it.
const PROSE_LETTERS: usize = 80;

/// A file or page, as its format is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The title that the content itself states.
    pub title: Option<String>,
    /// The text as Markdown: headings begin with `#`, lists with `- ` or `1. `, cells of tables are enclosed in `|`,
    /// code is in fences, and blocks are separated by an empty line. Text from formats without structure is unchanged.
    pub text: String,
    /// Where each page begins, in bytes of `text`, first page first; empty if the format has no
    /// pages. A page without text begins where the next one does.
    pub pages: Vec<usize>,
    /// The number of tables in the text, if the format states it; otherwise, its rows between `|` are counted.
    pub tables: Option<u32>,
    /// What is missing in the text.
    pub warnings: Warnings,
}

impl Reading {
    /// A text without structure or pages.
    pub fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Cuts the text into stretches of about 1,600 characters.
    ///
    /// A stretch has the headings above it and, if the reading has pages, the page that it begins on. Its language is
    /// that of most of the text, unless its own sentences are in another one.
    ///
    /// NUL in the text becomes a space, and is omitted in the title: any format can contain it, databases cannot.
    ///
    /// # Errors
    ///
    /// If the text has more than `limit` bytes.
    pub fn cut(self, limit: usize) -> Result<Prepared, Unreadable> {
        let Self { title, text, pages, tables, warnings } = self;
        if text.len() > limit {
            return Err(Unreadable::new(format!(
                "the document contains more than the maximum of {limit} bytes of text; add it in parts"
            )));
        }
        let text = without_nul(text);
        let stretches = stretches_of(&text, &pages);
        let page_count = u32::try_from(pages.len()).ok().filter(|count| *count > 0);
        let title = title.map(|title| cut_title(&title).into_owned());
        let title = title.filter(|title| !is_blank(title));
        let table_count = tables.unwrap_or_else(|| tables_in(&text));
        Ok(Prepared { title, text, page_count, table_count, warnings, stretches })
    }
}

/// A file or page, read and cut into stretches: the result of a child process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// The title that the content itself states, at most 200 characters.
    pub title: Option<String>,
    /// The text, as in [`Reading::text`].
    pub text: String,
    /// The number of pages, if the format has any.
    pub page_count: Option<u32>,
    /// Number of tables in the text.
    pub table_count: u32,
    /// What is missing in the text.
    pub warnings: Warnings,
    /// The stretches of the text, in order.
    pub stretches: Vec<Stretch>,
}

impl Prepared {
    /// Makes a document of it, with this title, which is cut at 200 characters, and this address.
    pub(crate) fn into_document(self, title: Option<&str>, url: Option<&str>) -> CutDocument {
        let document = Document {
            position: 0,
            url: url.map(str::to_owned),
            title: title.map(|title| cut_title(title).into_owned()),
            page_count: self.page_count,
            table_count: Some(self.table_count),
            warnings: self.warnings,
            text: self.text,
            is_pair: false,
        };
        CutDocument { document, stretches: self.stretches }
    }
}

/// The number of tables in a Markdown text: consecutive rows between `|`, outside code fences.
pub(super) fn tables_in(text: &str) -> u32 {
    let (mut tables, mut is_code, mut was_row) = (0_u32, false, false);
    for line in text.lines().map(str::trim) {
        is_code ^= line.starts_with("```");
        let is_row = !is_code && line.len() > 1 && line.starts_with('|') && line.ends_with('|');
        tables = tables.saturating_add(u32::from(is_row && !was_row));
        was_row = is_row;
    }
    tables
}

/// The stretches of a text whose pages begin at these bytes.
pub(super) fn stretches_of(text: &str, pages: &[usize]) -> Vec<Stretch> {
    let chunks = chunks(text);
    let of = |chunk: &Chunk| text.get(chunk.range.clone()).and_then(Language::detect);
    let own: Vec<Option<Language>> = chunks.iter().map(of).collect();
    let main = main_language(&chunks, &own).or_else(|| Language::detect(start_of(text)));
    let stretches = chunks.into_iter().zip(own).map(|(chunk, own)| {
        let own = own.filter(|own| {
            let part = text.get(chunk.range.clone()).unwrap_or_default();
            Some(*own) == main || is_prose_in(*own, part)
        });
        Stretch {
            page: page_of(pages, chunk.range.start),
            language: own.or(main).map(Language::code),
            range: chunk.range,
            heading: chunk.heading,
        }
    });
    stretches.collect()
}

/// The language of most of the text, as far as it is known.
fn main_language(chunks: &[Chunk], own: &[Option<Language>]) -> Option<Language> {
    let mut bytes: Vec<(Language, usize)> = Vec::new();
    for (chunk, language) in chunks.iter().zip(own) {
        let Some(language) = *language else { continue };
        match bytes.iter_mut().find(|(known, _)| *known == language) {
            Some((_, sum)) => *sum += chunk.range.len(),
            None => bytes.push((language, chunk.range.len())),
        }
    }
    bytes.into_iter().max_by_key(|(_, sum)| *sum).map(|(language, _)| language)
}

/// Whether the sentences of a part of a text are in a language. Code and the cells of tables look like other languages.
fn is_prose_in(language: Language, part: &str) -> bool {
    let mut is_code = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with('|')
    };
    let prose = part.lines().filter(is_prose).collect::<Vec<_>>().join("\n");
    let letters = prose.chars().filter(|char| char.is_alphabetic());
    letters.take(PROSE_LETTERS).count() == PROSE_LETTERS
        && Language::detect(&prose) == Some(language)
}

/// A text that is one stretch in a language.
pub(super) fn one_stretch(range: Range<usize>, language: Option<Language>) -> Stretch {
    Stretch { range, heading: None, page: None, language: language.map(Language::code) }
}

/// The number, from 1, of the page with the byte `at`: the last page that begins there or before.
fn page_of(pages: &[usize], at: usize) -> Option<u32> {
    let begun = pages.partition_point(|start| *start <= at);
    // Text before the first page belongs to it.
    (!pages.is_empty()).then(|| u32::try_from(begun.max(1)).unwrap_or(u32::MAX))
}

fn start_of(text: &str) -> &str {
    let end = text.char_indices().nth(LANGUAGE_CHARS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

/// A web page that was read: its text and its instructions for crawlers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageReading<R = Reading> {
    /// The text and its structure.
    pub reading: R,
    /// The addresses that it links to (`a` and `area`), resolved against its base, in order and without repeats;
    /// without those marked `rel=nofollow`. Only http and https, without fragments; at most 10,000 of 1 MiB together.
    #[serde(deserialize_with = "at_most::<_, _, { limits::PAGE_LINKS }>")]
    pub links: Vec<String>,
    /// Its canonical address (`link rel=canonical`), resolved.
    pub canonical: Option<String>,
    /// The address that browsers request instead (`meta http-equiv=refresh`), resolved; only if they do so at once, or if
    /// the page has no text.
    pub refresh: Option<String>,
    /// Whether its robots meta element, in general or for `Cicerone`, asks not to index the page.
    pub is_noindex: bool,
    /// Whether it asks not to follow its links.
    pub is_nofollow: bool,
    /// Whether it is the shell of an application that renders its text with scripts.
    pub needs_javascript: bool,
}

impl<R> PageReading<R> {
    /// The page with its text in another form.
    ///
    /// # Errors
    ///
    /// Those of `change`.
    pub fn try_map<S, E>(
        self,
        change: impl FnOnce(R) -> Result<S, E>,
    ) -> Result<PageReading<S>, E> {
        Ok(PageReading {
            reading: change(self.reading)?,
            links: self.links,
            canonical: self.canonical,
            is_noindex: self.is_noindex,
            refresh: self.refresh,
            is_nofollow: self.is_nofollow,
            needs_javascript: self.needs_javascript,
        })
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::limits;

    use super::{Reading, page_of, tables_in};

    #[test]
    fn a_stretch_knows_its_headings_and_the_page_that_it_begins_on() {
        let first = "# Tides\n\nThe harbour falls dry twice a day. ".repeat(20);
        let second = "## Pilots\n\nA pilot is taken at the outer buoy. ".repeat(20);
        let text = format!("{first}\n\n{second}");
        let pages = vec![0, first.len() + 2];
        let reading = Reading { text, pages, ..Reading::default() };
        let prepared = reading.cut(limits::DOCUMENT_TEXT_BYTES).unwrap();
        let cut = prepared.into_document(Some("Harbour"), Some("http://h.example/"));
        assert_eq!(cut.document.page_count, Some(2));
        assert_eq!(cut.document.url.as_deref(), Some("http://h.example/"));
        let passages: Vec<_> = cut.passages(0).collect();
        let last = passages.last().unwrap();
        assert_eq!(passages[0].page, Some(1));
        assert_eq!(last.page, Some(2));
        assert_eq!(last.heading.as_deref(), Some("Tides › Pilots"));
        assert_eq!(last.title.as_deref(), Some("Harbour"));
        assert_eq!(last.language.as_deref(), Some("eng"));
    }

    #[test]
    fn code_and_tables_are_in_the_language_of_the_text_but_sentences_may_be_in_another() {
        let english =
            "The harbour falls dry twice a day, and the ships lie on the sand. ".repeat(40);
        let table = "| reserved | non-reserved |\n".repeat(60);
        let spanish =
            "El puerto se queda seco dos veces al día, y los barcos están en la arena. ".repeat(20);
        let text = format!("# Tides\n\n{english}\n\n## Words\n\n{table}\n\n## Mareas\n\n{spanish}");
        let prepared = Reading::plain(text).cut(limits::DOCUMENT_TEXT_BYTES).unwrap();
        let of = |heading: &str| {
            let under = |path: &str| path.ends_with(heading);
            let mut stretches = prepared.stretches.iter();
            stretches.rfind(|one| one.heading.as_deref().is_some_and(under)).unwrap().language
        };
        assert_eq!(
            [of("Tides"), of("Words"), of("Mareas")],
            [Some("eng"), Some("eng"), Some("spa")]
        );
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
        let prepared = Reading::plain("A line.".to_owned()).cut(7).unwrap();
        assert_eq!((prepared.page_count, prepared.stretches[0].page), (None, None));
    }

    #[test]
    fn tables_are_rows_that_follow_each_other() {
        let table = "| Berth | Price |\n|---|---|\n| short | 5 |";
        let text = format!("# Fees\n\n{table}\n\nText | more\n\n{table}\n\n```\n{table}\n```");
        assert_eq!(tables_in(&text), 2);
        assert_eq!(Reading::plain(text).cut(1_000).unwrap().table_count, 2);
        assert_eq!(tables_in("|\n| open\nnone"), 0);
        let told =
            Reading { text: "- Berth: short".to_owned(), tables: Some(1), ..Reading::default() };
        assert_eq!(told.cut(1_000).unwrap().table_count, 1);
    }

    #[test]
    fn a_prepared_document_has_no_nul_and_its_pages_stay_where_they_are() {
        let text = "# Tides\0\n\nTwice\0a day.\n\nThe\0pilot.".to_owned();
        let second = text.find("The").unwrap();
        let title = Some("Mus\0eum guide\0".to_owned());
        let reading = Reading { title, text, pages: vec![0, second], ..Reading::default() };
        let prepared = reading.cut(1_000).unwrap();
        assert_eq!(prepared.title.as_deref(), Some("Museum guide"));
        assert_eq!(prepared.text, "# Tides \n\nTwice a day.\n\nThe pilot.");
        assert!(prepared.text[second..].starts_with("The pilot"));
        assert_eq!(prepared.stretches[0].heading.as_deref(), Some("Tides"));
        let unnamed = Reading { title: Some("\0".to_owned()), ..Reading::plain("A".to_owned()) };
        assert_eq!(unnamed.cut(1).unwrap().title, None);
    }

    #[test]
    fn more_text_than_may_be_is_refused() {
        let reason = Reading::plain("A line.".to_owned()).cut(6).unwrap_err().to_string();
        assert!(reason.contains("more than the maximum of 6 bytes"), "{reason}");
    }
}
