//! Going through the postings of a question's terms, one term after the other.
//!
//! An agent's index is small: adding up into one number a passage is several times quicker than
//! walking all postings side by side, and tells at once which words each passage contains.

use std::cell::RefCell;

use tantivy::schema::IndexRecordOption;

use super::coverage::Found;
use super::lookup::{Looked, Place, bit};
use crate::search::snapshot::Segment;
use crate::search::weights::WEIGHTS;

/// Scores of the passages of a segment, and what was found in each.
#[derive(Default)]
pub(super) struct Scratch {
    scores: Vec<f32>,
    found: Vec<Found>,
}

/// Lends this thread's scratch.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with_borrow_mut(work)
}

impl Scratch {
    /// Scores every passage of a segment.
    pub(super) fn score(
        &mut self,
        segment: &Segment,
        number: usize,
        looked: &Looked<'_>,
    ) -> tantivy::Result<()> {
        let documents = segment.max_doc as usize;
        self.scores.clear();
        self.scores.resize(documents, 0.0);
        self.found.clear();
        self.found.resize(documents, Found::default());
        for (index, word) in looked.words.iter().enumerate() {
            let found = Found { words: bit(index), pieces: 0 };
            for place in word.places.iter().filter(|place| place.segment == number) {
                self.add(segment, place, word.weight, found)?;
            }
        }
        for extra in looked.extras.iter().filter(|extra| extra.place.segment == number) {
            self.add(segment, &extra.place, extra.weight, Found { words: 0, pieces: extra.bit })?;
        }
        Ok(())
    }

    /// Score and what was found of each passage, in order.
    pub(super) fn passages(&self) -> impl Iterator<Item = (f32, Found)> {
        self.scores.iter().copied().zip(self.found.iter().copied())
    }

    fn add(
        &mut self,
        segment: &Segment,
        place: &Place,
        rarity: f32,
        bits: Found,
    ) -> tantivy::Result<()> {
        let (Some(field), Some(weight)) =
            (segment.fields.get(place.field), WEIGHTS.get(place.field))
        else {
            return Ok(());
        };
        let factor = rarity * weight.weight * (weight.k1 + 1.0);
        let mut postings = field
            .terms
            .read_block_postings_from_terminfo(&place.info, IndexRecordOption::WithFreqs)?;
        while postings.block_len() > 0 {
            for (document, frequency) in postings.docs().iter().zip(postings.freqs()) {
                let index = *document as usize;
                let norm = field.norms.get(usize::from(field.lengths.fieldnorm_id(*document)));
                let (Some(score), Some(found), Some(norm)) =
                    (self.scores.get_mut(index), self.found.get_mut(index), norm)
                else {
                    continue;
                };
                let frequency = *frequency as f32;
                *score += factor * frequency / (frequency + norm);
                found.words |= bits.words;
                found.pieces |= bits.pieces;
            }
            postings.advance();
        }
        Ok(())
    }
}
