//! Documents made large in one dimension, from a seed: whatever comes out of a reader has bounds.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use cicerone_domain::{UploadType, limits};
use cicerone_ingestion::{Material, PageReading, Prepared, Readers, SandboxSettings, extract};

use crate::{address, docx, settings};

/// Documents that are made.
const DOCUMENTS: u64 = 48;
/// Bytes that a document has at most.
const BYTES: usize = 200_000;
/// Beginnings of words in several languages and scripts.
const WORDS: [&str; 12] = [
    "harbour",
    "Leuchtturm",
    "phare",
    "маяк",
    "φάρος",
    "灯台",
    "منارة",
    "등대",
    "ประภาคาร",
    "मीनार",
    "\u{1f5fc}",
    "x",
];

/// Chance by a seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).expect("31 bits") % below
    }

    fn word(&mut self) -> &'static str {
        WORDS.get(self.next(WORDS.len())).expect("a word")
    }

    /// Words of about this many bytes.
    fn words(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(self.word());
            text.push(if self.next(9) == 0 { '.' } else { ' ' });
            if text.ends_with('.') {
                text.push(' ');
            }
        }
        text
    }
}

/// A Markdown text that is large in one dimension.
fn text(chance: &mut Chance, dimension: usize) -> String {
    let mut text = String::new();
    let bytes = BYTES / 4 + chance.next(BYTES / 2);
    match dimension % 8 {
        // One heading above very many small sections.
        0 => {
            writeln!(text, "# {}\n", chance.words(bytes).replace('\n', " ")).expect("memory");
            for number in 0..bytes / 20 {
                writeln!(text, "## {number}\n\n{}\n", chance.word()).expect("memory");
            }
        }
        // Six levels of long headings above sections that are just large enough not to be joined.
        1 => {
            for level in 1..=5 {
                writeln!(text, "{} {}\n", "#".repeat(level), chance.words(2_000)).expect("memory");
            }
            while text.len() < bytes {
                let (heading, body) = (chance.words(800), chance.words(900));
                writeln!(text, "###### {heading}\n\n{body}\n").expect("memory");
            }
        }
        2 => text = "word".repeat(bytes / 4),
        3 => text = chance.words(bytes).replace(' ', "\n\n"),
        4 => text = "| a | b |\n".repeat(bytes / 10),
        5 => text = format!("{}\n---\n\n{}", chance.words(bytes), "- item\n".repeat(bytes / 8)),
        6 => text = "#".repeat(bytes),
        _ => text = chance.words(bytes),
    }
    text
}

