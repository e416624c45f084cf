//! Changes an index: one commit for each change, after which nothing of deleted passages is left.
//!
//! Whole segments are written here and passed to tantivy's writer. Its own indexing thread first
//! allocates and clears 15 MB, which would be most of the cost of a small change.

use cicerone_domain::content::StoredPassage;
use cicerone_domain::{Id, kind};
use tantivy::index::{Segment, SegmentId};
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
const LARGE_SEGMENT_PASSAGES: u32 = 5_000;
/// This many segments of about the same size are merged.
const SEGMENTS_TO_MERGE: usize = 4;
/// Smaller segments count as being of the same size.
const SMALL_SEGMENT_PASSAGES: u32 = 100;

/// Segments that are merged because the content is unchanged have at most this many passages together. A deletion rewrites
/// its segment, and the next question waits for that.
const MERGED_SEGMENT_PASSAGES: u32 = 1_000;
/// A segment that has more than this many times the passages of all smaller ones together is not merged with them. So an
/// added passage causes only a few others to be rewritten.
const MUCH_LARGER: u32 = 10;

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
        policy.set_max_docs_before_merge(LARGE_SEGMENT_PASSAGES as usize);
        for candidate in policy.compute_merge_candidates(&clean) {
            self.writer.merge(&candidate.0).wait()?;
        }
        // tantivy keeps the files of a segment as long as its metadata is in memory.
        drop(clean);
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()
    }

    /// Merges the segments of an index whose content has not changed for a while into as few as the bounds on their size
    /// allow, and removes the old files. Returns whether it merged any.
    pub(crate) fn merge_segments(mut self) -> tantivy::Result<bool> {
        let segments = self.index.searchable_segment_metas()?;
        let sizes = segments.iter().map(|segment| (segment.num_docs(), segment.id())).collect();
        let groups = groups(sizes);
        // tantivy keeps the files of a segment as long as its metadata is in memory.
        drop(segments);
        for group in &groups {
            self.writer.merge(group).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        self.writer.wait_merging_threads()?;
        Ok(!groups.is_empty())
    }
}

/// The segments that are to be merged with each other, from the number of passages of each segment.
pub(crate) fn groups(mut segments: Vec<(u32, SegmentId)>) -> Vec<Vec<SegmentId>> {
    segments.sort();
    let mut groups: Vec<(u32, Vec<SegmentId>)> = Vec::new();
    for (passages, segment) in segments {
        match groups.last_mut() {
            Some((sum, group))
                if passages <= sum.saturating_mul(MUCH_LARGER)
                    && sum.saturating_add(passages) <= MERGED_SEGMENT_PASSAGES =>
            {
                *sum += passages;
                group.push(segment);
            }
            _ => groups.push((passages, vec![segment])),
        }
    }
    groups.into_iter().map(|(_, group)| group).filter(|group| group.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use tantivy::index::SegmentId;

    use super::groups;

    /// The numbers of passages of the segments that are merged.
    fn merged(sizes: &[u32]) -> Vec<Vec<u32>> {
        let segments: Vec<(u32, SegmentId)> =
            sizes.iter().map(|size| (*size, SegmentId::generate_random())).collect();
        let size = |id: &SegmentId| segments.iter().find(|(_, other)| other == id).unwrap().0;
        let groups = groups(segments.clone());
        groups.iter().map(|group| group.iter().map(size).collect()).collect()
    }

    #[test]
    fn segments_are_merged_unless_the_result_or_the_difference_is_large() {
        assert_eq!(merged(&[1_500, 300, 150, 50]), [[50, 150, 300]]);
        assert_eq!(merged(&[10, 100]), [[10, 100]]);
        assert_eq!(merged(&[10, 101]), [[0; 0]; 0]);
        assert_eq!(merged(&[2, 1, 900]), [[1, 2]]);
        assert_eq!(merged(&[600, 400]), [[400, 600]]);
        assert_eq!(merged(&[600, 401]), [[0; 0]; 0]);
        assert_eq!(merged(&[800, 800, 100, 100]), [[100, 100, 800]]);
        assert_eq!(merged(&[7]), [[0; 0]; 0]);
    }
}
