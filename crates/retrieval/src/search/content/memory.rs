//! An index in memory, for an agent with little content. It is built from the database in a
//! fraction of a millisecond, whereas an index on the disk has to be opened, mapped and closed
//! again.
//!
//! Invariant: it finds the same passages as an index on the disk, with the same scores. So lengths
//! are rounded in the same way.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::{Id, kind};
use tantivy::fieldnorm::FieldNormReader;
use tantivy_fst::Automaton;

use super::packed::Packed;
use super::{for_each_field, norms, passages_with, saturated};
use crate::search::impacts::{Impact, Impacts};
use crate::store::{QUESTIONS, Record, SCORED, WORD_FIELDS, analyse};

/// The size of a passage in addition to its texts: the record, and the headers of five allocations.
const RECORD_BYTES: usize = size_of::<Record>() + 100;
/// The size of an exact question in addition to its text.
const EXACT_BYTES: usize = 120;
/// The size of an index in addition to its content, including its place in the list of open
/// indexes.
const SNAPSHOT_BYTES: usize = 300;

/// An index in memory.
pub(crate) struct InMemory {
    records: Vec<Arc<Record>>,
    /// The languages of the passages, with the number of passages.
    languages: Box<[(&'static str, u32)]>,
    question_answer_pairs: u64,
    /// The passages with each exact question.
    exact: HashMap<Box<str>, Vec<u32>>,
    /// `None` for a field without terms.
    fields: [Option<Box<FieldIndex>>; SCORED],
}

/// The terms of a field with their postings.
struct FieldIndex {
    /// All terms in order, one after the other.
    text: Box<str>,
    /// Where each term ends in `text`. It begins at the end of the previous one.
    text_ends: Packed,
    /// Where the postings of each term end, in the same way; `None` if each has one.
    posting_ends: Option<Packed>,
    /// The passage of each posting.
    numbers: Packed,
    /// How often the term occurs in that passage.
    frequencies: Packed,
    /// The code of each passage's length.
    lengths: Box<[u8]>,
    /// The part of the denominator that depends on the length, for each passage.
    norms: Box<[f32]>,
}

impl InMemory {
    /// Indexes these passages, numbered in this order.
    pub(crate) fn new(passages: Vec<(Id<kind::Source>, StoredPassage)>) -> tantivy::Result<Self> {
        let mut records = Vec::with_capacity(passages.len());
        let mut languages: BTreeMap<&'static str, u32> = BTreeMap::new();
        let mut exact: HashMap<Box<str>, Vec<u32>> = HashMap::new();
        let mut terms: Vec<[String; SCORED]> = Vec::with_capacity(passages.len());
        for (number, (source, passage)) in (0_u32..).zip(passages) {
            let analysed = analyse(source, passage);
            *languages.entry(analysed.language).or_default() += 1;
            if let Some(key) = analysed.exact {
                exact.entry(key.into()).or_default().push(number);
            }
            records.push(Arc::new(analysed.record));
            terms.push(analysed.terms);
        }
        let passages = records.len() as u64;
        let question_answer_pairs = exact.values().map(|numbers| numbers.len() as u64).sum();
        let fields = for_each_field(|field| {
            let with_field = passages_with(field, passages, question_answer_pairs);
            let texts = terms.iter().filter_map(|fields| fields.get(field)).map(String::as_str);
            Ok(FieldIndex::new(field, texts, with_field))
        })?;
        let languages = languages.into_iter().collect();
        Ok(Self { records, languages, question_answer_pairs, exact, fields })
    }

    /// The approximate bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let records = self.records.iter().map(|record| record.bytes() + RECORD_BYTES);
        let exact = self.exact.keys().map(|key| key.len() + EXACT_BYTES);
        let fields = self.fields.iter().flatten().map(|field| field.bytes());
        size_of::<Self>() + SNAPSHOT_BYTES + records.chain(exact).chain(fields).sum::<usize>()
    }

    pub(super) fn passages(&self) -> u64 {
        self.records.len() as u64
    }

    pub(super) fn question_answer_pairs(&self) -> u64 {
        self.question_answer_pairs
    }

    pub(super) fn languages(&self) -> Vec<(String, u32)> {
        let of = |(code, passages): &(&str, u32)| ((*code).to_owned(), *passages);
        self.languages.iter().map(of).collect()
    }

    pub(super) fn numbers(&self) -> u32 {
        u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn is_pair(&self, number: u32) -> bool {
        let questions = self.field(QUESTIONS);
        questions.and_then(|field| field.lengths.get(number as usize)).is_some_and(|code| *code > 0)
    }

    pub(super) fn impacts(&self, field: usize, term: &str) -> Impacts {
        let found = self.field(field).and_then(|field| Some((field, field.find(term)?)));
        let Some((field, at)) = found else { return Impacts::default() };
        let impact = |(number, frequency)| {
            let norm = field.norms.get(number as usize).copied().unwrap_or_default();
            Impact { number, value: saturated(frequency, norm) }
        };
        field.postings(at).map(impact).collect()
    }

    pub(super) fn has_word(&self, word: &str) -> bool {
        let mut fields = (0..WORD_FIELDS).filter_map(|field| self.field(field));
        fields.any(|field| field.find(word).is_some())
    }

    pub(super) fn exact(&self, key: &str) -> Vec<u32> {
        self.exact.get(key).cloned().unwrap_or_default()
    }

    pub(super) fn matching<A: Automaton>(
        &self,
        field: usize,
        automaton: &A,
        mut each: impl FnMut(&str, u32),
    ) {
        let Some(field) = self.field(field) else { return };
        for at in 0..field.text_ends.len() {
            let Some(word) = field.term(at) else { continue };
            let end = word.bytes().try_fold(automaton.start(), |state, byte| {
                Some(automaton.accept(&state, byte)).filter(|state| automaton.can_match(state))
            });
            if end.is_some_and(|end| automaton.is_match(&end)) {
                let passages = field.posting_range(at).len();
                each(word, u32::try_from(passages).unwrap_or(u32::MAX));
            }
        }
    }

    pub(super) fn question_words(&self, mut each: impl FnMut(&[u8], &[u32])) {
        let Some(questions) = self.field(QUESTIONS) else { return };
        for at in 0..questions.text_ends.len() {
            let Some(word) = questions.term(at) else { continue };
            let numbers: Vec<u32> = questions.postings(at).map(|(number, _)| number).collect();
            each(word.as_bytes(), &numbers);
        }
    }

    pub(super) fn record(&self, number: u32) -> tantivy::Result<Arc<Record>> {
        let missing = || tantivy::TantivyError::InternalError(format!("no passage {number}"));
        self.records.get(number as usize).map(Arc::clone).ok_or_else(missing)
    }

    fn field(&self, field: usize) -> Option<&FieldIndex> {
        self.fields.get(field)?.as_deref()
    }
}

impl FieldIndex {
    /// Indexes the terms of each passage in a field, which `with_field` passages have; `None` if there are no terms.
    fn new<'a>(
        field: usize,
        texts: impl Iterator<Item = &'a str>,
        with_field: u64,
    ) -> Option<Box<Self>> {
        let mut occurrences: Vec<(&str, u32)> = Vec::new();
        let mut lengths = Vec::new();
        for (number, text) in (0_u32..).zip(texts) {
            let before = occurrences.len();
            occurrences.extend(text.split_whitespace().map(|term| (term, number)));
            let tokens = u32::try_from(occurrences.len() - before).unwrap_or(u32::MAX);
            lengths.push(FieldNormReader::fieldnorm_to_id(tokens));
        }
        if occurrences.is_empty() {
            return None;
        }
        let by_code = norms(field, occurrences.len() as u64, with_field);
        let norm = |code: &u8| by_code.get(usize::from(*code)).copied().unwrap_or_default();
        let norms = lengths.iter().map(norm).collect();
        occurrences.sort_unstable();

        let mut text = String::new();
        let (mut text_ends, mut posting_ends) = (Vec::new(), Vec::new());
        let (mut numbers, mut frequencies) = (Vec::new(), Vec::new());
        let position = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        for of_term in occurrences.chunk_by(|(one, _), (other, _)| one == other) {
            for of_passage in of_term.chunk_by(|one, other| one == other) {
                numbers.extend(of_passage.first().map(|(_, number)| *number));
                frequencies.push(position(of_passage.len()));
            }
            text.push_str(of_term.first().map_or("", |(term, _)| term));
            text_ends.push(position(text.len()));
            posting_ends.push(position(numbers.len()));
        }
        let has_more = posting_ends.len() < numbers.len();
        Some(Box::new(Self {
            text: text.into(),
            text_ends: Packed::new(&text_ends),
            posting_ends: has_more.then(|| Packed::new(&posting_ends)),
            numbers: Packed::new(&numbers),
            frequencies: Packed::new(&frequencies),
            lengths: lengths.into(),
            norms,
        }))
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.text.len()
            + self.text_ends.bytes()
            + self.posting_ends.as_ref().map_or(0, Packed::bytes)
            + self.numbers.bytes()
            + self.frequencies.bytes()
            + size_of_val(&*self.lengths)
            + size_of_val(&*self.norms)
    }

    /// The term at this position in the order.
    fn term(&self, at: usize) -> Option<&str> {
        self.text.get(self.text_ends.range(at))
    }

    /// The positions of the postings of the term at this position.
    fn posting_range(&self, at: usize) -> Range<usize> {
        self.posting_ends.as_ref().map_or(at..at + 1, |ends| ends.range(at))
    }

    /// The passages with the term at this position, and how often it occurs in each.
    fn postings(&self, at: usize) -> impl ExactSizeIterator<Item = (u32, u32)> {
        self.posting_range(at).map(|at| (self.numbers.get(at), self.frequencies.get(at)))
    }

    /// The position of the first term that is not less than `key`.
    fn first_not_below(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.text_ends.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle).is_some_and(|term| term.as_bytes() < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The position of a term.
    fn find(&self, term: &str) -> Option<usize> {
        let at = self.first_not_below(term.as_bytes());
        (self.term(at)? == term).then_some(at)
    }
}
