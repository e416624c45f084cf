//! A question as words, analysed in each language of the passages.

use std::ops::Range;

use cicerone_domain::retrieval::Query;
use cicerone_language::{Language, SmallTalk, Subject, Term, grams, measure, terms};
use compact_str::CompactString;
use foldhash::HashMap;

use super::ranking::bit;
use super::reference::refers_back;
use super::weights::{CHARACTER, CONTEXT, CONTEXT_DECAY, OVERLAPPING_PAIR, REFERRED};
use crate::store::{exact_key, neighbours, pair};

/// The most distinct words that are looked up. The longest message has about 700.
const WORDS: usize = 256;
/// The most pairs and pieces of words that are looked up.
const EXTRAS: usize = 128;
/// The pieces of most words, for which there is room from the start.
const GRAMS_OF_WORD: usize = 4;
/// The most characters that are read of each message of the context.
const CONTEXT_CHARS: usize = 1_000;
/// The most messages of the context that are read. The question and each of them has a bit.
const CONTEXT_MESSAGES: usize = 4;
/// A question with this many words needs no context.
const SELF_CONTAINED: usize = 3;

/// A word in each form that it may have in a passage.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// Its analysed forms, one for each language, without duplicates.
    pub(super) forms: Vec<String>,
    /// The analysed forms of the word written together with the one before or after it, in the language of the text: "clean up"
    /// is also written "cleanup".
    pub(super) joined: Vec<String>,
    /// 1 for a word of the question, less for one of the context.
    pub(super) weight: f32,
    /// Whether it is a stop word.
    pub(super) is_stop_word: bool,
    /// Whether it is a compound whose parts are words too.
    pub(super) is_compound: bool,
    /// Whether it looks like a name, or has digits.
    pub(super) is_name: bool,
    /// The names of the measure that it asks for together with the word before it, as in "how heavy", in their analysed forms.
    pub(super) measure: Option<&'static [String]>,
    /// The byte range of its first occurrence in the question; `None` for a word of the context.
    pub(super) range: Option<Range<usize>>,
    /// The messages that contain it, one bit each: the question, then the context, newest first.
    pub(super) messages: u8,
    /// The pieces of the question that it consists of, one bit each, for the first pieces only.
    pub(super) pieces: u64,
}

/// A term that supports the words.
#[derive(Debug, Clone)]
pub(super) struct Extra {
    /// A question has some forty, most of them of four letters.
    pub(super) text: CompactString,
    /// Its weight among terms of its kind.
    pub(super) weight: f32,
}

/// The code of a language in which every noun has a capital.
const GERMAN: &str = "deu";

/// What may stand between an English verb and its particle.
const OBJECTS: [&str; 7] = ["it", "them", "this", "that", "me", "us", "everything"];
const PARTICLES: [&str; 8] = ["up", "down", "in", "out", "on", "off", "over", "back"];

/// An analysed question.
#[derive(Debug, Default)]
pub(super) struct Question {
    /// Its words, and those of the context if it needs them.
    pub(super) words: Vec<Word>,
    /// Its neighbouring words.
    pub(super) pairs: Vec<Extra>,
    /// The pieces of its words.
    pub(super) grams: Vec<Extra>,
    /// Whether it consists of stop words only, together with the context.
    pub(super) is_all_stop_words: bool,
    /// Its language, as far as its small words and the languages of the passages tell.
    pub(super) language: Option<Language>,
    /// What it asks for, if it asks what something is.
    pub(super) subject: Option<Subject>,
    /// The key that a pair with exactly this question has.
    pub(super) exact: String,
}

impl Question {
    /// Analyses `query` for passages in `languages`.
    pub(super) fn new(query: &Query, languages: &[Option<Language>]) -> Self {
        let mut analysed = Analysed::new(&query.text, languages);
        analysed.mark_names(&query.text);
        analysed.mark_measures(&query.text);
        let is_self_contained = analysed.is_self_contained();
        let mut question = Self {
            pairs: analysed.pairs,
            grams: analysed.grams,
            is_all_stop_words: false,
            language: analysed.language,
            subject: Subject::of(&query.text),
            exact: exact_key(&query.text),
            words: analysed.words,
        };
        if !is_self_contained && SmallTalk::of(&query.text, None).is_none() {
            question.add_context(&query.context, refers_back(&query.text), languages);
        }
        question.is_all_stop_words = question.words.iter().all(|word| word.is_stop_word);
        question
    }

    /// Adds the words of earlier messages, if the question itself does not name its subject.
    fn add_context(
        &mut self,
        context: &[String],
        refers_back: bool,
        languages: &[Option<Language>],
    ) {
        let mut weight = if refers_back { REFERRED } else { CONTEXT };
        let mut message = QUESTION;
        for text in context.iter().take(CONTEXT_MESSAGES) {
            message <<= 1;
            let end = text.char_indices().nth(CONTEXT_CHARS).map_or(text.len(), |(at, _)| at);
            let analysed = Analysed::new(text.get(..end).unwrap_or_default(), languages);
            for word in analysed.words {
                if !word.is_stop_word && !word.is_compound {
                    self.add_context_word(word, weight, message);
                }
            }
            weight *= CONTEXT_DECAY;
        }
    }

