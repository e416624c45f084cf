//! The index of one agent on the disk: opening, changing, and taking snapshots.

mod directory;
mod exhaustion;
mod schema;
mod writer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cicerone_domain::{Id, kind};
use serde::{Deserialize, Serialize};
use tantivy::schema::Field;
use tantivy::{IndexReader, IndexSettings, ReloadPolicy, Searcher};

use directory::UnsyncedDirectory;
pub(crate) use schema::{
    ANSWERS, Fields, GRAMS, NO_LANGUAGE, PAIRS, QUESTION_GRAMS, QUESTIONS, Record, SCORED,
    WORD_FIELDS, analyse, document_key, exact_key, is_small_word, neighbours, pair, small_word,
};
pub(crate) use writer::{Writer, groups};

/// The file that describes the last commit.
const META: &str = "meta.json";
/// Unpacked blocks of stored passages that an open index caches, 8 KiB each.
const STORE_CACHE_BLOCKS: usize = 16;
const STORE_BLOCK_BYTES: usize = 8_192;

/// The payload of a commit.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    schema: u32,
    /// Missing in commits of other versions.
    #[serde(flatten)]
    held: Option<Held>,
}

/// The content of an index, according to its last commit. With it, checking an unchanged source
/// costs nothing, even if the source has no passages.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    /// The agent's generation.
    pub(crate) generation: u64,
    /// The version of each source.
    pub(crate) sources: BTreeMap<Id<kind::Source>, u64>,
}

/// Why an index cannot be used. It is rebuilt, unless the system ran out of a resource
/// ([`Unusable::is_exhaustion`]).
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// It does not exist.
    #[error("there is no index")]
    Missing,
    /// It was written by another version.
    #[error("its schema has another version")]
    OtherSchema,
    /// A file was changed after it was written.
    #[error("{0} of its files are damaged")]
    Damaged(usize),
    /// The last commit has no description of its content that this version can read.
    #[error("its commit lacks the description of its content")]
    NoPayload,
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] tantivy::TantivyError),
}

impl Unusable {
    /// Whether the system has run out of files, memory, threads or disk space, and the index itself
    /// is intact.
    pub(crate) fn is_exhaustion(&self) -> bool {
        match self {
            Self::Unreadable(error) => exhaustion::is_exhaustion(error),
            Self::Missing | Self::OtherSchema | Self::Damaged(_) | Self::NoPayload => false,
        }
    }
}

/// The open index of one agent.
#[derive(Clone)]
pub(crate) struct Store {
    index: tantivy::Index,
    fields: Fields,
}

impl Store {
    /// Creates an empty index. The folder must exist and be empty.
    pub(crate) fn create(folder: &Path) -> tantivy::Result<Self> {
        let (schema, fields) = schema::schema();
        let settings = IndexSettings {
            docstore_blocksize: STORE_BLOCK_BYTES,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        let directory = UnsyncedDirectory::open(folder)?;
        Ok(Self { index: tantivy::Index::create(directory, schema, settings)?, fields })
    }

    /// Opens the index in a folder, after verifying all checksums.
    pub(crate) fn open(folder: &Path) -> Result<Self, Unusable> {
        let store = Self::open_unverified(folder)?;
        let damaged = store.index.validate_checksum()?.len();
        if damaged > 0 {
            return Err(Unusable::Damaged(damaged));
        }
        Ok(store)
    }

    /// The same, without reading its segments.
    fn open_unverified(folder: &Path) -> Result<Self, Unusable> {
        if !folder.join(META).exists() {
            return Err(Unusable::Missing);
        }
        let (schema, fields) = schema::schema();
        let directory = UnsyncedDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
        let index = tantivy::Index::open(directory)?;
        if index.schema() != schema {
            return Err(Unusable::OtherSchema);
        }
        Ok(Self { index, fields })
    }

    /// The generation of the index in a folder, without reading its segments; `None` if its files also contain deleted
    /// passages.
    pub(crate) fn generation_of(folder: &Path) -> Result<Option<u64>, Unusable> {
        let store = Self::open_unverified(folder)?;
        let generation = store.generation()?;
        Ok(if store.holds_deleted()? { None } else { Some(generation) })
    }

    /// The content of the last commit.
    pub(crate) fn held(&self) -> Result<Held, Unusable> {
        let payload = self.index.load_metas()?.payload.ok_or(Unusable::NoPayload)?;
        let payload: Payload = serde_json::from_str(&payload).map_err(|_| Unusable::NoPayload)?;
        if payload.schema != schema::VERSION {
            return Err(Unusable::OtherSchema);
        }
        payload.held.ok_or(Unusable::NoPayload)
    }

    /// The generation of the last commit.
    pub(crate) fn generation(&self) -> Result<u64, Unusable> {
        Ok(self.held()?.generation)
    }

    /// A searcher on the last commit.
    pub(crate) fn searcher(&self) -> tantivy::Result<Searcher> {
        let reader: IndexReader = self
            .index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(STORE_CACHE_BLOCKS)
            .try_into()?;
        Ok(reader.searcher())
    }

    pub(crate) fn fields(&self) -> Fields {
        self.fields
    }

    /// The documents of a source that have passages, each with its version, in order.
    pub(crate) fn documents(
        &self,
        searcher: &Searcher,
        source: Id<kind::Source>,
    ) -> tantivy::Result<Vec<(i64, u64)>> {
        let range = schema::keys_of(source);
        let mut documents = Vec::new();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.document)?;
            let range = index.terms().range().ge(&range.start).lt(&range.end);
            let mut stream = range.into_stream()?;
            while stream.advance() {
                documents.extend(schema::read_document_key(stream.key()));
            }
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }

    /// Whether the files still contain deleted passages: in a segment, or in files that an interrupted change did not
    /// remove.
    pub(crate) fn holds_deleted(&self) -> tantivy::Result<bool> {
        let metas = self.index.load_metas()?;
        let used = metas.list_segment_files();
        let is_left = |file: &PathBuf| file.as_path() != Path::new(META) && !used.contains(file);
        Ok(metas.segments.iter().any(tantivy::SegmentMeta::has_deletes)
            || self.index.directory().list_managed_files().iter().any(is_left))
    }
}

/// Every term of a field in each segment, with the number of passages that have it.
pub(crate) fn all_terms(searcher: &Searcher, field: Field) -> tantivy::Result<Vec<(String, u32)>> {
    let mut terms = Vec::new();
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(field)?;
        let mut stream = index.terms().stream()?;
        while stream.advance() {
            let term = String::from_utf8_lossy(stream.key()).into_owned();
            terms.push((term, stream.value().doc_freq));
        }
    }
    Ok(terms)
}
