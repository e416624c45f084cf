//! Changing an index: one commit a change, and nothing of what was deleted left behind.

use cicerone_domain::{Id, Passage, kind};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::{Index, IndexWriter, Term};

use super::schema::{self, Fields};
use super::{Payload, Store};

/// The least that the indexing thread takes; it is given back when the writer goes.
const MEMORY_BYTES: usize = 15_000_000;
/// A segment of more passages is left alone when small ones are merged, which bounds what a
/// deletion has to write again.
const LARGE_SEGMENT_PASSAGES: usize = 5_000;
/// Segments of about the same size from which they are merged.
const SEGMENTS_TO_MERGE: usize = 4;
/// Below this, segments count as of the same size.
const SMALL_SEGMENT_PASSAGES: u32 = 100;

/// A change under way. What is not committed did not happen.
pub(crate) struct Writer {
    index: Index,
    fields: Fields,
    writer: IndexWriter,
}

impl Writer {
    /// A writer of `store`. There can be one at a time.
    pub(crate) fn open(store: &Store) -> tantivy::Result<Self> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(MEMORY_BYTES)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter = store.index.writer_with_options(options)?;
        // Merging is done in `tidy`, where it can be waited for.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { index: store.index.clone(), fields: store.fields, writer })
    }

    /// Removes the passages of a content.
    pub(crate) fn remove(&self, content: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.content, content));
    }

    /// Adds the passages of a source's content.
    pub(crate) fn add(
        &self,
        source: Id<kind::Source>,
        version: u64,
        passages: Vec<Passage>,
    ) -> tantivy::Result<()> {
        let content = schema::content_key(source, version);
        for passage in passages {
            let document = schema::document(&self.fields, &content, source, passage)
                .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))?;
            self.writer.add_document(document)?;
        }
        Ok(())
    }

    /// Makes all changes visible at once, as `generation`.
    pub(crate) fn commit(&mut self, generation: u64) -> tantivy::Result<()> {
        let payload = Payload { schema: schema::VERSION, generation };
        let payload = serde_json::to_string(&payload)
            .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))?;
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&payload);
        commit.commit()?;
        Ok(())
    }

    /// Writes segments that hold deleted passages again without them, merges small ones, and removes
    /// the files of both.
    pub(crate) fn tidy(mut self) -> tantivy::Result<()> {
        let segments = self.index.searchable_segment_metas()?;
        let (with_deleted, clean): (Vec<_>, Vec<_>) =
            segments.into_iter().partition(tantivy::SegmentMeta::has_deletes);
        for segment in with_deleted {
            self.writer.merge(&[segment.id()]).wait()?;
        }
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(SEGMENTS_TO_MERGE);
        policy.set_min_layer_size(SMALL_SEGMENT_PASSAGES);
        policy.set_max_docs_before_merge(LARGE_SEGMENT_PASSAGES);
        for candidate in policy.compute_merge_candidates(&clean) {
            self.writer.merge(&candidate.0).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()
    }
}