    fn add_context_word(&mut self, word: Word, weight: f32, message: u8) {
        let is_same = |known: &&mut Word| word.forms.iter().any(|form| known.forms.contains(form));
        if let Some(known) = self.words.iter_mut().find(is_same) {
            known.messages |= message;
        } else if self.words.len() < WORDS {
            self.words.push(Word { weight, range: None, pieces: 0, messages: message, ..word });
        }
    }
}

/// The bit of the question among the messages.
pub(super) const QUESTION: u8 = 1;

/// A text analysed in each language.
pub(super) struct Analysed {
    /// The language of its stop words.
    language: Option<Language>,
    words: Vec<Word>,
    pairs: Vec<Extra>,
    grams: Vec<Extra>,
}

impl Analysed {
    pub(super) fn new(text: &str, languages: &[Option<Language>]) -> Self {
        let mut analyses: Vec<(Option<Language>, Vec<Term>)> =
            languages.iter().map(|language| (*language, terms(text, *language))).collect();
        // The stop words of a text are the best sign of its language: stop words of another
        // language may be content in this one.
        let stop_words = |terms: &[Term]| terms.iter().filter(|term| term.is_stop_word).count();
        analyses.sort_by_key(|(_, terms)| std::cmp::Reverse(stop_words(terms)));

        let language = analyses.first().and_then(|(language, _)| *language);
        // Enough for a question in one language.
        let expected = analyses.first().map_or(0, |(_, terms)| terms.len());
        let mut analysed = Self {
            language,
            words: Vec::with_capacity(expected.min(WORDS)),
            pairs: Vec::with_capacity(expected.min(EXTRAS)),
            grams: Vec::with_capacity((GRAMS_OF_WORD * expected).min(EXTRAS)),
        };
        let mut by_range: HashMap<(usize, usize), usize> =
            HashMap::with_capacity_and_hasher(expected.min(WORDS), <_>::default());
        let mut by_form: HashMap<&str, usize> =
            HashMap::with_capacity_and_hasher(expected.min(WORDS), <_>::default());
        for (_, terms) in &analyses {
            neighbours(terms, |first, second| analysed.add_pair(first, second));
            for term in terms {
                analysed.add_term(term, &mut by_range, &mut by_form);
            }
        }
        if let Some((language, terms)) = analyses.first() {
            analysed.add_joined(text, terms, *language, &by_range);
            analysed.add_grams(text, terms, &by_range);
        }
        analysed
    }

    /// Whether it has enough words of its own to be understood.
    pub(super) fn is_self_contained(&self) -> bool {
        self.own_words() >= SELF_CONTAINED
    }

    /// The number of content words, with overlapping grams counted once.
    fn own_words(&self) -> usize {
        let mut count = 0;
        let mut end = 0;
        let words = self.words.iter().filter(|word| !word.is_stop_word && !word.is_compound);
        for range in words.filter_map(|word| word.range.as_ref()) {
            if range.start >= end {
                count += 1;
                end = range.end;
            }
        }
        count
    }

    /// Marks the words that contain digits, or have a capital that is not due to their position. Capitals are ignored
    /// in titles, in which small words also have them, and in German.
    fn mark_names(&mut self, text: &str) {
        let first = text.find(char::is_alphanumeric);
        let has_capital = |word: &Word| {
            let range = word.range.as_ref().filter(|range| Some(range.start) != first);
            let word = range.and_then(|range| text.get(range.clone()));
            word.and_then(|word| word.chars().next()).is_some_and(char::is_uppercase)
        };
        // "I" is always a capital.
        let is_long = |word: &Word| word.range.as_ref().is_some_and(|range| range.len() > 1);
        let is_small = |word: &&Word| word.is_stop_word && is_long(word);
        let is_title = self.words.iter().filter(is_small).any(has_capital);
        let tells = !is_title && self.language.is_none_or(|language| language.code() != GERMAN);
        for word in &mut self.words {
            let has_digit =
                word.forms.first().is_some_and(|form| form.contains(|c: char| c.is_ascii_digit()));
            word.is_name = has_digit || (tells && has_capital(word));
        }
    }

    /// Marks the words that only say which measure is asked for: "how late".
    fn mark_measures(&mut self, text: &str) {
        let Some(language) = self.language else { return };
        for word in self.words.iter_mut().filter(|word| !word.is_stop_word) {
            let before = word.range.as_ref().and_then(|range| text.get(..range.start));
            let before = before.and_then(|before| before.split_whitespace().next_back());
            word.measure = before.and_then(|before| {
                word.forms.iter().find_map(|form| measure(before, form, language))
            });
        }
    }

