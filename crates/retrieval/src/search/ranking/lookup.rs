//! Looks up the terms of a question: which passages contain them, and how rare they are.

use std::borrow::Cow;
use std::ops::Range;

use cicerone_language::{Language, equivalents, inflections};

use super::compounds::{has_compounds, related};
use super::coverage::Overlap;
use super::typing::Corrections;
use crate::search::impacts::Impacts;
use crate::search::question::{Extra, QUESTION, Question, Word};
use crate::search::snapshot::Snapshot;
use crate::search::weights::{
    FEWEST_PASSAGES, FEWEST_QUESTIONS, LIGHT_WORD, MEASURE, SIMILAR, SMALL_WORD, WEIGHTS,
};
use crate::store::{GRAMS, PAIRS, QUESTION_GRAMS, QUESTIONS, WORD_FIELDS, small_word};

/// The most words whose presence is recorded for each passage: one bit each.
const WORDS: usize = 64;

/// A question whose terms were looked up.
pub(super) struct Looked<'question> {
    /// The words that count, most informative first.
    pub(super) words: Vec<LookedWord<'question>>,
    /// Small words in the questions of pairs.
    pub(super) small_words: Vec<SmallWord>,
    /// Pairs and pieces of words, with their weights.
    pub(super) extras: Vec<LookedExtra>,
    /// The total weight of the question's words, including small ones, among the questions of
    /// pairs.
    pub(super) asked: f32,
}

/// A word such as "what" in the questions of pairs, where it distinguishes one question from
/// another.
pub(super) struct SmallWord {
    /// Its weight among the questions of pairs.
    pub(super) weight: f32,
    pub(super) impacts: Impacts,
}

/// A word with its postings.
pub(super) struct LookedWord<'question> {
    /// Its forms. For a word that occurs in no passage, those that are one typing mistake away.
    pub(super) forms: Cow<'question, [String]>,
    /// Its forms as one word with a neighbour that some passage has.
    pub(super) joined: Vec<String>,
    /// The share of the word that its forms are worth: 1, or less if they are spelled differently.
    pub(super) likeness: f32,
    /// Its rarity among the questions of pairs.
    pub(super) question_weight: f32,
    /// Its rarity times its weight in the question.
    pub(super) weight: f32,
    /// The same for measuring coverage. A few passages do not show how rare a word is: with a
    /// single passage, every word that it has would count almost nothing compared with a word that
    /// it lacks. So some further passages without any of the words are assumed.
    pub(super) share: f32,
    /// How much it counts for whether the question is answered: 1, or less for a word such as "make".
    pub(super) importance: f32,
    pub(super) is_stop_word: bool,
    pub(super) is_compound: bool,
    /// Whether it looks like a name, or is a number.
    pub(super) is_name: bool,
    /// Whether it is a name that no passage has. A number alone may be written in another way: "500g".
    pub(super) is_unknown_name: bool,
    /// Its postings in each field and form.
    pub(super) places: Vec<FieldPostings>,
    /// The postings of its joined forms, which count where the word itself is missing.
    pub(super) joined_places: Vec<FieldPostings>,
    /// The messages that contain it, one bit each.
    pub(super) messages: u8,
    /// The pieces that it consists of, one bit each.
    pub(super) pieces: u64,
    /// The words that overlap its beginning and its end, if it is a gram.
    pub(super) before: Overlap,
    pub(super) after: Overlap,
}

impl LookedWord<'_> {
    /// Whether it looks like the number of a model: "HP-11", but not "24-hour".
    pub(super) fn is_model(&self) -> bool {
        let has_digit = |form: &String| form.bytes().any(|byte| byte.is_ascii_digit());
        begins_with_letter(&self.forms) && self.forms.iter().any(has_digit)
    }

    /// Whether it is a gram of a script without spaces, with others on both sides.
    pub(super) fn is_gram(&self) -> bool {
        let overlaps = |side: Overlap| side.has_stop_word || side.bits != 0;
        overlaps(self.before) || overlaps(self.after)
    }
}

/// The postings of a word in one field and form.
pub(super) struct FieldPostings {
    /// Its rarity times the weight of the field.
    pub(super) weight: f32,
    pub(super) impacts: Impacts,
    /// Whether the field is that of the questions of pairs.
    pub(super) is_question: bool,
}

