//! The detection of a language by script, letters, common words and trigrams.

use std::sync::OnceLock;

use foldhash::HashMap;
use unicode_segmentation::UnicodeSegmentation as _;
use whatlang::Lang;

use crate::fold::{lower, strip_marks};
use crate::script::Script;
use crate::stop_words;

/// The number of characters that are examined. More would not improve the result.
const LOOKED_AT: usize = 2_000;
/// The number of letters from which statistics over trigrams are reliable.
const ENOUGH_FOR_TRIGRAMS: usize = 80;
/// Languages in Latin letters with lists of common words that are good enough to distinguish them.
const VOTING: [Lang; 22] = [
    Lang::Eng,
    Lang::Spa,
    Lang::Por,
    Lang::Fra,
    Lang::Deu,
    Lang::Ita,
    Lang::Nld,
    Lang::Swe,
    Lang::Dan,
    Lang::Nob,
    Lang::Fin,
    Lang::Pol,
    Lang::Ces,
    Lang::Slk,
    Lang::Hun,
    Lang::Ron,
    Lang::Tur,
    Lang::Cat,
    Lang::Hrv,
    Lang::Est,
    Lang::Ind,
    Lang::Vie,
];

pub(super) fn detect(text: &str) -> Option<Lang> {
    let end = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(end, _)| end);
    let text = text.get(..end).unwrap_or(text);
    match main_script(text)? {
        Script::Latin => latin(text),
        Script::Han | Script::Hiragana | Script::Katakana => Some(chinese_or_japanese(text)),
        Script::Cyrillic => Some(by_letters(
            text,
            &[("іїєґ", Lang::Ukr), ("ў", Lang::Bel), ("ђћџ", Lang::Srp), ("ѓќѕ", Lang::Mkd)],
            Lang::Rus,
        )),
        Script::Arabic => {
            Some(by_letters(text, &[("ٹڈڑےں", Lang::Urd), ("پچژگ", Lang::Pes)], Lang::Ara))
        }
        Script::Devanagari => Some(by_letters(text, &[("ळ", Lang::Mar)], Lang::Hin)),
        Script::Other => whatlang::detect_lang(text),
        script => script.usual_language(),
    }
}

