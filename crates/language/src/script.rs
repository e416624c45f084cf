//! Writing systems: the script of a character, and how a script separates words.

use whatlang::Lang;

/// A writing system that the analysis distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Script {
    /// Latin letters.
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    /// Arabic, with the letters of Persian and Urdu.
    Arabic,
    Devanagari,
    Bengali,
    Tamil,
    Thai,
    Lao,
    Khmer,
    /// Burmese.
    Myanmar,
    /// Chinese characters, in Chinese and Japanese.
    Han,
    Hiragana,
    Katakana,
    /// Korean letters.
    Hangul,
    /// Any other letters.
    Other,
}

impl Script {
    /// The script of a letter or of a mark on a letter; `None` for digits, punctuation and the like.
    pub fn of(character: char) -> Option<Self> {
        Some(match u32::from(character) {
            0x41..=0x5A | 0x61..=0x7A | 0xAA | 0xBA | 0xC0..=0xD6 | 0xD8..=0xF6 => Self::Latin,
            0xF8..=0x2AF | 0x1E00..=0x1EFF | 0xFB00..=0xFB06 => Self::Latin,
            0xFF21..=0xFF3A | 0xFF41..=0xFF5A => Self::Latin,
            0x0..=0x36F => return None,
            0x370..=0x3FF | 0x1F00..=0x1FFF => Self::Greek,
            0x400..=0x52F => Self::Cyrillic,
            0x531..=0x587 => Self::Armenian,
            0x591..=0x5F4 => Self::Hebrew,
            0x620..=0x65F | 0x66E..=0x6D3 | 0x6D5..=0x6EF | 0x6FA..=0x6FF => Self::Arabic,
            0x750..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC => Self::Arabic,
            0x900..=0x963 | 0x971..=0x97F => Self::Devanagari,
            0x980..=0x9E5 => Self::Bengali,
            0xB82..=0xBE5 => Self::Tamil,
            0xE01..=0xE4E => Self::Thai,
            0xE81..=0xECD => Self::Lao,
            0x1000..=0x103F | 0x104C..=0x109F => Self::Myanmar,
            0x1100..=0x11FF | 0x3131..=0x318E | 0xAC00..=0xD7FB => Self::Hangul,
            0x1780..=0x17D3 => Self::Khmer,
            0x3041..=0x309F => Self::Hiragana,
            0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => Self::Katakana,
            0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF => Self::Han,
            0x2_0000..=0x3_FFFF => Self::Han,
            _ if character.is_alphabetic() => Self::Other,
            _ => return None,
        })
    }

    /// The length of grams for scripts that do not separate words by spaces, or in which affixes would hide
    /// them; `None` for scripts with separate words.
    pub(crate) fn gram(self) -> Option<usize> {
        match self {
            Self::Han | Self::Hiragana | Self::Katakana | Self::Hangul => Some(2),
            Self::Thai | Self::Lao | Self::Khmer | Self::Myanmar => Some(3),
            Self::Latin
            | Self::Greek
            | Self::Cyrillic
            | Self::Armenian
            | Self::Hebrew
            | Self::Arabic
            | Self::Devanagari
            | Self::Bengali
            | Self::Tamil
            | Self::Other => None,
        }
    }

    /// Whether a run of one script may continue in the other: Japanese words mix three scripts.
    pub(crate) fn joins(self, next: Self) -> bool {
        let japanese = |script| matches!(script, Self::Han | Self::Hiragana | Self::Katakana);
        self == next || (japanese(self) && japanese(next))
    }

    /// The language in which words of this script are analysed if the language is unknown.
    pub(crate) fn usual_language(self) -> Option<Lang> {
        match self {
            Self::Latin => Some(Lang::Eng),
            Self::Greek => Some(Lang::Ell),
            Self::Cyrillic => Some(Lang::Rus),
            Self::Armenian => Some(Lang::Hye),
            Self::Hebrew => Some(Lang::Heb),
            Self::Arabic => Some(Lang::Ara),
            Self::Devanagari => Some(Lang::Hin),
            Self::Bengali => Some(Lang::Ben),
            Self::Tamil => Some(Lang::Tam),
            Self::Thai => Some(Lang::Tha),
            Self::Khmer => Some(Lang::Khm),
            Self::Myanmar => Some(Lang::Mya),
            Self::Han => Some(Lang::Cmn),
            Self::Hiragana | Self::Katakana => Some(Lang::Jpn),
            Self::Hangul => Some(Lang::Kor),
            Self::Lao | Self::Other => None,
        }
    }

    /// Whether words of `language` are written in this script.
    pub(crate) fn writes(self, language: Lang) -> bool {
        match language {
            Lang::Rus | Lang::Ukr | Lang::Bel | Lang::Bul | Lang::Mkd => self == Self::Cyrillic,
            Lang::Srp => matches!(self, Self::Cyrillic | Self::Latin),
            Lang::Ara | Lang::Pes | Lang::Urd => self == Self::Arabic,
            Lang::Heb | Lang::Yid => self == Self::Hebrew,
            Lang::Hin | Lang::Mar | Lang::Nep => self == Self::Devanagari,
            Lang::Jpn => matches!(self, Self::Han | Self::Hiragana | Self::Katakana),
            Lang::Cmn => self == Self::Han,
            Lang::Ell
            | Lang::Hye
            | Lang::Ben
            | Lang::Tam
            | Lang::Tha
            | Lang::Khm
            | Lang::Mya
            | Lang::Kor => self.usual_language() == Some(language),
            Lang::Kat
            | Lang::Amh
            | Lang::Kan
            | Lang::Guj
            | Lang::Pan
            | Lang::Tel
            | Lang::Mal
            | Lang::Ori
            | Lang::Sin => self == Self::Other,
            _ => self == Self::Latin,
        }
    }
}
