//! Changes an index: one commit for each change, after which nothing of deleted passages is left.
//!
//! Whole segments are written here and passed to tantivy's writer. Its own indexing thread first
//! allocates and clears 15 MB, which would be most of the cost of a small change.

use cicerone_domain::content::StoredPassage;
use cicerone_domain::{Id, kind};
use tantivy::index::Segment;
use tantivy::indexer::{
    AddOperation, IndexWriterOptions, LogMergePolicy, MergePolicy, NoMergePolicy, SegmentWriter,
};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::schema::{self, Fields};
use super::{Held, Payload, Store};

/// The initial memory of a segment. It grows with its passages.
const INITIAL_BYTES: usize = 2_000_000;
/// The size at which a segment is finished and the next one begun. It is most of the memory that a
/// large source takes.
const SEGMENT_BYTES: usize = 24_000_000;
/// Segments with more passages are not merged with small ones. This limits what a deletion has to
/// rewrite.
const LARGE_SEGMENT_PASSAGES: usize = 5_000;
/// This many segments of about the same size are merged.
const SEGMENTS_TO_MERGE: usize = 4;
/// Smaller segments count as being of the same size.
const SMALL_SEGMENT_PASSAGES: u32 = 100;

/// A change in progress. It has no effect until it is committed.
pub(crate) struct Writer {
    index: Index,
    fields: Fields,
    writer: IndexWriter,
    /// The segment to which passages are added.
    segment: Option<(Segment, SegmentWriter)>,
}

impl Writer {
    /// Opens the writer of `store`. There can be only one at a time.
    pub(crate) fn open(store: &Store) -> tantivy::Result<Self> {
        let options =
            IndexWriterOptions::builder().num_worker_threads(1).num_merge_threads(1).build();
        let writer: IndexWriter = store.index.writer_with_options(options)?;
        // `tidy` merges segments and waits for the end.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { index: store.index.clone(), fields: store.fields, writer, segment: None })
    }

    /// Removes the passages of a document, except those that this writer added.
    pub(crate) fn remove(&self, document: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.document, document));
    }

    /// Adds a passage of a document.
    pub(crate) fn add(
        &mut self,
        source: Id<kind::Source>,
        document: &str,
        passage: StoredPassage,
    ) -> tantivy::Result<()> {
        let analysed = schema::analyse(source, passage);
        let document = schema::document(&self.fields, document, analysed)
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
        // The stamp orders additions and deletions within a segment; there are only additions here.
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

    /// Commits all changes at once. Afterwards the index has the content `held`.
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

    /// Rewrites segments without their deleted passages, merges small segments, and removes the old
    /// files.
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