/// A pair or a piece of a word with its postings.
pub(super) struct LookedExtra {
    /// Its rarity times its weight and that of its field.
    pub(super) weight: f32,
    pub(super) impacts: Impacts,
    /// The bit of a piece.
    pub(super) bit: u64,
}

/// Looks up all terms of `question`.
pub(super) fn look_up<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
) -> tantivy::Result<Looked<'question>> {
    let mut extras = Vec::new();
    look_up_extras(snapshot, &question.pairs, PAIRS, |_| 0, &mut extras)?;
    look_up_extras(snapshot, &question.grams, GRAMS, bit, &mut extras)?;
    if snapshot.question_answer_pairs > 0 {
        look_up_extras(snapshot, &question.grams, QUESTION_GRAMS, bit, &mut extras)?;
    }
    let words = look_up_words(snapshot, question)?;
    let small_words = look_up_small_words(snapshot, question)?;
    let own = words.iter().filter(|word| word.messages & QUESTION != 0 && !word.is_compound);
    let asked = own.map(|word| word.question_weight).sum::<f32>()
        + small_words.iter().map(|word| word.weight).sum::<f32>();
    Ok(Looked { words, small_words, extras, asked })
}

/// The small words of the question, if there are pairs and the question has other words.
fn look_up_small_words(
    snapshot: &Snapshot,
    question: &Question,
) -> tantivy::Result<Vec<SmallWord>> {
    let mut small_words = Vec::new();
    if snapshot.question_answer_pairs == 0 || question.is_all_stop_words {
        return Ok(small_words);
    }
    let own = |word: &&Word| word.is_stop_word && word.messages & QUESTION != 0;
    for word in question.words.iter().filter(own).take(WORDS) {
        for form in &word.forms {
            let impacts = snapshot.content.impacts(QUESTIONS, &small_word(form))?;
            if !impacts.is_empty() {
                let weight = question_weight(snapshot, impacts.len() as u64, true);
                small_words.push(SmallWord { weight, impacts });
            }
        }
    }
    Ok(small_words)
}

/// The weight of a word that `frequency` questions of pairs have: its rarity among them, on the
/// scale of the rarities of words among all passages, with which pairs are compared.
pub(super) fn question_weight(snapshot: &Snapshot, frequency: u64, is_small: bool) -> f32 {
    let factor = if is_small { SMALL_WORD } else { 1.0 };
    let questions = snapshot.question_answer_pairs.max(FEWEST_QUESTIONS);
    let scale = |number: u64| (number as f32).ln_1p();
    factor * rarity(questions, frequency) * scale(snapshot.passages) / scale(questions)
}

/// The bit of the term with this number, if there are enough bits.
pub(in crate::search) fn bit(number: usize) -> u64 {
    u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or_default()
}

fn look_up_words<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
) -> tantivy::Result<Vec<LookedWord<'question>>> {
    // Stop words count only if there are no other words.
    let counts = |word: &&Word| !word.is_stop_word || question.is_all_stop_words;
    let mut words = Vec::with_capacity(question.words.len());
    let corrections = Corrections::new();
    let mut all_joined = Vec::new();
    for word in question.words.iter().filter(counts) {
        let mut forms = match other_forms(word, question.language) {
            [] => Cow::Borrowed(word.forms.as_slice()),
            others => Cow::Owned([&word.forms, others].concat()),
        };
        let mut found = places_of(snapshot, &forms, word.is_stop_word)?;
        let mut likeness = 1.0;
        let (joined, found_joined) = look_up_joined(snapshot, word, &mut all_joined)?;
        if found.most == 0 && found_joined.most == 0 {
            let mut similar = of_same_meaning(snapshot, word, question.language)?;
            if similar.is_empty() {
                similar = corrections.of(snapshot, word)?;
            }
            if similar.is_empty() && has_compounds(question.language) {
                similar = related(snapshot, word, &corrections)?;
            }
            if !similar.is_empty() {
                found = places_of(snapshot, &similar, false)?;
                forms = Cow::Owned(similar);
                likeness = SIMILAR;
            }
        }
        let frequency = found.most.max(found.most_with(&found_joined));
        // "How late" says which measure is asked for, and hardly ever what of.
        let own_weight = word.weight * if word.measure.is_some() { MEASURE } else { 1.0 };
        let weight = own_weight * rarity(snapshot.passages, frequency);
        let question_weight =
            own_weight * question_weight(snapshot, found.in_questions, word.is_stop_word);
        let is_light = question.language.is_some_and(|language| {
            word.forms.iter().any(|form| cicerone_language::is_light(form, language))
        });
        let importance = if is_light || word.measure.is_some() { LIGHT_WORD } else { 1.0 };
        let looked = LookedWord {
            forms,
            joined,
            likeness,
            question_weight,
            weight,
            share: own_weight * rarity(snapshot.passages.max(FEWEST_PASSAGES), frequency),
            importance,
            is_stop_word: word.is_stop_word,
            is_compound: word.is_compound,
            is_name: word.is_name,
            is_unknown_name: word.is_name && frequency == 0 && begins_with_letter(&word.forms),
            places: found.weighed(likeness * weight, likeness * question_weight),
            joined_places: found_joined.weighed(SIMILAR * weight, SIMILAR * question_weight),
            messages: word.messages,
            pieces: word.pieces,
            before: Overlap::default(),
            after: Overlap::default(),
        };
        words.push((word, looked));
    }
    words.sort_by(|(_, one), (_, other)| other.weight.total_cmp(&one.weight));
    words.truncate(WORDS);
    Ok(with_overlaps(question, words))
}

