//! The terms of a text, by which questions and passages are compared.

mod known;
mod words;

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use whatlang::Lang;

use crate::fold::{lower, strip_marks};
use crate::language::{Language, stemmer};
use crate::script::Script;
use crate::stop_words;
use words::{Apostrophe, Piece, Token, parts, tokens};

/// The number of characters of a word that are compared. Words in data dumps may have any length.
const WORD_CHARS: usize = 64;

/// A word of a text in the form in which it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The analysed form: lower case, stemmed, folded; two or three characters in scripts without
    /// spaces.
    pub text: String,
    /// The bytes of the word in the text.
    pub range: Range<usize>,
    /// Whether it is a stop word of its language: "the", "is", "of".
    pub is_stop_word: bool,
    /// Whether it is a compound whose parts follow as terms of their own: `rate_limit`, "e-mail". A text
    /// with the parts means the same.
    pub is_compound: bool,
}

/// The form of a word.
#[derive(Debug, Clone)]
struct Form {
    /// The form; empty if nothing is left of the word.
    text: String,
    is_stop_word: bool,
}

/// The terms of `text` in order, analysed as `language`. Without a language, and for words in another
/// script, each word is analysed as the main language of its script.
pub fn terms(text: &str, language: Option<Language>) -> Vec<Term> {
    let mut terms =
        Terms { text, language: language.map(|language| language.0), terms: Vec::new() };
    terms.terms.reserve(text.len() / 5);
    for token in tokens(text) {
        match token {
            Token::Run(range, script) => terms.push_run(range, script),
            Token::Word(range) => terms.push_word(range),
            Token::Hyphenated(range, words) => {
                terms.push_whole(range, |text| text.retain(char::is_alphanumeric));
                words.into_iter().for_each(|word| terms.push_word(word));
            }
        }
    }
    terms.terms
}

/// Writes the only term of a plain word into `form`, in place of what it had: the text that [`terms`] has for it, or nothing if
/// it has none. For a word that this thread has analysed before, nothing is allocated. `false` if `word` is not plain and may
/// have several terms: a plain word consists of ASCII letters, and is in capitals as a whole or at most in the first letter.
///
/// # Examples
///
/// ```
/// use cicerone_language::{Language, plain_term};
///
/// let mut form = String::new();
/// assert!(plain_term("Refunds", Some(Language::ENGLISH), &mut form));
/// assert_eq!(form, "refund");
/// assert!(!plain_term("RateLimit", Some(Language::ENGLISH), &mut form));
/// ```
pub fn plain_term(word: &str, language: Option<Language>, form: &mut String) -> bool {
    let Some((first, rest)) = word.as_bytes().split_first() else { return false };
    let is_plain = rest.iter().all(u8::is_ascii_lowercase) && first.is_ascii_alphabetic()
        || word.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_plain {
        return false;
    }
    let language = language_of(language.map(|language| language.0), Some(Script::Latin));
    let analyse = || self::form(lower(word, language), language);
    known::form(word, language, analyse, |known| {
        form.clear();
        form.push_str(&known.text);
    });
    true
}

/// The language that words of `script` are analysed as, in a text in `language`.
fn language_of(language: Option<Lang>, script: Option<Script>) -> Option<Lang> {
    match script {
        None => language,
        Some(script) => {
            language.filter(|language| script.writes(*language)).or_else(|| script.usual_language())
        }
    }
}

/// Collects the terms of one text.
struct Terms<'text> {
    text: &'text str,
    language: Option<Lang>,
    terms: Vec<Term>,
}