    fn add_term<'terms>(
        &mut self,
        term: &'terms Term,
        by_range: &mut HashMap<(usize, usize), usize>,
        by_form: &mut HashMap<&'terms str, usize>,
    ) {
        let Range { start, end } = term.range;
        if let Some(index) = by_form.get(term.text.as_str()).copied() {
            by_range.entry((start, end)).or_insert(index);
            return;
        }
        if let Some(word) = by_range.get(&(start, end)).and_then(|index| self.words.get_mut(*index))
        {
            if !word.forms.contains(&term.text) {
                word.forms.push(term.text.clone());
            }
            return;
        }
        if self.words.len() >= WORDS {
            return;
        }
        by_range.insert((start, end), self.words.len());
        by_form.insert(&term.text, self.words.len());
        self.words.push(Word {
            forms: vec![term.text.clone()],
            joined: Vec::new(),
            weight: 1.0,
            is_stop_word: term.is_stop_word,
            is_compound: term.is_compound,
            is_name: false,
            measure: None,
            range: Some(term.range.clone()),
            messages: QUESTION,
            pieces: 0,
        });
    }

    /// Adds to each two words with only a space, or an object, between them the form that they have as one word, in the language
    /// of the text. The first of them must not be a stop word: "in active use" is not about what is inactive.
    fn add_joined(
        &mut self,
        text: &str,
        terms: &[Term],
        language: Option<Language>,
        by_range: &HashMap<(usize, usize), usize>,
    ) {
        let is_english = language == Some(Language::ENGLISH);
        for following in (0..terms.len()).filter_map(|at| terms.get(at..)) {
            let (first, second) = match following {
                // "back it up"
                [first, object, particle, ..]
                    if is_english && is_parted(text, object, particle) =>
                {
                    (first, particle)
                }
                [first, second, ..]
                    if text.get(first.range.end..second.range.start) == Some(" ") =>
                {
                    (first, second)
                }
                _ => continue,
            };
            if first.is_stop_word || first.is_compound || second.is_compound {
                continue;
            }
            let (Some(one), Some(other)) = (joinable(text, first), joinable(text, second)) else {
                continue;
            };
            // Scripts without spaces give several terms.
            let joined = cicerone_language::terms(&[one, other].concat().to_lowercase(), language);
            let [joined] = joined.as_slice() else { continue };
            if joined.is_stop_word {
                continue;
            }
            for Range { start, end } in [&first.range, &second.range] {
                let index = by_range.get(&(*start, *end)).copied();
                let word = index.and_then(|index| self.words.get_mut(index));
                if let Some(word) = word.filter(|word| !word.is_stop_word)
                    && !word.joined.contains(&joined.text)
                {
                    word.joined.push(joined.text.clone());
                }
            }
        }
    }

    fn add_pair(&mut self, first: &Term, second: &Term) {
        if self.pairs.len() >= EXTRAS {
            return;
        }
        // Two overlapping grams together add little to each one alone.
        let weight = if second.range.start < first.range.end { OVERLAPPING_PAIR } else { 1.0 };
        add(&mut self.pairs, &pair(first, second), weight);
    }

    fn add_grams(&mut self, text: &str, terms: &[Term], by_range: &HashMap<(usize, usize), usize>) {
        for term in terms.iter().filter(|term| !term.is_stop_word && !term.is_compound) {
            let mut pieces = 0;
            grams(text.get(term.range.clone()).unwrap_or_default(), |piece| {
                // A single character of a script without spaces may be a word.
                let is_character = piece.chars().nth(1).is_none() && !piece.is_ascii();
                let weight = if is_character { CHARACTER } else { 1.0 };
                let number = add(&mut self.grams, piece, weight);
                pieces |= number.filter(|_| !is_character).map_or(0, bit);
            });
            let word = by_range.get(&(term.range.start, term.range.end));
            if let Some(word) = word.and_then(|index| self.words.get_mut(*index)) {
                word.pieces |= pieces;
            }
        }
    }
}

/// Whether two terms are the object and the particle of an English verb: "it up".
fn is_parted(text: &str, object: &Term, particle: &Term) -> bool {
    let is_one_of = |term: &Term, words: &[&str]| {
        let word = text.get(term.range.clone()).unwrap_or_default();
        words.iter().any(|one| word.eq_ignore_ascii_case(one))
    };
    is_one_of(object, &OBJECTS) && is_one_of(particle, &PARTICLES)
}

/// The word of a term, if it may be a part of a longer one: it consists of two letters or more.
fn joinable<'a>(text: &'a str, term: &Term) -> Option<&'a str> {
    let word = text.get(term.range.clone())?;
    (word.chars().nth(1).is_some() && word.chars().all(char::is_alphabetic)).then_some(word)
}

/// Adds a term if it is new, and returns its number; `None` if there are too many.
fn add(extras: &mut Vec<Extra>, text: &str, weight: f32) -> Option<usize> {
    let known = extras.iter().position(|known| known.text == text);
    if known.is_some() || extras.len() >= EXTRAS {
        return known;
    }
    extras.push(Extra { text: text.into(), weight });
    Some(extras.len() - 1)
}
