//! Finds the words of a question in a text without analysing all of it.
//!
//! Analysing a word takes about half a microsecond, and a reply must not take more than a hundred.
//! Most stemmers change the ends of words only. So only words that begin like one of the question are
//! analysed, each of them once. [`Beginnings`] knows the languages whose stemmers change beginnings.

mod beginnings;

use std::cell::RefCell;

use cicerone_domain::retrieval::QueryTerm;
use cicerone_language::{Language, Script, fold, plain_term, terms};
use foldhash::HashMap;

use self::beginnings::{Beginning, Beginnings, beginning};
use super::words::{Word, words};

/// The most words of the question that are searched for: the bits of a [`Mask`].
const TERMS: usize = 64;
/// The shortest word, in letters, that may be spelled differently.
const SIMILAR_CHARS: usize = 4;
/// The longest ending, in letters.
const ENDING_CHARS: usize = 3;
/// Languages that write compounds as one word.
const COMPOUNDING: [&str; 8] = ["dan", "deu", "est", "fin", "hun", "nld", "nob", "swe"];

/// The occurrences of words for which there is room from the start.
const OCCURRENCES: usize = 16;

/// The words of the question that a text contains, one bit each.
pub(super) type Mask = u64;

/// The words of a question, prepared for finding them.
pub(super) struct Matcher<'a> {
    /// Words by their analysed form. A form may be of several words: "cleanup" is one of both "clean" and "up".
    forms: HashMap<&'a str, Mask>,
    /// Pieces of words in scripts without spaces, which are searched for unchanged.
    grams: Vec<(usize, &'a str)>,
    /// The beginnings of the words, folded.
    beginnings: Vec<Beginning>,
    /// The ASCII letters and digits with which words of the question begin, by their codes.
    first_bytes: [bool; 256],
    weights: Vec<f32>,
    /// The words of the question itself, or all words if it has none.
    asked: Mask,
    has_context: bool,
    /// A cache of analysed words by language, of those that are not plain.
    analysed: RefCell<HashMap<Option<Language>, HashMap<String, Mask>>>,
    /// Memory for the form of a plain word.
    form: RefCell<String>,
}

/// An occurrence of a word of the question in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// The byte at which it begins.
    pub(super) at: usize,
    /// The bit of the word.
    pub(super) mask: Mask,
}

impl<'a> Matcher<'a> {
    /// The heaviest words of a question.
    pub(super) fn new(words: &'a [QueryTerm]) -> Self {
        let mut words: Vec<&QueryTerm> =
            words.iter().filter(|word| !word.text.is_empty()).collect();
        words.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        // The forms of a word in several languages are one word: a text has it in one of them.
        let mut heaviest: Vec<&QueryTerm> = Vec::new();
        let bits: Vec<(usize, bool)> = words
            .iter()
            .map(|word| match heaviest.iter().position(|other| other.word == word.word) {
                Some(bit) => (bit, false),
                None => {
                    heaviest.push(word);
                    (heaviest.len() - 1, true)
                }
            })
            .collect();
        heaviest.truncate(TERMS);
        let mut matcher = Self {
            forms: HashMap::default(),
            grams: Vec::new(),
            beginnings: Vec::new(),
            first_bytes: [false; 256],
            weights: heaviest.iter().map(|word| word.weight).collect(),
            asked: asked(&heaviest),
            has_context: heaviest.iter().any(|word| word.is_context),
            analysed: RefCell::default(),
            form: RefCell::default(),
        };
        let bits = bits.into_iter().zip(words).filter(|((bit, _), _)| *bit < TERMS);
        for ((index, is_first_form), word) in bits {
            if word.text.chars().any(is_unspaced) {
                matcher.grams.push((index, &word.text));
            } else {
                let known = matcher.forms.entry(&word.text).or_default();
                // A word that is repeated counts once.
                if *known == 0 || !is_first_form {
                    *known |= 1 << index;
                }
                matcher.beginnings.push(beginning(&word.text));
            }
        }
        for [first, ..] in &matcher.beginnings {
            let y = if *first == 'i' { ['y', 'Y'] } else { [*first; 2] };
            for letter in [*first, first.to_ascii_uppercase()].into_iter().chain(y) {
                let byte = u8::try_from(letter).ok().map(usize::from);
                if let Some(known) = byte.and_then(|byte| matcher.first_bytes.get_mut(byte)) {
                    *known = true;
                }
            }
        }
        matcher
    }

