//! Text analysis: words, stems, scripts, languages and sentences.
//!
//! Pure functions over text. Everything that compares a question with content uses them, so both sides of
//! every comparison are analysed in the same way.

mod definitions;
mod everyday;
mod fold;
mod grams;
mod irregular;
mod language;
mod measures;
mod script;
mod sentences;
mod small_talk;
mod stop_words;
mod subjects;
mod terms;
mod word_lists;

pub use definitions::defined_term;
pub use everyday::{equivalents, is_light};
pub use fold::{fold, fold_start};
pub use grams::grams;
pub use irregular::inflections;
pub use language::Language;
pub use measures::measure;
pub use script::Script;
pub use sentences::sentences;
pub use small_talk::SmallTalk;
pub use subjects::{Subject, plain_heading};
pub use terms::{Term, plain_term, terms};

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