fn begins_with_letter(forms: &[String]) -> bool {
    forms.iter().any(|form| form.starts_with(char::is_alphabetic))
}

/// What a word is looked for as, too: the names of the measure that it asks for, a small number in digits or as a word, or the other
/// forms of an irregular word.
fn other_forms(word: &Word, language: Option<Language>) -> &'static [String] {
    if let Some(names) = word.measure {
        return names;
    }
    let Some(language) = language.filter(|_| !word.is_stop_word && !word.is_compound) else {
        return &[];
    };
    let is_digits = |form: &String| form.bytes().all(|byte| byte.is_ascii_digit());
    let of_form = |form: &String| {
        let same = equivalents(form, language);
        let is_number = is_digits(form) || same.iter().any(is_digits);
        let others = if is_number { same } else { inflections(form, language) };
        (!others.is_empty()).then_some(others)
    };
    word.forms.iter().find_map(of_form).unwrap_or_default()
}

/// The words of passages that mean the same as a word that no passage has: "damaged" for "broken".
fn of_same_meaning(
    snapshot: &Snapshot,
    word: &Word,
    language: Option<Language>,
) -> tantivy::Result<Vec<String>> {
    let has_one_meaning = word.is_compound || word.is_stop_word || word.is_name;
    let (Some(language), false) = (language, has_one_meaning) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<String> = Vec::new();
    for other in word.forms.iter().flat_map(|form| equivalents(form, language)) {
        if !found.contains(other) && snapshot.content.has_word(other)? {
            found.push(other.clone());
        }
    }
    Ok(found)
}

/// The joined forms of a word that some passage has, with their postings. `looked` has those that were looked up for the words
/// before: each form is one of two words.
fn look_up_joined<'question>(
    snapshot: &Snapshot,
    word: &'question Word,
    looked: &mut Vec<(&'question str, Places)>,
) -> tantivy::Result<(Vec<String>, Places)> {
    let mut known = Vec::new();
    let mut all = Places::default();
    for form in &word.joined {
        let is_looked = looked.iter().any(|(other, _)| other == form);
        if !is_looked {
            let found = if snapshot.content.has_word(form)? {
                places_of(snapshot, std::slice::from_ref(form), false)?
            } else {
                Places::default()
            };
            looked.push((form, found));
        }
        let found = looked.iter().find(|(other, found)| other == form && found.most > 0);
        if let Some((_, found)) = found {
            known.push(form.clone());
            all.most = all.most.max(found.most);
            all.places.extend(found.places.iter().cloned());
        }
    }
    Ok((known, all))
}

/// The postings of a word in all its forms.
#[derive(Default)]
struct Places {
    /// By field.
    places: Vec<(usize, Impacts)>,
    /// The number of passages in the field in which it is most frequent.
    most: u64,
    /// The number of pairs whose question contains it.
    in_questions: u64,
}

impl Places {
    /// The number of passages that have the word or one of its `joined` forms, in the field in which they are most frequent. A
    /// hyphenated word has both.
    fn most_with(&self, joined: &Self) -> u64 {
        let in_field = |(field, joined): &(usize, Impacts)| {
            let of_word = self.places.iter().filter(|(other, _)| other == field);
            of_word.fold(joined.len(), |all, (_, plain)| all + plain.len() - common(plain, joined))
        };
        joined.places.iter().map(in_field).max().unwrap_or_default() as u64
    }