    /// Whether a word of a mask is in the question itself.
    pub(super) fn is_asked(&self, mask: Mask) -> bool {
        mask & self.asked != 0
    }

    /// Whether words of the question are in scripts without spaces, where they are found in pieces.
    pub(super) const fn has_pieces(&self) -> bool {
        !self.grams.is_empty()
    }

    /// Whether some words are from earlier messages and others from the question itself.
    pub(super) const fn has_context(&self) -> bool {
        self.has_context
    }

    /// The share of the weight of the question's own words that the words of a mask have.
    pub(super) fn share_of_question(&self, mask: Mask) -> f32 {
        self.weight(mask & self.asked) / self.weight(self.asked).max(f32::MIN_POSITIVE)
    }

    /// The weight of the words of a mask.
    pub(super) fn weight(&self, mask: Mask) -> f32 {
        let bits = self.weights.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
        bits.map(|(_, weight)| weight).sum()
    }

    /// The occurrences of words of the question in `text`, which consists of `words`, in order.
    pub(super) fn find(
        &self,
        text: &str,
        words: impl IntoIterator<Item = Word>,
        language: Option<Language>,
    ) -> Vec<Occurrence> {
        let mut found = Vec::with_capacity(OCCURRENCES);
        if !self.forms.is_empty() {
            let kept = Beginnings::of(language);
            for word in words {
                if !self.may_begin_like(&word) && !kept.may_change(word.first) {
                    continue;
                }
                let Some((at, spelled)) = word.within(text) else { continue };
                let mask = match word.is_whole {
                    true => self.mask_of_whole(spelled, language),
                    false if kept.may_match(spelled, &self.beginnings) => {
                        self.mask_of_word(spelled, language)
                    }
                    false => 0,
                };
                if mask != 0 {
                    found.push(Occurrence { at, mask });
                }
            }
        }
        if !self.grams.is_empty() {
            for (index, gram) in &self.grams {
                let places = text.match_indices(gram);
                found.extend(places.map(|(at, _)| Occurrence { at, mask: 1 << index }));
            }
            found.sort_by_key(|occurrence| occurrence.at);
        }
        found
    }

    /// The occurrences of words that are spelled nearly like one of the question, or are compounds with
    /// it. Used if [`Matcher::find`] finds none, since search finds such passages too.
    pub(super) fn find_similar(
        &self,
        text: &str,
        words: impl IntoIterator<Item = Word>,
        language: Option<Language>,
    ) -> Vec<Occurrence> {
        // Vietnamese forms have marks, which people leave out.
        let forms: Vec<(String, Mask)> =
            self.forms.iter().map(|(form, words)| (fold(form), *words)).collect();
        let mut found = Vec::new();
        for word in words.into_iter().filter(|word| !word.is_whole) {
            let Some((at, word)) = word.within(text) else { continue };
            let folded = fold(word);
            let similar = forms.iter().filter(|(form, _)| is_similar(form, &folded, language));
            let mask = similar.fold(0, |mask, (_, words)| mask | words);
            if mask != 0 {
                found.push(Occurrence { at, mask });
            }
        }
        found
    }

    /// The words of the question that `text` contains.
    pub(super) fn mask(&self, text: &str, language: Option<Language>) -> Mask {
        let found = self.find(text, words(text), language);
        found.iter().fold(0, |mask, occurrence| mask | occurrence.mask)
    }

    /// The words of the question that `word` is a form of.
    fn mask_of_word(&self, word: &str, language: Option<Language>) -> Mask {
        let mut form = self.form.borrow_mut();
        if plain_term(word, language, &mut form) {
            return self.forms.get(form.as_str()).copied().unwrap_or_default();
        }
        let mut analysed = self.analysed.borrow_mut();
        let words = analysed.entry(language).or_default();
        if let Some(mask) = words.get(word) {
            return *mask;
        }
        let forms = terms(word, language);
        let known = forms.iter().filter_map(|form| self.forms.get(form.text.as_str()));
        let mask = known.fold(0, |mask, words| mask | words);
        words.insert(word.to_owned(), mask);
        mask
    }

