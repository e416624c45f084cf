//! A snapshot of an index, which any number of threads can search.

use std::sync::Arc;

use cicerone_domain::retrieval::{Found, Hit, Query, QueryTerm};
use cicerone_language::Language;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{Field, Value as _};
use tantivy::{DocAddress, InvertedIndexReader, Searcher, TantivyDocument};

use super::question::Question;
use super::ranking::{Ranked, rank};
use super::recent::{Recent, SnapshotRecent};
use super::weights::{FLOOR, FieldWeight, GRAM_FLOOR, WEIGHTS};
use crate::store::{NO_LANGUAGE, Record, Store, Unusable, all_terms};

/// Fields that are scored.
pub(super) const FIELDS: usize = 6;
/// The number of these, from the first, that contain whole words.
pub(super) const WORD_FIELDS: usize = 4;
/// The field of neighbouring words.
pub(super) const PAIRS: usize = 4;
/// The field of pieces of words.
pub(super) const GRAMS: usize = 5;

/// An index as it was when it was last up to date.
pub(crate) struct Snapshot {
    generation: u64,
    languages: Vec<Option<Language>>,
    pub(super) passages: u64,
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
            fields.body,
            fields.pairs,
            fields.grams,
        ];
        let passages = searcher.num_docs();
        let mut norms = Vec::with_capacity(FIELDS);
        for (field, weight) in scored.into_iter().zip(WEIGHTS) {
            norms.push(Arc::new(field_norms(&searcher, field, weight)?));
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
            segments,
            record: fields.record,
            recent: recent.of_snapshot(),
            searcher,
        })
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
        let floor = if ranking.is_of_grams { GRAM_FLOOR } else { FLOOR };
        let mut hits = Vec::with_capacity(ranking.best.len());
        for ranked in &ranking.best {
            hits.push(self.hit(ranked, floor)?);
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
        Ok(Found { hits, terms })
    }

    fn hit(&self, ranked: &Ranked, floor: f32) -> tantivy::Result<Hit> {
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
            is_relevant: ranked.coverage >= floor,
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
    weight: FieldWeight,
) -> tantivy::Result<[f32; 256]> {
    let mut tokens = 0;
    for segment in searcher.segment_readers() {
        tokens += segment.inverted_index(field)?.total_num_tokens();
    }
    let average = (tokens as f32 / searcher.num_docs().max(1) as f32).max(1.0);
    let mut code = 0_u8;
    Ok([(); 256].map(|()| {
        let length = FieldNormReader::id_to_fieldnorm(code) as f32;
        code = code.wrapping_add(1);
        weight.k1 * (1.0 - weight.b + weight.b * length / average)
    }))
}
