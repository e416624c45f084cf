//! Changing an index: one commit a change, and nothing of what was deleted left behind.
//!
//! Segments are written here and handed to tantivy's writer, rather than passage by passage to its
//! indexing thread: that allots and clears 15 MB first, which is most of the cost of a small change.

use cicerone_domain::{Id, Passage, kind};
use tantivy::index::Segment;
use tantivy::indexer::{
    AddOperation, IndexWriterOptions, LogMergePolicy, MergePolicy, NoMergePolicy, SegmentWriter,
};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::schema::{self, Fields};
use super::{Held, Payload, Store};

/// What a segment being written takes at first; it grows with its passages.
const INITIAL_BYTES: usize = 2_000_000;
/// From this much a segment is finished and another begun.
const SEGMENT_BYTES: usize = 40_000_000;
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
    /// The segment that passages are added to.
    segment: Option<(Segment, SegmentWriter)>,
}

impl Writer {
    /// A writer of `store`. There can be one at a time.
    pub(crate) fn open(store: &Store) -> tantivy::Result<Self> {
        let options =
            IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1).build();
        let writer: IndexWriter = store.index.writer_with_options(options)?;
        // Merging is done in `tidy`, where it can be waited for.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { index: store.index.clone(), fields: store.fields, writer, segment: None })
    }

    /// Removes the passages of the document of that key, not those that were added since this writer
    /// was opened.
    pub(crate) fn remove(&self, document: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.document, document));
    }

    /// Adds a passage of the document of that key.
    pub(crate) fn add(
        &mut self,
        source: Id<kind::Source>,
        document: &str,
        passage: Passage,
    ) -> tantivy::Result<()> {
        let document = schema::document(&self.fields, document, source, passage)
            .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))?;
        self.add_document(document)
    }

    fn add_document(&mut self, document: TantivyDocument) -> tantivy::Result<()> {
        let (segment, mut writer) = match self.segment.take() {
            Some(begun) => begun,
            None => {
                let segment = self.index.new_segment();
                (segment.clone(), SegmentWriter::for_segment(INITIAL_BYTES, segment)?)
            }
        };
        // The stamp orders additions and deletions within one segment; here there are only additions.
        writer.add_document(AddOperation { opstamp: 0, document })?;
        let is_full = writer.mem_usage() >= SEGMENT_BYTES;
        self.segment = Some((segment, writer));
        if is_full { self.finish_segment() } else { Ok(()) }
    }

    fn finish_segment(&mut self) -> tantivy::Result<()> {
        let Some((segment, writer)) = self.segment.take() else { return Ok(()) };
        let passages = writer.max_doc();
        writer.finalize()?;
        self.writer.add_segment(segment.with_max_doc(passages).meta().clone())
    }

    /// Makes all changes visible at once: from now on the index holds `held`.
    pub(crate) fn commit(&mut self, held: Held) -> tantivy::Result<()> {
        self.finish_segment()?;
        let payload = Payload { schema: schema::VERSION, held: Some(held) };
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
