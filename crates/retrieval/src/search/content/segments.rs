//! The segments of an index on the disk.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{Field, IndexRecordOption, Value as _};
use tantivy::{DocAddress, InvertedIndexReader, Searcher, TantivyDocument};
use tantivy_fst::Automaton;

use super::{for_each_field, norms, passages_with, saturated};
use crate::search::impacts::{Impact, Impacts};
use crate::search::recent::SnapshotRecent;
use crate::store::{QUESTIONS, Record, SCORED, Store, WORD_FIELDS, all_terms, groups};

/// The segments of one commit.
pub(in crate::search) struct Segments {
    passages: u64,
    question_answer_pairs: u64,
    segments: Vec<Segment>,
    /// Whether any passage has the field, for each field.
    has_terms: [bool; SCORED],
    language: Field,
    record: Field,
    recent: SnapshotRecent,
    searcher: Searcher,
}

/// One segment of an index.
struct Segment {
    fields: [ScoredField; SCORED],
    /// The complete questions of pairs.
    exact: Arc<InvertedIndexReader>,
    /// The number of its first passage in the snapshot.
    first: u32,
    reader: tantivy::SegmentReader,
}

struct ScoredField {
    terms: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    /// The part of the denominator that depends on the length of the field, by the code of the length.
    norms: Arc<[f32; 256]>,
}

impl Segments {
    /// Whether some are to be merged with each other.
    pub(in crate::search) fn are_scattered(&self) -> bool {
        let readers = self.segments.iter().map(|segment| &segment.reader);
        !groups(readers.map(|reader| (reader.num_docs(), reader.segment_id())).collect()).is_empty()
    }

    /// The segments of the last commit of `store`.
    pub(in crate::search) fn new(store: &Store, recent: SnapshotRecent) -> tantivy::Result<Self> {
        let searcher = store.searcher()?;
        let fields = store.fields();
        let scored = fields.scored();
        let passages = searcher.num_docs();
        let question_answer_pairs = tokens(&searcher, fields.exact)?.min(passages);
        let mut all_norms = scored.into_iter().enumerate().map(|(number, field)| {
            let passages = passages_with(number, passages, question_answer_pairs);
            Ok(Arc::new(norms(number, tokens(&searcher, field)?, passages)))
        });
        let all_norms = all_norms.by_ref().collect::<tantivy::Result<Vec<_>>>()?;
        let mut segments = Vec::new();
        let mut has_terms = [false; SCORED];
        let mut first = 0;
        for reader in searcher.segment_readers() {
            let mut views = scored.into_iter().zip(&all_norms).map(|(field, norms)| {
                tantivy::Result::Ok(ScoredField {
                    terms: reader.inverted_index(field)?,
                    lengths: reader.get_fieldnorms_reader(field)?,
                    norms: Arc::clone(norms),
                })
            });
            let fields_of_segment: [ScoredField; SCORED] = for_each_field(|_| {
                let missing = || tantivy::TantivyError::InternalError("no field".to_owned());
                views.next().ok_or_else(missing)?
            })?;
            for (has_terms, field) in has_terms.iter_mut().zip(&fields_of_segment) {
                *has_terms |= field.terms.terms().num_terms() > 0;
            }
            segments.push(Segment {
                fields: fields_of_segment,
                exact: reader.inverted_index(fields.exact)?,
                first,
                reader: reader.clone(),
            });
            first += reader.max_doc();
        }
        Ok(Self {
            passages,
            question_answer_pairs,
            segments,
            has_terms,
            language: fields.language,
            record: fields.record,
            recent,
            searcher,
        })
    }

    pub(super) fn passages(&self) -> u64 {
        self.passages
    }

    pub(super) fn question_answer_pairs(&self) -> u64 {
        self.question_answer_pairs
    }

    pub(super) fn languages(&self) -> tantivy::Result<Vec<(String, u32)>> {
        all_terms(&self.searcher, self.language)
    }

    pub(super) fn numbers(&self) -> u32 {
        self.segments.last().map_or(0, |last| last.first + last.reader.max_doc())
    }

    pub(super) fn is_pair(&self, number: u32) -> bool {
        let Some((_, segment, document)) = self.place(number) else { return false };
        let [question, ..] = &segment.fields;
        question.lengths.fieldnorm_id(document) > 0
    }

    /// The segment of a passage, with its position, and the passage's number in it.
    fn place(&self, number: u32) -> Option<(usize, &Segment, u32)> {
        let index = self.segments.partition_point(|segment| segment.first <= number);
        let index = index.checked_sub(1)?;
        let segment = self.segments.get(index)?;
        Some((index, segment, number - segment.first))
    }

