//! Chunking, and the text analysis that it and the index use: sentences, terms, languages.

#![no_main]

use cicerone_fuzz::check_chunks;
use cicerone_language::{Language, fold, grams, sentences, terms};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    check_chunks(&text);
    check_sentences(&text);
    check_terms(&text, Language::detect(&text));
    check_terms(&text, None);
    let _ = fold(&text);
    grams(&text, |gram| assert!(!gram.is_empty()));
});

/// Checks that sentences are in order, have no white space around them, and lose nothing.
fn check_sentences(text: &str) {
    let mut end = 0;
    for range in sentences(text) {
        assert!(range.start >= end, "sentences overlap or are out of order");
        let sentence = text.get(range.clone()).expect("sentences end at character boundaries");
        assert!(!sentence.is_empty() && sentence.trim() == sentence, "{sentence:?}");
        assert!(text[end..range.start].trim().is_empty(), "text between sentences is lost");
        end = range.end;
    }
    assert!(text[end..].trim().is_empty(), "text after the last sentence is lost");
}

fn check_terms(text: &str, language: Option<Language>) {
    for term in terms(text, language) {
        assert!(!term.text.is_empty(), "an empty term at {:?}", term.range);
        assert!(text.get(term.range.clone()).is_some_and(|word| !word.is_empty()), "{term:?}");
    }
}
