//! A snapshot of an index, which any number of threads can search.

use std::sync::{Arc, OnceLock};

use cicerone_domain::retrieval::{Found, Hit, Query, QueryTerm};
use cicerone_language::Language;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{Field, Value as _};
use tantivy::{DocAddress, InvertedIndexReader, Searcher, TantivyDocument};

use super::question::Question;
use super::ranking::{Ranked, rank, stored};
use super::recent::{Recent, SnapshotRecent};
use super::weights::{FLOOR, FieldWeight, WEIGHTS};
use crate::store::{NO_LANGUAGE, Record, Store, Unusable, all_terms};

/// Fields that are scored.
pub(super) const FIELDS: usize = 9;
/// The number of these, from the first, that contain whole words.
pub(super) const WORD_FIELDS: usize = 6;
/// The questions of pairs.
pub(super) const QUESTIONS: usize = 0;
/// The answers of pairs.
const ANSWERS: usize = 5;
/// The field of neighbouring words.
pub(super) const PAIRS: usize = 6;
/// The field of pieces of words.
pub(super) const GRAMS: usize = 7;
/// The same of the questions of pairs.
pub(super) const QUESTION_GRAMS: usize = 8;

/// An index as it was when it was last up to date.
pub(crate) struct Snapshot {
    generation: u64,
    languages: Vec<Option<Language>>,
    pub(super) passages: u64,
    /// How many of them are question/answer pairs.
    pub(super) question_answer_pairs: u64,
    /// What the words of the question of each pair weigh together, by the number of the passage.
    weighed: OnceLock<Box<[f32]>>,
    pub(super) segments: Vec<Segment>,
    record: Field,
    pub(super) recent: SnapshotRecent,
    searcher: Searcher,
}

/// One segment of an index.
pub(super) struct Segment {
    pub(super) fields: [ScoredField; FIELDS],
    /// The whole questions of pairs.
    pub(super) exact: Arc<InvertedIndexReader>,
    /// The number of its first passage in the snapshot.
    pub(super) first: u32,
    pub(super) reader: tantivy::SegmentReader,
}

/// A field of a segment.
pub(super) struct ScoredField {
    pub(super) terms: Arc<InvertedIndexReader>,
    pub(super) lengths: FieldNormReader,
    /// The part of the denominator that depends on the length of the field, by the code of the length.
    pub(super) norms: Arc<[f32; 256]>,
}

impl Segment {
    /// Whether a passage is a question/answer pair.
    pub(super) fn is_pair(&self, document: u32) -> bool {
        let [question, ..] = &self.fields;
        question.lengths.fieldnorm_id(document) > 0
    }
}

impl Snapshot {
    /// Takes a snapshot of `store`.
    pub(crate) fn new(store: &Store, recent: &Recent) -> Result<Self, Unusable> {
        let searcher = store.searcher()?;
        let fields = store.fields();
        let scored = [
            fields.question,
            fields.title,
            fields.heading,
            fields.defined,
            fields.body,
            fields.answer,
            fields.pairs,
            fields.grams,
            fields.question_grams,
        ];
        let passages = searcher.num_docs();
        let mut question_answer_pairs = 0;
        for segment in searcher.segment_readers() {
            question_answer_pairs += segment.inverted_index(fields.exact)?.total_num_tokens();
        }
        let question_answer_pairs = question_answer_pairs.min(passages);
        let mut norms = Vec::with_capacity(FIELDS);
        for (number, (field, weight)) in scored.into_iter().zip(WEIGHTS).enumerate() {
            let passages = match number {
                QUESTIONS | ANSWERS | QUESTION_GRAMS => question_answer_pairs,
                _ => passages - question_answer_pairs,
            };
            norms.push(Arc::new(field_norms(&searcher, field, passages, weight)?));
        }
        let mut segments = Vec::new();
        let mut first = 0;
        for reader in searcher.segment_readers() {
            let mut views = Vec::with_capacity(FIELDS);
            for (field, norms) in scored.into_iter().zip(&norms) {
                views.push(ScoredField {
                    terms: reader.inverted_index(field)?,
                    lengths: reader.get_fieldnorms_reader(field)?,
                    norms: Arc::clone(norms),
                });
            }
            let Ok(scored_fields) = <[ScoredField; FIELDS]>::try_from(views) else { continue };
            segments.push(Segment {
                fields: scored_fields,
                exact: reader.inverted_index(fields.exact)?,
                first,
                reader: reader.clone(),
            });
            first += reader.max_doc();
        }
        let mut languages: Vec<Option<Language>> = Vec::new();
        for code in all_terms(&searcher, fields.language)? {
            let language = if code == NO_LANGUAGE { None } else { Language::from_code(&code) };
            if !languages.contains(&language) {
                languages.push(language);
            }
        }
        Ok(Self {
            generation: store.generation()?,
            languages,
            passages,
            question_answer_pairs,
            weighed: OnceLock::new(),
            segments,
            record: fields.record,
            recent: recent.of_snapshot(),
            searcher,
        })
    }