    /// The same for words that are joined: `rate_limit`, "2.7.0". Their parts are words of their own.
    fn mask_of_whole(&self, joined: &str, language: Option<Language>) -> Mask {
        let forms = terms(joined, language);
        let whole = forms.iter().filter(|form| form.is_compound || forms.len() == 1);
        let known = whole.filter_map(|form| self.forms.get(form.text.as_str()));
        known.fold(0, |mask, words| mask | words)
    }

    /// Whether a word of the question begins with the first letter of `word`, if that is ASCII.
    fn may_begin_like(&self, word: &Word) -> bool {
        !word.first.is_ascii() || self.first_bytes.get(usize::from(word.first)) == Some(&true)
    }
}

/// The words of the question itself, or all words if it has none.
fn asked(words: &[&QueryTerm]) -> Mask {
    let own = words.iter().enumerate().filter(|(_, word)| !word.is_context);
    match own.fold(0, |mask, (index, _)| mask | 1 << index) {
        0 => Mask::MAX,
        own => own,
    }
}

/// Whether a word differs by one typing mistake from the analysed form of another, or, in a language with
/// compounds, begins or ends with it.
fn is_similar(form: &str, word: &str, language: Option<Language>) -> bool {
    let (length, other) = (form.chars().count(), word.chars().count());
    if length < SIMILAR_CHARS || other < SIMILAR_CHARS {
        return false;
    }
    if language.is_some_and(|language| COMPOUNDING.contains(&language.code())) && other > length {
        let is_last = |at: usize| {
            word.get(at + form.len()..).is_some_and(|rest| rest.chars().count() <= ENDING_CHARS)
        };
        if word.starts_with(form) || word.rfind(form).is_some_and(is_last) {
            return true;
        }
    }
    let pairs =
        |text: &str| -> Vec<(char, char)> { text.chars().zip(text.chars().skip(1)).collect() };
    let (one, mut two) = (pairs(form), pairs(word));
    let all = one.len() + two.len();
    let common = one.iter().filter(|pair| {
        let place = two.iter().position(|other| other == *pair);
        place.map(|place| two.swap_remove(place)).is_some()
    });
    form.chars().next() == word.chars().next()
        && length.abs_diff(other) <= ENDING_CHARS
        && common.count() * 4 >= all
}

/// Whether the script of a character has no spaces between words.
fn is_unspaced(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            Script::of(c),
            Some(
                Script::Han
                    | Script::Hiragana
                    | Script::Katakana
                    | Script::Hangul
                    | Script::Thai
                    | Script::Lao
                    | Script::Khmer
                    | Script::Myanmar
            )
        )
}

#[cfg(test)]
mod tests {
    use cicerone_domain::retrieval::QueryTerm;
    use cicerone_language::{Language, terms};

    use super::Matcher;
    use crate::extractive::words::words as words_of;

    fn question(text: &str, language: Option<Language>) -> Vec<QueryTerm> {
        terms(text, language)
            .into_iter()
            .enumerate()
            .map(|(word, term)| QueryTerm { text: term.text, weight: 1.0, is_context: false, word })
            .collect()
    }

    #[test]
    fn inflected_words_are_found() {
        for (language, asked, text) in [
            ("eng", "refund", "Refunds, refunding and REFUNDED"),
            ("eng", "fly rate_limit", "flies, RateLimit"),
            ("spa", "suscripción", "las suscripciones"),
            ("deu", "Häuser", "Das Haus"),
            ("rus", "книга", "Много книг"),
            ("hin", "लड़का", "लड़के"),
            ("ara", "مدرسة", "في المدرسة"),
            ("cmn", "退款", "关于退款的政策"),
            ("tha", "นโย", "นโยบายการคืนเงิน"),
        ] {
            let language = Language::from_code(language);
            let words = question(asked, language);
            let matcher = Matcher::new(&words);
            assert_ne!(matcher.mask(text, language), 0, "{asked}");
        }
    }

