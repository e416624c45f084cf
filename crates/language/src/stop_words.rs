//! Stop words: words that say nothing about the subject of a text, by language.

mod additions;

use std::sync::OnceLock;

use foldhash::HashSet;
use whatlang::Lang;

use crate::fold::{lower, strip_marks};
use crate::script::Script;

/// More than the number of languages.
const LANGUAGES: usize = 96;

/// One set for each language, built on first use.
static SETS: [OnceLock<HashSet<String>>; LANGUAGES] = [const { OnceLock::new() }; LANGUAGES];

/// Whether a word, folded as [`crate::fold`] does but not stemmed, is a stop word of `language`. For
/// scripts without spaces `word` is a gram.
pub(crate) fn has(language: Lang, word: &str) -> bool {
    SETS.get(language as usize)
        .is_some_and(|set| set.get_or_init(|| make_set(language)).contains(word))
}

/// The stop words of a language, as [`has`] compares them.
pub(crate) fn all(language: Lang) -> impl Iterator<Item = String> {
    make_set(language).into_iter()
}

fn make_set(language: Lang) -> HashSet<String> {
    let fold = |word: &str| strip_marks(lower(word, Some(language)), Some(language));
    let gram = additions::unspaced(language)
        .first()
        .and_then(|phrase| phrase.chars().find_map(Script::of).and_then(Script::gram));
    if let Some(gram) = gram {
        let phrases = additions::unspaced(language).iter();
        return phrases.flat_map(|phrase| grams(phrase, gram)).collect();
    }
    let mut set: HashSet<String> = listed(language).map(fold).collect();
    set.extend(additions::spaced(language).split_whitespace().map(fold));
    set
}

/// The words of the public lists. The Arabic one ends with months, currencies and numbers, which
/// questions are often about.
fn listed(language: Lang) -> impl Iterator<Item = &'static str> {
    let words = code(language).and_then(stop_words::lookup).unwrap_or_default();
    words.iter().copied().take_while(move |word| language != Lang::Ara || *word != "يناير")
}

/// Every run of `length` characters of a phrase.
fn grams(phrase: &str, length: usize) -> Vec<String> {
    let characters: Vec<char> = phrase.chars().collect();
    characters.windows(length).map(|window| window.iter().collect()).collect()
}

/// The ISO 639-1 code, which the lists use.
fn code(language: Lang) -> Option<&'static str> {
    Some(match language {
        Lang::Afr => "af",
        Lang::Ara => "ar",
        Lang::Aze => "az",
        Lang::Bel => "be",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Epo => "eo",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Guj => "gu",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv | Lang::Srp => "hr",
        Lang::Hun => "hu",
        Lang::Hye => "hy",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Lat => "la",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Mar => "mr",
        Lang::Nep => "ne",
        Lang::Nld => "nl",
        Lang::Nob => "no",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Spa => "es",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tgl => "tl",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Uzb => "uz",
        Lang::Vie => "vi",
        Lang::Zul => "zu",
        _ => return None,
    })
}
