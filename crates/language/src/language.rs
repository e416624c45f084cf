//! Languages, and the detection of the language of a text.

mod detection;

use frostem::{Algorithm, Stemmer};
use whatlang::Lang;

/// A language, by its ISO 639-3 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language(pub(crate) Lang);

impl Language {
    /// ISO 639-3 `eng`.
    pub const ENGLISH: Self = Self(Lang::Eng);

    /// The ISO 639-3 code: `eng`.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// The language with this code, if it is one that can be detected.
    pub fn from_code(code: &str) -> Option<Self> {
        Lang::from_code(code).map(Self)
    }

    /// The language of `text`; `None` if it cannot be detected, as for a few words in Latin letters. A
    /// few words in a script that mostly one language uses count as that language.
    pub fn detect(text: &str) -> Option<Self> {
        detection::detect(text).map(Self)
    }
}

/// The Snowball stemmer of a language, if there is one.
pub(crate) fn stemmer(language: Lang) -> Option<Stemmer> {
    let algorithm = match language {
        Lang::Ara => Algorithm::Arabic,
        Lang::Cat => Algorithm::Catalan,
        Lang::Ces | Lang::Slk => Algorithm::Czech,
        Lang::Dan => Algorithm::Danish,
        Lang::Deu => Algorithm::German,
        Lang::Ell => Algorithm::Greek,
        Lang::Eng => Algorithm::English,
        Lang::Epo => Algorithm::Esperanto,
        Lang::Est => Algorithm::Estonian,
        Lang::Fin => Algorithm::Finnish,
        Lang::Fra => Algorithm::French,
        Lang::Hin => Algorithm::Hindi,
        Lang::Hrv | Lang::Srp => Algorithm::Serbian,
        Lang::Hun => Algorithm::Hungarian,
        Lang::Hye => Algorithm::Armenian,
        Lang::Ind => Algorithm::Indonesian,
        Lang::Ita => Algorithm::Italian,
        Lang::Lit => Algorithm::Lithuanian,
        Lang::Nep => Algorithm::Nepali,
        Lang::Nld => Algorithm::Dutch,
        Lang::Nob => Algorithm::Norwegian,
        Lang::Pes => Algorithm::Persian,
        Lang::Pol => Algorithm::Polish,
        Lang::Por => Algorithm::Portuguese,
        Lang::Ron => Algorithm::Romanian,
        Lang::Rus => Algorithm::Russian,
        Lang::Spa => Algorithm::Spanish,
        Lang::Swe => Algorithm::Swedish,
        Lang::Tam => Algorithm::Tamil,
        Lang::Tur => Algorithm::Turkish,
        Lang::Ukr => Algorithm::Ukrainian,
        Lang::Yid => Algorithm::Yiddish,
        _ => return None,
    };
    Some(Stemmer::new(algorithm))
}
