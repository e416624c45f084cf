//! An index in memory, for an agent with little content. It is built from the database in a
//! fraction of a millisecond, whereas an index on the disk has to be opened, mapped and closed
//! again.
//!
//! Invariant: it finds the same passages as an index on the disk, with the same scores. So lengths
//! are rounded in the same way.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::{Id, kind};
use tantivy::fieldnorm::FieldNormReader;
use tantivy_fst::Automaton;

use super::{for_each_field, norms, passages_with, saturated};
use crate::search::ranking::Impact;
use crate::store::{QUESTIONS, Record, SCORED, analyse};

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
    languages: BTreeMap<&'static str, u32>,
    question_answer_pairs: u64,
    /// The passages with each exact question.
    exact: HashMap<Box<str>, Vec<u32>>,
    fields: [FieldIndex; SCORED],
}

/// The terms of a field with their postings.
struct FieldIndex {
    /// All terms in order, one after the other.
    text: Box<str>,
    terms: Box<[TermEntry]>,
    postings: Box<[Posting]>,
    /// The code of each passage's length.
    lengths: Box<[u8]>,
    /// The part of the denominator that depends on the length, for each passage.
    norms: Box<[f32]>,
}

/// Where a term and its postings end. Both begin at the ends of the previous entry.
struct TermEntry {
    text_end: u32,
    postings_end: u32,
}

/// A passage that has a term.
struct Posting {
    number: u32,
    /// How often it occurs in the passage.
    frequency: u32,
}

impl InMemory {
    /// Indexes these passages, numbered in this order.
    pub(crate) fn new(passages: Vec<(Id<kind::Source>, StoredPassage)>) -> tantivy::Result<Self> {
        let mut records = Vec::with_capacity(passages.len());
        let mut languages = BTreeMap::new();
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
        Ok(Self { records, languages, question_answer_pairs, exact, fields })
    }

    /// The approximate bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let records = self.records.iter().map(|record| record.bytes() + RECORD_BYTES);
        let exact = self.exact.keys().map(|key| key.len() + EXACT_BYTES);
        let fields = self.fields.iter().map(FieldIndex::bytes);
        size_of::<Self>() + SNAPSHOT_BYTES + records.chain(exact).chain(fields).sum::<usize>()
    }

    pub(super) fn passages(&self) -> u64 {
        self.records.len() as u64
    }

    pub(super) fn question_answer_pairs(&self) -> u64 {
        self.question_answer_pairs
    }

    pub(super) fn languages(&self) -> Vec<(String, u32)> {
        let of = |(code, passages): (&&str, &u32)| ((*code).to_owned(), *passages);
        self.languages.iter().map(of).collect()
    }

    pub(super) fn numbers(&self) -> u32 {
        u32::try_from(self.records.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn is_pair(&self, number: u32) -> bool {
        let [questions, ..] = &self.fields;
        questions.lengths.get(number as usize).is_some_and(|length| *length > 0)
    }

    pub(super) fn impacts(&self, field: usize, term: &str) -> Arc<[Impact]> {
        let postings = self.fields.get(field).and_then(|field| Some((field, field.find(term)?)));
        let Some((field, postings)) = postings else { return Arc::default() };
        let impact = |posting: &Posting| {
            let norm = field.norms.get(posting.number as usize).copied().unwrap_or_default();
            Impact { number: posting.number, value: saturated(posting.frequency, norm) }
        };
        postings.iter().map(impact).collect()
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
        let Some(field) = self.fields.get(field) else { return };
        for at in 0..field.terms.len() {
            let Some(word) = field.term(at) else { continue };
            let end = word.bytes().try_fold(automaton.start(), |state, byte| {
                Some(automaton.accept(&state, byte)).filter(|state| automaton.can_match(state))
            });
            if end.is_some_and(|end| automaton.is_match(&end)) {
                let frequency = field.postings(at).map_or(0, <[_]>::len);
                each(word, u32::try_from(frequency).unwrap_or(u32::MAX));
            }
        }
    }

    pub(super) fn question_words(&self, mut each: impl FnMut(&[u8], &[u32])) {
        let Some(questions) = self.fields.get(QUESTIONS) else { return };
        for at in 0..questions.terms.len() {
            let (Some(word), Some(postings)) = (questions.term(at), questions.postings(at)) else {
                continue;
            };
            let numbers: Vec<u32> = postings.iter().map(|posting| posting.number).collect();
            each(word.as_bytes(), &numbers);
        }
    }

    pub(super) fn record(&self, number: u32) -> tantivy::Result<Arc<Record>> {
        let missing = || tantivy::TantivyError::InternalError(format!("no passage {number}"));
        self.records.get(number as usize).map(Arc::clone).ok_or_else(missing)
    }
}

impl FieldIndex {
    /// Indexes the terms of each passage in a field, which `with_field` passages have.
    fn new<'a>(field: usize, texts: impl Iterator<Item = &'a str>, with_field: u64) -> Self {
        let mut occurrences: Vec<(&str, u32)> = Vec::new();
        let mut lengths = Vec::new();
        for (number, text) in (0_u32..).zip(texts) {
            let before = occurrences.len();
            occurrences.extend(text.split_whitespace().map(|term| (term, number)));
            let tokens = u32::try_from(occurrences.len() - before).unwrap_or(u32::MAX);
            lengths.push(FieldNormReader::fieldnorm_to_id(tokens));
        }
        let by_code = norms(field, occurrences.len() as u64, with_field);
        let norm = |code: &u8| by_code.get(usize::from(*code)).copied().unwrap_or_default();
        let norms = lengths.iter().map(norm).collect();
        occurrences.sort_unstable();

        let mut text = String::new();
        let mut terms: Vec<TermEntry> = Vec::new();
        let mut postings: Vec<Posting> = Vec::new();
        let position = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        for of_term in occurrences.chunk_by(|(one, _), (other, _)| one == other) {
            for of_passage in of_term.chunk_by(|one, other| one == other) {
                let Some((_, number)) = of_passage.first() else { continue };
                postings.push(Posting { number: *number, frequency: position(of_passage.len()) });
            }
            text.push_str(of_term.first().map_or("", |(term, _)| term));
            terms.push(TermEntry {
                text_end: position(text.len()),
                postings_end: position(postings.len()),
            });
        }
        Self {
            text: text.into(),
            terms: terms.into(),
            postings: postings.into(),
            lengths: lengths.into(),
            norms,
        }
    }

    fn bytes(&self) -> usize {
        self.text.len()
            + size_of_val(&*self.terms)
            + size_of_val(&*self.postings)
            + size_of_val(&*self.lengths)
            + size_of_val(&*self.norms)
    }

    /// The term at this position in the order.
    fn term(&self, at: usize) -> Option<&str> {
        let begin = self.before(at).map_or(0, |before| before.text_end);
        self.text.get(begin as usize..self.terms.get(at)?.text_end as usize)
    }

    /// The passages with the term at this position.
    fn postings(&self, at: usize) -> Option<&[Posting]> {
        let begin = self.before(at).map_or(0, |before| before.postings_end);
        self.postings.get(begin as usize..self.terms.get(at)?.postings_end as usize)
    }

    fn before(&self, at: usize) -> Option<&TermEntry> {
        at.checked_sub(1).and_then(|before| self.terms.get(before))
    }

    /// The position of the first term that is not less than `key`.
    fn first_not_below(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.terms.len());
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

    fn find(&self, term: &str) -> Option<&[Posting]> {
        let at = self.first_not_below(term.as_bytes());
        (self.term(at)? == term).then(|| self.postings(at))?
    }
}
