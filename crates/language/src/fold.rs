//! Folding: different spellings of one word become the same text (case, width, digits, marks).

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_compatible;
use whatlang::Lang;

/// `text` in lower case, with ordinary forms for full-width and presentation forms, and ASCII digits for those of several
/// scripts. Stemmers and lists of stop words expect this.
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
            other if is_invisible(other) => {}
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

/// The first letters of [`fold`] without an allocation, padded with NUL. Letters of Korean and Japanese are in parts.
///
/// # Examples
///
/// ```
/// use cicerone_language::fold_start;
///
/// assert_eq!(fold_start("Éclair"), ['e', 'c', 'l']);
/// assert_eq!(fold_start("Ý"), ['y', '\0']);
/// ```
pub fn fold_start<const LETTERS: usize>(text: &str) -> [char; LETTERS] {
    let mut start = ['\0'; LETTERS];
    let mut count = 0;
    let mut push = |letter: char| {
        if let Some(place) = start.get_mut(count) {
            *place = letter;
        }
        count += 1;
        count >= LETTERS
    };
    for character in text.chars() {
        let mut is_full = false;
        if character.is_ascii() {
            is_full = push(character.to_ascii_lowercase());
        } else {
            decompose_compatible(character, |part| {
                let lower = part.to_lowercase();
                for letter in lower.filter(|part| !is_mark(*part) && !is_invisible(*part)) {
                    match (plain(letter), ascii_digit(letter)) {
                        (Some(plain), _) => plain.chars().for_each(|one| is_full = push(one)),
                        (None, digit) => is_full = push(digit.unwrap_or(letter)),
                    }
                }
            });
        }
        if is_full {
            break;
        }
    }
    start
}

/// The result of [`lower`] as [`fold`] has it. Vietnamese keeps its marks, which distinguish words.
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

/// Soft hyphens and joiners, which only affect how a text looks.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{FEFF}')
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

/// The ASCII digit of the same value, for the digits of Arabic, Persian, Devanagari, Bengali, Thai, Lao and Burmese.
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
            let mut letters = folded.chars();
            let start = std::array::from_fn(|_| letters.next().unwrap_or('\0'));
            assert_eq!(fold_start::<4>(written), start, "{written}");
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