    /// What the words of the question of each pair weigh together, by the number of the passage. It is added up for the
    /// first question that finds a pair.
    pub(super) fn weighed(&self) -> tantivy::Result<&[f32]> {
        if let Some(weighed) = self.weighed.get() {
            return Ok(weighed);
        }
        let weighed = stored::weigh(self)?;
        Ok(self.weighed.get_or_init(|| weighed.into()))
    }

    /// The generation of its content.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of passages.
    pub(crate) fn passages(&self) -> u64 {
        self.passages
    }

    /// The number of passage numbers, including those of deleted passages.
    pub(super) fn numbers(&self) -> u32 {
        self.segments.last().map_or(0, |last| last.first + last.reader.max_doc())
    }

    /// The `limit` best passages for `query`, best first.
    pub(crate) fn search(&self, query: &Query, limit: usize) -> tantivy::Result<Found> {
        let question = Question::new(query, &self.languages);
        let ranking = rank(self, &question, limit)?;
        let is_answered = ranking.confidence >= FLOOR;
        let mut hits = Vec::with_capacity(ranking.best.len());
        for ranked in &ranking.best {
            hits.push(self.hit(ranked, is_answered)?);
        }
        let terms = ranking
            .words
            .iter()
            .flat_map(|word| {
                word.forms.iter().map(|text| QueryTerm {
                    text: text.clone(),
                    weight: word.weight,
                    is_context: word.is_context,
                })
            })
            .collect();
        Ok(Found { hits, terms, confidence: ranking.confidence, floor: FLOOR })
    }

    fn hit(&self, ranked: &Ranked, is_answered: bool) -> tantivy::Result<Hit> {
        let address = DocAddress::new(ranked.segment, ranked.document);
        let record = self.recent.passage(address, || self.read(address))?;
        Ok(Hit {
            source_id: record.source,
            position: record.position,
            title: record.title.clone(),
            heading: record.heading.clone(),
            url: record.url.clone(),
            page: record.page,
            text: Arc::clone(&record.text),
            is_pair: record.is_pair,
            language: record.language.clone(),
            score: ranked.score,
            coverage: ranked.coverage,
            is_relevant: is_answered && ranked.confidence >= FLOOR,
        })
    }

    fn read(&self, address: DocAddress) -> tantivy::Result<Record> {
        let document: TantivyDocument = self.searcher.doc(address)?;
        let bytes = document.get_first(self.record).and_then(|value| value.as_bytes());
        serde_json::from_slice(bytes.unwrap_or_default())
            .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))
    }
}

/// `k1 · (1 - b + b · length / average length)` for each code of a length.
fn field_norms(
    searcher: &Searcher,
    field: Field,
    passages: u64,
    weight: FieldWeight,
) -> tantivy::Result<[f32; 256]> {
    let mut tokens = 0;
    for segment in searcher.segment_readers() {
        tokens += segment.inverted_index(field)?.total_num_tokens();
    }
    let average = (tokens as f32 / passages.max(1) as f32).max(1.0);
    let mut code = 0_u8;
    Ok([(); 256].map(|()| {
        let length = FieldNormReader::id_to_fieldnorm(code) as f32;
        code = code.wrapping_add(1);
        weight.k1 * (1.0 - weight.b + weight.b * length / average)
    }))
}
