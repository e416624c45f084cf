//! Shared code of the targets: the rules for all readings, and the thread that readers run on.

pub mod archive;
pub mod stack;

use cicerone_domain::{Extracted, UploadType};
use cicerone_ingestion::{
    Chunk, Material, Reading, chunks, detect_upload_type, extract, read_file,
};

/// The longest text that a child process returns.
const READING_BYTES: usize = 64 * 1024 * 1024;
/// The longest passage, in characters.
const PASSAGE_CHARS: usize = 2_000;

/// Reads a file of a kind: the input itself or, if the kind is an archive, one made of its parts.
/// Checks the result.
pub fn check_file(kind: UploadType, input: &[u8]) {
    let file = archive::file(kind, input);
    // Another target checks the result; here it must only not panic.
    let _ = detect_upload_type(&file);
    if let Ok(reading) = read_file(kind, &file) {
        // A text may be blank; it is refused when passages are cut.
        let may_be_blank = kind == UploadType::Csv;
        assert!(may_be_blank || !reading.text.trim().is_empty(), "an empty text must be refused");
        check_reading(&reading);
    }
}

/// Checks a reading, and the passages that are made of it.
pub fn check_reading(reading: &Reading) {
    assert!(reading.text.len() <= READING_BYTES, "{} bytes", reading.text.len());
    let mut before = 0;
    for start in &reading.pages {
        assert!(*start >= before, "pages are not in order: {:?}", reading.pages);
        assert!(reading.text.is_char_boundary(*start), "a page begins within a character");
        before = *start;
    }
    check_chunks(&reading.text);
    let prepared = reading.clone().cut(READING_BYTES).expect("its length was checked");
    match extract(Material::File { name: "file", prepared }) {
        Ok(extracted) => check_extracted(&extracted, reading.pages.len()),
        Err(_) => assert!(reading.text.trim().is_empty(), "a text was refused"),
    }
}

/// Checks the passages of a source whose document has this many pages.
pub fn check_extracted(extracted: &Extracted, pages: usize) {
    for ((_, passage), position) in extracted.passages().zip(0..) {
        assert_eq!(passage.position, position);
        assert!(!passage.text.trim().is_empty(), "a passage is blank");
        let page = passage.page.map(|page| page as usize);
        assert_eq!(page.is_some(), pages > 0);
        assert!(page.is_none_or(|page| (1..=pages).contains(&page)), "page {page:?} of {pages}");
    }
}

/// Checks the guarantees of [`chunks`].
pub fn check_chunks(text: &str) {
    let mut end = 0;
    for Chunk { range, heading, .. } in chunks(text) {
        assert!(range.start >= end, "stretches overlap or are out of order");
        let stretch = text.get(range.clone()).expect("stretches end at character boundaries");
        assert!(!stretch.is_empty() && stretch.trim() == stretch, "{stretch:?}");
        let chars = stretch.chars().count();
        assert!(chars <= PASSAGE_CHARS, "a stretch of {chars} characters");
        assert!(heading.is_none_or(|path| !path.trim().is_empty()), "a blank heading");
        check_left_out(&text[end..range.start]);
        end = range.end;
    }
    check_left_out(&text[end..]);
}

/// Checks that only white space and thematic breaks are left out.
fn check_left_out(between: &str) {
    for line in between.lines().map(str::trim) {
        let is_break = line.chars().all(|char| "-*_=".contains(char) || char.is_whitespace());
        assert!(is_break, "lost: {line:?}");
    }
}