impl Terms<'_> {
    /// The language that words of `script` are analysed as.
    fn language_of(&self, script: Option<Script>) -> Option<Lang> {
        language_of(self.language, script)
    }

    /// Adds a word and its parts.
    fn push_word(&mut self, range: Range<usize>) {
        let word = self.text.get(range.clone()).unwrap_or_default();
        let language = self.language_of(word.chars().find_map(Script::of));
        match parts(word, language) {
            Piece::Plain => self.push_plain(range, language),
            Piece::Without(apostrophe) => {
                let Apostrophe { kept, negates } = apostrophe;
                self.push_plain(range.start..range.start + kept, language);
                if let (true, Some(term)) = (negates, self.terms.last_mut()) {
                    term.is_stop_word = true;
                }
            }
            Piece::Joined => {
                self.push(range, language, |text| text.retain(|c| c != '\'' && c != '.'))
            }
            Piece::Split(parts) => {
                for part in parts {
                    self.push_plain(range.start + part.start..range.start + part.end, language);
                }
            }
            Piece::Compound(parts) => {
                self.push_whole(range.clone(), |text| text.retain(|c| c != '_' && c != '\''));
                for part in parts {
                    self.push_plain(range.start + part.start..range.start + part.end, language);
                }
            }
        }
    }

    /// Adds a word as it is.
    fn push_plain(&mut self, range: Range<usize>, language: Option<Lang>) {
        let word = self.text.get(range.clone()).unwrap_or_default();
        let analyse = || form(lower(word, language), language);
        let form = known::form(word, language, analyse, Form::clone);
        self.add(form, range);
    }

    fn push_whole(&mut self, range: Range<usize>, tidy: impl FnOnce(&mut String)) {
        let word = self.text.get(range.clone()).unwrap_or_default();
        let language = self.language_of(word.chars().find_map(Script::of));
        let before = self.terms.len();
        self.push(range, language, tidy);
        if let Some(term) = self.terms.get_mut(before) {
            term.is_compound = true;
        }
    }

    /// Adds a word without the characters that `tidy` removes.
    fn push(
        &mut self,
        range: Range<usize>,
        language: Option<Lang>,
        tidy: impl FnOnce(&mut String),
    ) {
        let mut word = lower(self.text.get(range.clone()).unwrap_or_default(), language);
        tidy(&mut word);
        self.add(form(word, language), range);
    }

    fn add(&mut self, form: Form, range: Range<usize>) {
        let Form { text, is_stop_word } = form;
        if !text.is_empty() {
            self.terms.push(Term { text, range, is_stop_word, is_compound: false });
        }
    }

    /// Adds the grams of a run in a script without spaces, or a shorter run as a whole.
    fn push_run(&mut self, range: Range<usize>, script: Script) {
        let run = self.text.get(range.clone()).unwrap_or_default();
        let gram = script.gram().unwrap_or(2);
        let has_kana =
            run.chars().any(|c| matches!(Script::of(c), Some(Script::Hiragana | Script::Katakana)));
        let script = if has_kana { Script::Hiragana } else { script };
        let language = self.language_of(Some(script));

        // One character may fold to several, as `㌖` does. All of them have its range.
        let characters: Vec<(Range<usize>, char)> = run
            .char_indices()
            .flat_map(|(start, character)| {
                let place = start..start + character.len_utf8();
                character.nfkc().map(move |plain| (place.clone(), plain))
            })
            .collect();
        for window in characters.windows(gram.min(characters.len()).max(1)) {
            let text: String = window.iter().map(|(_, character)| *character).collect();
            let start = window.first().map_or(0, |(place, _)| place.start);
            let end = window.last().map_or(run.len(), |(place, _)| place.end);
            let term = Term {
                is_stop_word: language.is_some_and(|language| stop_words::has(language, &text)),
                range: range.start + start..range.start + end,
                text,
                is_compound: false,
            };
            self.terms.push(term);
        }
    }
}