/// The most frequent script of a text. A Chinese character counts as about three letters.
fn main_script(text: &str) -> Option<Script> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for script in text.chars().filter_map(Script::of) {
        let weight = if script == Script::Han { 3 } else { 1 };
        match counts.iter_mut().find(|(counted, _)| *counted == script) {
            Some((_, count)) => *count += weight,
            None => counts.push((script, weight)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(script, _)| script)
}

/// Distinguishes Japanese, which always has kana, from Chinese, which has them in names only.
fn chinese_or_japanese(text: &str) -> Lang {
    let count = |wanted: fn(Script) -> bool| {
        text.chars().filter_map(Script::of).filter(|script| wanted(*script)).count()
    };
    let kana = count(|script| matches!(script, Script::Hiragana | Script::Katakana));
    let han = count(|script| script == Script::Han);
    if kana * 20 > han { Lang::Jpn } else { Lang::Cmn }
}

/// The language of a text in a script that several languages share: by trigrams if there is enough text,
/// otherwise by letters that only one of them has, otherwise the most common one.
fn by_letters(text: &str, marks: &[(&str, Lang)], usual: Lang) -> Lang {
    if text.chars().filter(|character| character.is_alphabetic()).count() >= ENOUGH_FOR_TRIGRAMS
        && let Some(info) = whatlang::detect(text).filter(whatlang::Info::is_reliable)
    {
        return info.lang();
    }
    marks
        .iter()
        .find(|(letters, _)| text.chars().any(|character| letters.contains(character)))
        .map_or(usual, |(_, language)| *language)
}

/// The language of a text in Latin letters: the one with the most common words. Trigrams decide between
/// close ones, and for languages without a list of common words.
fn latin(text: &str) -> Option<Lang> {
    let words: Vec<String> = text
        .unicode_words()
        .filter(|word| word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’')))
        // Single letters are words in some languages and symbols in all.
        .filter(|word| word.chars().nth(1).is_some())
        .map(|word| strip_marks(lower(word, None), None))
        .collect();
    let mut counts = VOTING.map(|language| (language, 0_usize));
    for word in &words {
        let languages = common_in(word);
        let voted = |number: usize| languages & 1 << number != 0;
        let voted = counts.iter_mut().enumerate().filter(|(number, _)| voted(*number));
        voted.for_each(|(_, (_, count))| *count += 1);
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (first, most) = counts.first().copied()?;
    let second = counts.get(1).map_or(0, |(_, count)| *count);
    let clear = most >= 2 && most * 6 >= words.len() && most > second;
    // Trigrams cost most of the time. They could decide only for a language with enough votes.
    if clear && !are_enough(second, most) {
        return Some(first);
    }

    let letters = text.chars().filter(|character| character.is_alphabetic()).count();
    let trigrams = whatlang::detect(text);
    if let Some(info) = &trigrams
        && info.is_reliable()
        && letters >= ENOUGH_FOR_TRIGRAMS
    {
        let known = counts.iter().find(|(language, _)| *language == info.lang());
        // The trigrams of technical texts mislead. Common words decide if they are clear.
        if known.map_or(most * 8 < words.len(), |(_, count)| are_enough(*count, most)) {
            return Some(info.lang());
        }
    }
    if clear {
        return Some(first);
    }
    // A draw: trigrams choose among the leading languages, or a letter decides.
    let drawn = trigrams.map(|info| info.lang()).filter(|guess| {
        most >= 2 && counts.iter().any(|(language, count)| language == guess && *count == most)
    });
    drawn.or_else(|| by_own_letter(text))
}

/// Whether this many common words are enough for a language that trigrams suggest, if another language has more.
fn are_enough(count: usize, most: usize) -> bool {
    count * 3 >= most * 2
}

/// The places in [`VOTING`] of the languages in which a word is common, as bits.
fn common_in(word: &str) -> u32 {
    static COMMON: OnceLock<HashMap<String, u32>> = OnceLock::new();
    let common = COMMON.get_or_init(|| {
        let mut common: HashMap<String, u32> = HashMap::default();
        for (number, language) in VOTING.into_iter().enumerate() {
            for word in stop_words::all(language) {
                *common.entry(word).or_default() |= 1 << number;
            }
        }
        common
    });
    common.get(word).copied().unwrap_or_default()
}

/// The only language that uses one of the letters of the text.
fn by_own_letter(text: &str) -> Option<Lang> {
    const LETTERS: [(&str, Lang); 9] = [
        ("ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ", Lang::Vie),
        ("ąęłśźż", Lang::Pol),
        ("ğış", Lang::Tur),
        ("őű", Lang::Hun),
        ("ñ¿¡", Lang::Spa),
        ("ãõ", Lang::Por),
        ("ß", Lang::Deu),
        ("řěů", Lang::Ces),
        ("țș", Lang::Ron),
    ];
    let own = LETTERS.iter().find(|(letters, _)| text.chars().any(|c| letters.contains(c)));
    own.map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_told_by_script_common_words_and_letters() {
        for (text, language) in [
            ("退款政策", Some(Lang::Cmn)),
            ("送料はいくらですか", Some(Lang::Jpn)),
            ("환불 정책", Some(Lang::Kor)),
            ("นโยบายการคืนเงิน", Some(Lang::Tha)),
            ("سياسة الاسترداد", Some(Lang::Ara)),
            ("قیمت چقدر است؟", Some(Lang::Pes)),
            ("वापसी नीति", Some(Lang::Hin)),
            ("Какой срок возврата?", Some(Lang::Rus)),
            ("Який термін повернення?", Some(Lang::Ukr)),
            ("What is your refund policy?", Some(Lang::Eng)),
            ("¿Cuánto cuesta el envío?", Some(Lang::Spa)),
            ("Wie lange dauert der Versand?", Some(Lang::Deu)),
            ("Chính sách hoàn tiền là gì?", Some(Lang::Vie)),
            ("Refund policy", None),
            ("a transistorized l t regulator", None),
            ("404", None),
            ("", None),
        ] {
            assert_eq!(detect(text), language, "{text}");
        }
    }

    #[test]
    fn technical_english_is_english() {
        let text = "compact memories have flexible capacities: a digital data storage system with \
                    capacity up to bits and random and or sequential access is described";
        assert_eq!(detect(text), Some(Lang::Eng));
    }
}