    #[test]
    fn words_that_are_misspelled_or_put_together_are_similar() {
        for (language, asked, text, is_similar) in [
            ("eng", "warrenty", "The warranty lasts.", true),
            ("eng", "often", "Use softened water.", false),
            ("eng", "forget", "The unforgettable view.", false),
            ("deu", "Preis", "Die Eintrittspreise", true),
            ("deu", "Zeit", "Die Öffnungszeiten", true),
            ("deu", "Garten", "Die Gartentür", true),
            ("eng", "tent", "The water", false),
            ("vie", "mượnn", "Tôi mượn sách.", true),
            ("vie", "muon", "Tôi mượn sách.", true),
        ] {
            let language = Language::from_code(language);
            let words = question(asked, language);
            let found = Matcher::new(&words).find_similar(text, words_of(text), language);
            assert_eq!(!found.is_empty(), is_similar, "{asked}: {text}");
        }
    }

    #[test]
    fn other_words_are_not_found_and_places_are_in_order() {
        let language = Some(Language::ENGLISH);
        let words = question("cats and dogs", language);
        let matcher = Matcher::new(&words);
        assert_eq!(matcher.mask("Categories of doughnuts", language), 0);
        let text = "¿Dogs? «Cats», dogs";
        let places: Vec<usize> =
            matcher.find(text, words_of(text), language).iter().map(|found| found.at).collect();
        assert_eq!(places, [2, 10, 18]);
    }

    #[test]
    fn words_that_are_joined_are_found_as_one_and_as_their_parts() {
        let language = Some(Language::ENGLISH);
        for (asked, text, found) in [
            ("mail_check", "Set mail_check to 5.", &[4, 4, 9][..]),
            ("check", "Set mail_check to 5.", &[9]),
            ("mail_check", "Set mail_check_stats.", &[4, 9]),
            ("2.7.0", "New in 2.7.0: doors.", &[7]),
            ("2.7", "New in 2.7.0, not 2.8.", &[]),
            ("2.7", "New in 2.7.", &[7]),
            ("fs.read", "Call fs.read first.", &[5, 5, 8]),
        ] {
            let words = question(asked, language);
            let occurrences = Matcher::new(&words).find(text, words_of(text), language);
            let places: Vec<usize> = occurrences.iter().map(|found| found.at).collect();
            assert_eq!(places, found, "{asked}: {text}");
        }
    }

    #[test]
    fn a_mask_weighs_what_its_words_weigh() {
        let words = [("a", 1.0, 0), ("b", 2.0, 1)].map(|(text, weight, word)| QueryTerm {
            text: text.into(),
            weight,
            is_context: false,
            word,
        });
        let matcher = Matcher::new(&words);
        let mask = matcher.mask("b", None);
        assert!((matcher.weight(mask) - 2.0).abs() < f32::EPSILON);
        assert!((matcher.weight(matcher.mask("a b", None)) - 3.0).abs() < f32::EPSILON);
    }

    #[test]
    fn a_form_of_two_words_is_found_as_both() {
        let language = Some(Language::ENGLISH);
        let words = [("clean", 1.0, 0), ("cleanup", 1.0, 0), ("job", 2.0, 1), ("cleanup", 2.0, 1)]
            .map(|(text, weight, word)| QueryTerm {
                text: text.into(),
                weight,
                is_context: false,
                word,
            });
        let matcher = Matcher::new(&words);
        for (text, weight) in [("Cleanup is slow", 3.0), ("A clean quay", 1.0), ("My job", 2.0)] {
            let found = matcher.weight(matcher.mask(text, language));
            assert!((found - weight).abs() < f32::EPSILON, "{text}: {found}");
        }
    }

    #[test]
    fn the_forms_of_a_word_in_several_languages_weigh_once() {
        let words = [("clone", 0), ("clon", 0), ("branch", 1)].map(|(text, word)| QueryTerm {
            text: text.into(),
            weight: 1.0,
            is_context: false,
            word,
        });
        let matcher = Matcher::new(&words);
        let english = matcher.mask("clone a branch", Some(Language::ENGLISH));
        assert!((matcher.weight(english) - matcher.weight(u64::MAX)).abs() < f32::EPSILON);
    }
}