/// The form of a word in lower case.
fn form(mut word: String, language: Option<Lang>) -> Form {
    if let Some((end, _)) = word.char_indices().nth(WORD_CHARS) {
        word.truncate(end);
    }
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    if has_digit {
        // Thousands may have separators.
        word.retain(|character| character != ',' && character != '\u{66C}');
    }
    let folded = if word.is_ascii() { None } else { Some(strip_marks(word.clone(), language)) };
    let is_stop_word = language
        .is_some_and(|language| stop_words::has(language, folded.as_ref().unwrap_or(&word)));
    let stem = language
        .filter(|_| !has_digit)
        .and_then(stemmer)
        .map(|stemmer| stemmer.stem(&word).into_owned())
        .filter(|stem| !stem.is_empty());
    let text = match stem {
        Some(stem) => strip_marks(stem, language),
        None => folded.unwrap_or(word),
    };
    Form { text, is_stop_word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, language: &str) -> Vec<String> {
        terms(text, Language::from_code(language)).into_iter().map(|term| term.text).collect()
    }

    fn content(text: &str, language: &str) -> Vec<String> {
        let terms = terms(text, Language::from_code(language)).into_iter();
        terms.filter(|term| !term.is_stop_word).map(|term| term.text).collect()
    }

    #[test]
    fn inflected_words_become_one_term() {
        assert_eq!(texts("refunds refunding", "eng"), ["refund", "refund"]);
        assert_eq!(texts("suscripciones suscripción", "spa"), ["suscripcion", "suscripcion"]);
        assert_eq!(texts("Häuser Haus", "deu"), ["haus", "haus"]);
        assert_eq!(texts("chevaux cheval", "fra"), ["cheval", "cheval"]);
        assert_eq!(texts("книги книга", "rus"), ["книг", "книг"]);
        assert_eq!(texts("المدرسة مدرسة", "ara"), texts("مدرسة مدرسة", "ara"));
        assert_eq!(texts("लड़के लड़का", "hin").first(), texts("लड़का", "hin").first());
    }

    #[test]
    fn a_plain_word_has_the_same_term_on_its_own() {
        let languages = ["eng", "deu", "fra", "tur", "vie", "rus", "ara", "cmn", "jpn"];
        let languages = languages.map(Language::from_code).into_iter().chain([None]);
        let long = "x".repeat(100);
        let words =
            ["refunds", "Istanbul", "INFO", "I", "a", "the", "Running", "Ill", long.as_str()];
        let mut form = String::new();
        for language in languages {
            for word in words {
                assert!(plain_term(word, language, &mut form));
                let all: Vec<String> =
                    terms(word, language).into_iter().map(|term| term.text).collect();
                assert_eq!(all, [form.as_str()], "{word} in {language:?}");
            }
            for word in
                ["", "rateLimit", "HTTPServer", "it's", "e-mail", "v2", "größe", "C++", "a b"]
            {
                assert!(!plain_term(word, language, &mut form), "{word}");
            }
        }
    }

    #[test]
    fn questions_keep_only_what_they_are_about() {
        assert_eq!(content("What's your refund policy, please?", "eng"), ["refund", "polici"]);
        assert_eq!(content("How much does it cost?", "eng"), ["cost"]);
        assert_eq!(content("¿Cuánto cuesta la suscripción?", "spa"), ["cuest", "suscripcion"]);
        assert_eq!(content("Qu'est-ce que l'abonnement ?", "fra").last().unwrap(), "abon");
        assert_eq!(content("退款政策是什么？", "cmn"), ["退款", "款政", "政策", "策是"]);
    }

    #[test]
    fn identifiers_are_kept_whole_and_in_parts() {
        assert_eq!(texts("rate_limit", "eng"), ["ratelimit", "rate", "limit"]);
        assert_eq!(texts("RateLimit", "eng"), ["ratelimit", "rate", "limit"]);
        assert_eq!(texts("rate-limit", "eng"), ["ratelimit", "rate", "limit"]);
        assert_eq!(texts("HTTPServer", "eng"), ["httpserver", "http", "server"]);
        assert_eq!(texts("v1.2.3 3.5 1,000", "eng"), ["v1.2.3", "3.5", "1000"]);
        assert_eq!(texts("example.com", "eng"), ["example.com", "exampl", "com"]);
        assert_eq!(texts("U.S.A. e.g.", "eng"), ["usa", "eg"]);
        assert_eq!(texts("C++ C# C", "eng"), ["c++", "c#", "c"]);
        assert_eq!(texts("ISO9001", "eng"), ["iso9001", "iso", "9001"]);
    }

    #[test]
    fn the_parts_of_a_compound_have_ranges_of_their_own() {
        let text = "set rate_limit now";
        let ranges: Vec<&str> =
            terms(text, None).into_iter().map(|term| &text[term.range]).collect();
        assert_eq!(ranges, ["set", "rate_limit", "rate", "limit", "now"]);
        assert!(terms(text, None)[1].is_compound);
    }

    #[test]
    fn apostrophes_belong_to_the_word_or_part_it_by_language() {
        assert_eq!(texts("the dog’s O'Reilly", "eng"), ["the", "dog", "oreilli", "o", "reilli"]);
        assert_eq!(texts("l’homme d'État", "fra"), ["l", "homm", "d", "etat"]);
        assert_eq!(texts("Türkiye'nin", "tur"), texts("Türkiye", "tur"));
        assert!(terms("don't", Some(Language::ENGLISH))[0].is_stop_word);
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_grams() {
        assert_eq!(texts("東京タワー", "jpn"), ["東京", "京タ", "タワ", "ワー"]);
        assert_eq!(texts("猫", "jpn"), ["猫"]);
        assert_eq!(texts("환불은 API를", "kor"), ["환불", "불은", "api", "를"]);
        assert_eq!(texts("นโยบาย", "tha"), ["นโย", "โยบ", "ยบา", "บาย"]);
        assert_eq!(
            texts("第3章iPhone手机", "cmn"),
            ["第", "3", "章", "iphon", "i", "phone", "手机"]
        );
        let text = "在東京";
        let ranges: Vec<Range<usize>> = terms(text, None).into_iter().map(|t| t.range).collect();
        assert_eq!(ranges, [0..6, 3..9]);
    }

    #[test]
    fn words_in_another_script_are_analysed_as_their_own_language() {
        assert_eq!(content("HTML के pages क्या हैं", "hin"), ["html", "page"]);
    }

    #[test]
    fn any_text_has_terms_within_its_bounds() {
        let long = "a".repeat(10_000);
        for text in [
            "",
            "((((",
            "\0",
            "👩‍👩‍👧",
            "a\u{301}\u{301}",
            "'''",
            "_",
            "-a-",
            "İ",
            "ﷺ",
            "\u{640}",
            "㌖東",
            &long,
        ] {
            for term in terms(text, None) {
                assert!(text.get(term.range).is_some_and(|word| !word.is_empty()));
                assert!(!term.text.is_empty());
                assert!(term.text.chars().count() <= WORD_CHARS);
            }
        }
    }
}
