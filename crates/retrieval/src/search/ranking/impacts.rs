//! What a term adds to the score of the passages that have it, before its rarity and its field's
//! weight: the saturated frequency of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance
//! Framework", 2009).

use tantivy::schema::IndexRecordOption;

use crate::search::snapshot::{Segment, Snapshot};

/// What a term adds to one passage.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct Impact {
    /// The number of the passage in its snapshot.
    pub(in crate::search) number: u32,
    /// The saturated frequency, from 0 to 1.
    pub(in crate::search) value: f32,
}

/// Reads what `term` adds in a field, over all segments of an index. Deleted passages are left out.
pub(super) fn read(snapshot: &Snapshot, field: usize, term: &str) -> tantivy::Result<Vec<Impact>> {
    let mut impacts = Vec::new();
    for segment in &snapshot.segments {
        add(segment, field, term, &mut impacts)?;
    }
    Ok(impacts)
}

fn add(
    segment: &Segment,
    field: usize,
    term: &str,
    impacts: &mut Vec<Impact>,
) -> tantivy::Result<()> {
    let Some(field) = segment.fields.get(field) else { return Ok(()) };
    let Some(info) = field.terms.terms().get(term.as_bytes())? else { return Ok(()) };
    impacts.reserve(info.doc_freq as usize);
    let mut postings =
        field.terms.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
    while postings.block_len() > 0 {
        for (document, frequency) in postings.docs().iter().zip(postings.freqs()) {
            let norm = field.norms.get(usize::from(field.lengths.fieldnorm_id(*document)));
            let (false, Some(norm)) = (segment.reader.is_deleted(*document), norm) else {
                continue;
            };
            let frequency = *frequency as f32;
            let value = frequency / (frequency + norm);
            impacts.push(Impact { number: segment.first + document, value });
        }
        postings.advance();
    }
    Ok(())
}
