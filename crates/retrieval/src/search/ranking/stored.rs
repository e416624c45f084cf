//! What the words of stored questions weigh, by which is measured how much of a stored question is asked.

use std::collections::HashMap;

use tantivy::schema::IndexRecordOption;

use super::lookup::question_weight;
use crate::search::snapshot::{QUESTIONS, Segment, Snapshot};
use crate::store::is_small_word;

/// The weight of each passage's question, by the number of the passage; 0 for all but pairs.
pub(in crate::search) fn weigh(snapshot: &Snapshot) -> tantivy::Result<Vec<f32>> {
    let mut weighed = vec![0.0; snapshot.numbers() as usize];
    let mut frequencies: HashMap<Vec<u8>, u64> = HashMap::new();
    for segment in &snapshot.segments {
        let Some(questions) = segment.fields.get(QUESTIONS) else { continue };
        let mut words = questions.terms.terms().stream()?;
        while words.advance() {
            let frequency = u64::from(words.value().doc_freq);
            match frequencies.get_mut(words.key()) {
                Some(known) => *known += frequency,
                None => {
                    frequencies.insert(words.key().to_vec(), frequency);
                }
            }
        }
    }
    for segment in &snapshot.segments {
        weigh_segment(snapshot, segment, &frequencies, &mut weighed)?;
    }
    Ok(weighed)
}

fn weigh_segment(
    snapshot: &Snapshot,
    segment: &Segment,
    frequencies: &HashMap<Vec<u8>, u64>,
    weighed: &mut [f32],
) -> tantivy::Result<()> {
    let Some(questions) = segment.fields.get(QUESTIONS) else { return Ok(()) };
    let mut words = questions.terms.terms().stream()?;
    while words.advance() {
        let frequency = frequencies.get(words.key()).copied().unwrap_or_default();
        let weight = question_weight(snapshot, frequency, is_small_word(words.key()));
        let mut postings = questions
            .terms
            .read_block_postings_from_terminfo(words.value(), IndexRecordOption::Basic)?;
        while postings.block_len() > 0 {
            for document in postings.docs() {
                let number = (segment.first + document) as usize;
                if let Some(weighed) = weighed.get_mut(number) {
                    *weighed += weight;
                }
            }
            postings.advance();
        }
    }
    Ok(())
}