    pub(super) fn impacts(&self, field: usize, term: &str) -> tantivy::Result<Impacts> {
        // Most agents have no pairs or no headings. Fields without terms need no lookup in the
        // cache.
        if !self.has_terms.get(field).is_some_and(|has_terms| *has_terms) {
            return Ok(Impacts::default());
        }
        self.recent.impacts(field, term, || {
            let mut impacts = Vec::new();
            for segment in &self.segments {
                segment.add_impacts(field, term, &mut impacts)?;
            }
            Ok(impacts)
        })
    }

    pub(super) fn has_word(&self, word: &str) -> tantivy::Result<bool> {
        for field in (0..WORD_FIELDS).filter(|field| self.has_terms.get(*field) == Some(&true)) {
            for field in self.segments.iter().filter_map(|segment| segment.fields.get(field)) {
                if field.terms.terms().get(word.as_bytes())?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    pub(super) fn exact(&self, key: &str) -> tantivy::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for segment in &self.segments {
            let Some(info) = segment.exact.terms().get(key.as_bytes())? else { continue };
            let mut postings =
                segment.exact.read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
            while postings.block_len() > 0 {
                let present = postings
                    .docs()
                    .iter()
                    .filter(|document| !segment.reader.is_deleted(**document));
                numbers.extend(present.map(|document| segment.first + document));
                postings.advance();
            }
        }
        Ok(numbers)
    }

    pub(super) fn matching<A>(
        &self,
        field: usize,
        automaton: &A,
        mut each: impl FnMut(&str, u32),
    ) -> tantivy::Result<()>
    where
        A: Automaton,
        A::State: Clone,
    {
        for segment in &self.segments {
            let Some(field) = segment.fields.get(field) else { continue };
            let mut words = field.terms.terms().search(automaton).into_stream()?;
            while words.advance() {
                if let Ok(word) = std::str::from_utf8(words.key()) {
                    each(word, words.value().doc_freq);
                }
            }
        }
        Ok(())
    }

    pub(super) fn question_words(
        &self,
        mut each: impl FnMut(&[u8], &[u32]),
    ) -> tantivy::Result<()> {
        let mut numbers = Vec::new();
        for segment in &self.segments {
            let Some(questions) = segment.fields.get(QUESTIONS) else { continue };
            let mut words = questions.terms.terms().stream()?;
            while words.advance() {
                let mut postings = questions
                    .terms
                    .read_block_postings_from_terminfo(words.value(), IndexRecordOption::Basic)?;
                numbers.clear();
                while postings.block_len() > 0 {
                    numbers.extend(postings.docs().iter().map(|document| segment.first + document));
                    postings.advance();
                }
                each(words.key(), &numbers);
            }
        }
        Ok(())
    }

    pub(super) fn record(&self, number: u32) -> tantivy::Result<Arc<Record>> {
        let missing = || tantivy::TantivyError::InternalError(format!("no passage {number}"));
        let (segment, _, document) = self.place(number).ok_or_else(missing)?;
        let segment = u32::try_from(segment).map_err(|_| missing())?;
        let address = DocAddress::new(segment, document);
        self.recent.passage(address, || {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let text = document.get_first(self.record).and_then(|value| value.as_str());
            serde_json::from_str(text.unwrap_or_default())
                .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))
        })
    }
}

impl Segment {
    /// Adds the contributions of `term` in a field. Deleted passages are skipped.
    fn add_impacts(
        &self,
        field: usize,
        term: &str,
        impacts: &mut Vec<Impact>,
    ) -> tantivy::Result<()> {
        let Some(field) = self.fields.get(field) else { return Ok(()) };
        let Some(info) = field.terms.terms().get(term.as_bytes())? else { return Ok(()) };
        impacts.reserve(info.doc_freq as usize);
        let mut postings =
            field.terms.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
        while postings.block_len() > 0 {
            for (document, frequency) in postings.docs().iter().zip(postings.freqs()) {
                let norm = field.norms.get(usize::from(field.lengths.fieldnorm_id(*document)));
                let (false, Some(norm)) = (self.reader.is_deleted(*document), norm) else {
                    continue;
                };
                let value = saturated(*frequency, *norm);
                impacts.push(Impact { number: self.first + document, value });
            }
            postings.advance();
        }
        Ok(())
    }
}

/// The tokens of a field in all segments.
fn tokens(searcher: &Searcher, field: Field) -> tantivy::Result<u64> {
    let mut tokens = 0;
    for segment in searcher.segment_readers() {
        tokens += segment.inverted_index(field)?.total_num_tokens();
    }
    Ok(tokens)
}