/// A page that is large in one dimension.
fn page(chance: &mut Chance, dimension: usize) -> String {
    let bytes = BYTES / 4 + chance.next(BYTES / 2);
    match dimension % 7 {
        0 => {
            let sections = (0..bytes / 30).map(|number| format!("<h2>{number}</h2><p>text</p>"));
            let sections: String = sections.collect();
            format!("<main><h1>{}</h1>{sections}</main>", chance.words(bytes))
        }
        1 => {
            let links = (0..bytes / 20).map(|number| format!("<a href=/{number}>{number}</a> "));
            format!("<main>{}</main>", links.collect::<String>())
        }
        2 => {
            let base = format!("<base href=/{}/>", "b".repeat(bytes / 2));
            format!("{base}<main>{}</main>", "<a href=x>text</a>".repeat(bytes / 40))
        }
        3 => format!("<title>{}</title><p>text", chance.words(bytes)),
        4 => {
            let long = chance.words(bytes);
            format!("<p title='{long}'><img alt='{long}' src=a>text <a href='/{long}'>more</a>")
        }
        5 => format!("<table>{}</table>", "<tr><td>a<td>b".repeat(bytes / 20)),
        _ => format!("{}text", "<div>".repeat(chance.next(600))),
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Checks everything that comes out of a reader.
fn check(prepared: Prepared) {
    let bytes = limits::DOCUMENT_TEXT_BYTES;
    assert!(prepared.text.len() <= bytes, "{} bytes of text", prepared.text.len());
    assert!(prepared.title.iter().all(|title| chars(title) <= limits::HEADING_CHARS));
    assert!(prepared.stretches.len() <= limits::DOCUMENT_PASSAGES);
    let headings = prepared.stretches.iter().filter_map(|stretch| stretch.heading.as_deref());
    let (mut heading_bytes, mut longest) = (0, 0);
    for heading in headings {
        heading_bytes += heading.len();
        longest = longest.max(chars(heading));
    }
    assert!(longest <= limits::HEADING_PATH_CHARS, "a heading of {longest} characters");
    assert!(heading_bytes <= limits::DOCUMENT_HEADING_BYTES, "{heading_bytes} bytes of headings");
    if prepared.text.trim().is_empty() {
        return;
    }
    let length = prepared.text.len();
    let extracted = extract(Material::File { name: "a file", prepared }).expect("passages");
    let (mut texts, mut end) = (0, 0);
    for (_, passage) in extracted.passages() {
        texts += passage.text.len();
        end = passage.position;
    }
    assert!(texts <= length, "passages of {texts} bytes of a text of {length}");
    assert!(usize::try_from(end).is_ok_and(|end| end < limits::DOCUMENT_PASSAGES));
}

fn check_page(page: PageReading<Prepared>) {
    let addresses = page.links.iter().chain(&page.canonical);
    assert!(addresses.map(String::len).all(|bytes| bytes <= limits::WEBSITE_URL_CHARS));
    assert!(page.links.len() <= limits::PAGE_LINKS, "{} links", page.links.len());
    assert!(page.links.iter().map(String::len).sum::<usize>() <= limits::PAGE_LINK_BYTES);
    check(page.reading);
}

/// A pool that has time for a build without optimisation on a busy machine.
fn patient() -> SandboxSettings {
    let limit = Duration::from_secs(120);
    SandboxSettings { wall: limit, processor: limit, ..settings() }
}

#[tokio::test]
async fn documents_that_are_large_in_one_dimension_stay_within_bounds() {
    let readers = Readers::new(patient());
    for seed in 0..DOCUMENTS {
        let mut chance = Chance(seed);
        let dimension = usize::try_from(seed / 4).expect("a small number");
        match seed % 4 {
            0 => {
                let text = text(&mut chance, dimension);
                let read = readers.file(UploadType::Text, text.into(), None).await;
                check(read.unwrap_or_else(|e| panic!("{seed}: {e}")));
            }
            1 => {
                let page = page(&mut chance, dimension);
                match readers.page(&address(), page.into(), None).await {
                    Ok(page) => check_page(page),
                    Err(reason) => assert!(reason.to_string().contains("nested"), "{reason}"),
                }
            }
            2 => {
                let text = text(&mut chance, dimension).replace(['<', '&'], " ");
                let paragraphs = text.replace('\n', "</w:t></w:r></w:p><w:p><w:r><w:t>");
                let read = readers.file(UploadType::Docx, docx(&paragraphs), None).await;
                check(read.unwrap_or_else(|e| panic!("{seed}: {e}")));
            }
            _ => {
                let answer = serde_json::to_string(&text(&mut chance, dimension)).expect("JSON");
                let question = "why ".repeat(limits::QUESTION_CHARS / 4);
                let pairs = format!(r#"[{{"question": "{question}", "answer": {answer}}}]"#);
                let extracted = extract(Material::Pairs(&pairs)).expect("pairs");
                let titles = extracted.passages().map(|(_, passage)| passage.title);
                assert!(titles.flatten().all(|title| chars(&title) <= limits::HEADING_CHARS));
            }
        }
    }
}

#[tokio::test]
async fn a_small_file_does_not_hold_text_without_end() {
    let readers = Readers::new(patient());
    let mut text = String::new();
    let mut number = 0_u32;
    while text.len() <= limits::DOCUMENT_TEXT_BYTES {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let line = format!("{number} {} ", "all the same ".repeat(40));
        text.push_str(&line);
    }
    let file = docx(&text);
    assert!(file.len() < text.len() / 20, "{} bytes", file.len());
    let reason = readers.file(UploadType::Docx, file, None).await.unwrap_err().to_string();
    assert!(reason.contains("more than the maximum of 10485760 bytes"), "{reason}");
}

#[tokio::test]
async fn the_largest_text_files_are_read() {
    let readers = Readers::new(patient());
    // Digits and Greek, whose language is detected quickly.
    let ascii = Bytes::from("1854 ".repeat(limits::FILE_BYTES / 5));
    let prepared = readers.file(UploadType::Text, ascii.clone(), None).await.expect("a text");
    assert_eq!(prepared.text.len(), ascii.len());
    check(prepared);
    // Five letters of two bytes each in UTF-8, and a space.
    let (word, ..) = encoding_rs::WINDOWS_1253.encode("Φάρος ");
    let greek = |words: usize| Bytes::from(word.repeat(words));
    let (most, label) = (limits::DOCUMENT_TEXT_BYTES / 11, Some("windows-1253"));
    let prepared = readers.file(UploadType::Text, greek(most), label).await.expect("a text");
    assert_eq!(chars(&prepared.text), 6 * most);
    let read = readers.file(UploadType::Text, greek(most + 1), label).await;
    let reason = read.unwrap_err().to_string();
    assert!(reason.contains("more than the maximum of 10485760 bytes"), "{reason}");
}
