//! Folding: different spellings of one word become the same text (case, width, digits, marks).

use unicode_normalization::UnicodeNormalization as _;
use whatlang::Lang;

/// `text` in lower case, with ordinary forms for full-width and presentation forms, and ASCII digits for
/// all decimal digits. Stemmers and lists of stop words expect this.
pub(crate) fn lower(word: &str, language: Option<Lang>) -> String {
    if word.is_ascii() && language != Some(Lang::Tur) {
        return word.to_ascii_lowercase();
    }
    let mut lower = String::with_capacity(word.len());
    for character in word.nfkc() {
        match character {
            'İ' => lower.push('i'),
            'I' if matches!(language, Some(Lang::Tur | Lang::Aze)) => lower.push('ı'),
            '’' | 'ʼ' | '‘' | '＇' => lower.push('\''),
            // Soft hyphens and joiners only affect how a text looks.
            '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{FEFF}' => {}
            other => match ascii_digit(other) {
                Some(digit) => lower.push(digit),
                None => lower.extend(other.to_lowercase()),
            },
        }
    }
    lower
}

/// `text` in lower case, without the marks that people leave out when they type (accents, vowel points,
/// nukta), and with one form for letters that are written in several ways.
pub fn fold(text: &str) -> String {
    strip_marks(lower(text, None), None)
}

/// The same for the result of [`lower`]. Vietnamese keeps its marks, which distinguish words.
pub(crate) fn strip_marks(lower: String, language: Option<Lang>) -> String {
    if lower.is_ascii() || language == Some(Lang::Vie) {
        return lower;
    }
    let bare: String = lower.nfd().filter(|character| !is_mark(*character)).nfc().collect();
    if !bare.chars().any(|character| plain(character).is_some()) {
        return bare;
    }
    let mut folded = String::with_capacity(bare.len());
    for character in bare.chars() {
        match plain(character) {
            Some(plain) => folded.push_str(plain),
            None => folded.push(character),
        }
    }
    folded
}

/// Marks without which readers still recognise a word.
fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36F}'           // Latin, Greek and Cyrillic accents
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}'
        | '\u{5C7}'                     // Hebrew points
        | '\u{640}'                     // Arabic stretching
        | '\u{64B}'..='\u{65F}' | '\u{670}' // Arabic vowels and hamza above or below
        | '\u{93C}' | '\u{901}'         // Devanagari nukta; candrabindu, often written as anusvara
    )
}

/// Letters that do not decompose into a plain letter and a mark.
fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'þ' => "th",
        'ς' => "σ",
        'ی' | 'ى' => "ي",
        'ک' => "ك",
        'ة' => "ه",
        _ => return None,
    })
}

/// The ASCII digit of the same value, for the digits of Arabic, Persian and the Indic scripts.
fn ascii_digit(character: char) -> Option<char> {
    const ZEROS: [u32; 7] = [0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xED0, 0x1040];
    let code = u32::from(character);
    let zero = ZEROS.into_iter().find(|zero| (*zero..zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_become_one() {
        for (written, folded) in [
            ("Straße", "strasse"),
            ("Ｆｕｌｌ", "full"),
            ("Café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("İstanbul", "istanbul"),
            ("Ąćęłńóśźż", "acelnoszz"),
            ("٢٠٢٦", "2026"),
            ("२०२६", "2026"),
            ("ﬁle", "file"),
            ("مُحَمَّد", "محمد"),
            ("ﻣﺪرﺳﺔ", "مدرسه"),
        ] {
            assert_eq!(fold(written), folded, "{written}");
        }
    }

    #[test]
    fn marks_that_make_another_sound_stay() {
        assert_eq!(fold("がぎ"), "がぎ");
        assert_eq!(fold("한국어"), "한국어");
        assert_eq!(fold("कितना"), "कितना");
        assert_eq!(strip_marks(lower("Phở", Some(Lang::Vie)), Some(Lang::Vie)), "phở");
    }
}
