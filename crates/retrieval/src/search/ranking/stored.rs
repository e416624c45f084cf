//! The weights of the words in stored questions, which show how much of a stored question was
//! asked.

use std::collections::HashMap;

use super::lookup::question_weight;
use crate::search::snapshot::Snapshot;
use crate::store::is_small_word;

/// The weight of each passage's question, by the number of the passage; 0 for all but pairs.
pub(in crate::search) fn weigh(snapshot: &Snapshot) -> tantivy::Result<Vec<f32>> {
    let mut frequencies: HashMap<Vec<u8>, u64> = HashMap::new();
    snapshot.content.question_words(|word, passages| {
        let frequency = passages.len() as u64;
        match frequencies.get_mut(word) {
            Some(known) => *known += frequency,
            None => {
                frequencies.insert(word.to_vec(), frequency);
            }
        }
    })?;
    let mut weighed = vec![0.0; snapshot.content.numbers() as usize];
    snapshot.content.question_words(|word, passages| {
        let frequency = frequencies.get(word).copied().unwrap_or_default();
        let weight = question_weight(snapshot, frequency, is_small_word(word));
        for number in passages {
            if let Some(weighed) = weighed.get_mut(*number as usize) {
                *weighed += weight;
            }
        }
    })?;
    Ok(weighed)
}