    /// The postings with their weights, for a word with these weights among all passages and among
    /// the questions of pairs.
    fn weighed(self, weight: f32, question_weight: f32) -> Vec<FieldPostings> {
        let weighed = self.places.into_iter().map(|(field, impacts)| {
            let is_question = field == QUESTIONS;
            let weight = if is_question { question_weight } else { weight };
            FieldPostings { weight: weight * field_factor(field), impacts, is_question }
        });
        weighed.collect()
    }
}

/// The number of passages in both of two postings, which are ordered by passages.
fn common(one: &Impacts, other: &Impacts) -> usize {
    let mut others = other.numbers().peekable();
    let is_common = |number: &u32| {
        while others.next_if(|other| other < number).is_some() {}
        others.next_if_eq(number).is_some()
    };
    one.numbers().filter(is_common).count()
}

fn places_of(snapshot: &Snapshot, forms: &[String], is_stop_word: bool) -> tantivy::Result<Places> {
    let mut found = Places::default();
    for field in 0..WORD_FIELDS {
        let mut frequency = 0;
        for form in forms {
            let impacts = if field == QUESTIONS && is_stop_word {
                snapshot.content.impacts(field, &small_word(form))?
            } else {
                snapshot.content.impacts(field, form)?
            };
            frequency += impacts.len() as u64;
            if !impacts.is_empty() {
                found.places.push((field, impacts));
            }
        }
        if field == QUESTIONS {
            found.in_questions = frequency;
        }
        found.most = frequency.max(found.most);
    }
    Ok(found)
}

fn look_up_extras(
    snapshot: &Snapshot,
    terms: &[Extra],
    field: usize,
    bit: impl Fn(usize) -> u64,
    extras: &mut Vec<LookedExtra>,
) -> tantivy::Result<()> {
    extras.reserve(terms.len());
    for (index, term) in terms.iter().enumerate() {
        let impacts = snapshot.content.impacts(field, &term.text)?;
        if !impacts.is_empty() {
            let rarity = rarity(snapshot.passages, impacts.len() as u64);
            let weight = term.weight * rarity * field_factor(field);
            extras.push(LookedExtra { weight, impacts, bit: bit(index) });
        }
    }
    Ok(())
}

/// The weight of an impact in a field, before the rarity of the term.
pub(super) fn field_factor(field: usize) -> f32 {
    WEIGHTS.get(field).map_or(0.0, |weight| weight.weight * (weight.k1 + 1.0))
}

/// The inverse document frequency of BM25.
fn rarity(passages: u64, frequency: u64) -> f32 {
    let passages = passages as f32;
    let frequency = (frequency as f32).min(passages);
    (1.0 + (passages - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// Records which words overlap each other: for "退款政策", a passage with "退款" and "政策" need not
/// have "款政" to contain the whole.
fn with_overlaps<'question>(
    question: &Question,
    words: Vec<(&'question Word, LookedWord<'question>)>,
) -> Vec<LookedWord<'question>> {
    let ranges: Vec<Option<Range<usize>>> =
        words.iter().map(|(word, _)| word.range.clone().filter(|_| !word.is_compound)).collect();
    let stop_words: Vec<&Range<usize>> = question
        .words
        .iter()
        .filter(|word| word.is_stop_word)
        .filter_map(|word| word.range.as_ref())
        .collect();
    let begins_within = |one: &Range<usize>, other: &Range<usize>| {
        other.start < one.start && one.start < other.end && other.end < one.end
    };
    let mut words: Vec<LookedWord<'question>> =
        words.into_iter().map(|(_, looked)| looked).collect();
    for (word, range) in words.iter_mut().zip(&ranges) {
        let Some(range) = range else { continue };
        for (number, other) in ranges.iter().enumerate() {
            let Some(other) = other else { continue };
            word.before.bits |= u64::from(begins_within(range, other)) << number;
            word.after.bits |= u64::from(begins_within(other, range)) << number;
        }
        word.before.has_stop_word = stop_words.iter().any(|other| begins_within(range, other));
        word.after.has_stop_word = stop_words.iter().any(|other| begins_within(other, range));
    }
    words
}
