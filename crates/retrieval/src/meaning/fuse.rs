//! Combines two rankings, by words and by meaning, into one.
//!
//! Both scores are normalised to 0 to 1 and added with weights. Ranks alone would not show how much
//! better the best passage is.

use std::collections::HashMap;

use cicerone_domain::retrieval::{Found, Hit};
use cicerone_domain::{Id, kind};

/// The number of best passages of either ranking that are considered.
pub(crate) const WINDOW: usize = 64;
/// From this score by words on, a passage is a pair whose question matches exactly; it stays first.
const EXACT: f32 = 500.0;

/// A passage that is close to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Close {
    pub(super) source: Id<kind::Source>,
    /// The version of the source's content.
    pub(super) version: u64,
    pub(super) position: i64,
    pub(super) cosine: f32,
}

/// How close passages are to a question.
pub(crate) struct Closeness {
    cosines: HashMap<(Id<kind::Source>, i64), f32>,
    /// Those of the passages found by words, in their order; `None` for a passage without a vector.
    known: Vec<Option<f32>>,
    highest: f32,
    lowest: f32,
    floor: f32,
}

impl Closeness {
    pub(super) fn new(close: Vec<Close>, known: Vec<Option<f32>>, lowest: f32, floor: f32) -> Self {
        let highest = close.first().map_or(lowest, |close| close.cosine);
        let cosines = close.into_iter().map(|close| ((close.source, close.position), close.cosine));
        Self { cosines: cosines.collect(), known, highest, lowest, floor }
    }

    /// A cosine between 0 and 1, relative to the closest passages.
    fn normalised(&self, cosine: f32) -> f32 {
        let range = self.highest - self.lowest;
        if range > 0.0 { ((cosine - self.lowest) / range).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// How sure it is that a passage this close is the answer, on the scale of search by words: a
    /// cosine at the space's floor corresponds to the agent's `floor`.
    fn confidence(&self, cosine: f32, floor: f32) -> f32 {
        if cosine < self.floor {
            let share = if self.floor > 0.0 { (cosine / self.floor).max(0.0) } else { 0.0 };
            return floor * share;
        }
        let above = (cosine - self.floor) / (1.0 - self.floor).max(f32::EPSILON);
        floor + (1.0 - floor) * above.min(1.0)
    }
}

/// Adds passages that are close in meaning to those found by words; `others` are the passages found
/// only by meaning.
pub(crate) fn fuse(
    found: Found,
    closeness: &Closeness,
    others: Vec<Hit>,
    question: &str,
    weight: f32,
    limit: usize,
) -> Found {
    let Found { hits, terms, mut confidence, floor } = found;
    let highest = hits.first().map_or(0.0, |hit| hit.score);
    let is_exact = highest >= EXACT;
    let known = closeness.known.iter().copied().map(Some).chain(std::iter::repeat(None));
    let others = others.into_iter().map(|hit| (hit, None));
    let mut fused = Vec::new();
    for (mut hit, known) in hits.into_iter().zip(known).chain(others) {
        let by_words = if highest > 0.0 { (hit.score / highest).clamp(0.0, 1.0) } else { 0.0 };
        let cosine = match known {
            Some(cosine) => cosine,
            None => closeness.cosines.get(&(hit.source_id, hit.position)).copied(),
        };
        // A passage without a vector counts by its score by words alone.
        let by_meaning = cosine.map_or(by_words, |cosine| closeness.normalised(cosine));
        let is_same = is_exact && hit.score >= EXACT;
        hit.score = if is_same { 1.0 } else { weight * by_meaning + (1.0 - weight) * by_words };
        let sure = cosine.map_or(0.0, |cosine| closeness.confidence(cosine, floor));
        if sure >= floor && cosine.is_some() && has_numbers(&hit, question) {
            hit.is_relevant = true;
            confidence = confidence.max(sure);
        }
        fused.push((!is_same, hit));
    }
    fused.sort_by(|(after, one), (other_after, other)| {
        after
            .cmp(other_after)
            .then_with(|| other.score.total_cmp(&one.score))
            .then_with(|| (one.source_id, one.position).cmp(&(other.source_id, other.position)))
    });
    fused.truncate(limit);
    let hits = fused.into_iter().map(|(_, hit)| hit).collect();
    Found { hits, terms, confidence, floor }
}

/// Whether a passage contains every number of a question: a text close in meaning may be about
/// another number.
fn has_numbers(hit: &Hit, question: &str) -> bool {
    let numbers = question
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()));
    let title = hit.title.as_deref().unwrap_or_default();
    let words = || {
        let texts = [title, hit.heading.as_deref().unwrap_or_default(), &hit.text];
        texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
    };
    numbers.into_iter().all(|number| words().any(|word| word.eq_ignore_ascii_case(number)))
}

#[cfg(test)]
mod tests {
    use cicerone_domain::retrieval::{Found, Hit};
    use cicerone_domain::{Id, kind};

    use super::{Close, Closeness, fuse};

    fn source() -> Id<kind::Source> {
        "src_aaaaaaaaaa".parse().unwrap()
    }

    fn hit(position: i64, score: f32, text: &str) -> Hit {
        Hit {
            source_id: source(),
            document_id: "doc_aaaaaaaaaa".parse().unwrap(),
            position,
            title: None,
            heading: None,
            url: None,
            page: None,
            text: text.into(),
            is_pair: false,
            language: None,
            score,
            coverage: 0.0,
            is_relevant: false,
        }
    }

    fn close(position: i64, cosine: f32) -> Close {
        Close { source: source(), version: 1, position, cosine }
    }

    fn found(hits: Vec<Hit>) -> Found {
        Found { hits, terms: Vec::new(), confidence: 0.1, floor: 0.25 }
    }

    fn order(found: &Found) -> Vec<i64> {
        found.hits.iter().map(|hit| hit.position).collect()
    }

    #[test]
    fn what_both_find_comes_before_what_one_finds() {
        let by_words = vec![hit(1, 10.0, "one"), hit(2, 9.0, "two"), hit(3, 2.0, "three")];
        let closest = vec![close(4, 0.8), close(2, 0.75), close(1, 0.1)];
        let known = vec![Some(0.1), Some(0.75), None];
        let closeness = Closeness::new(closest, known, 0.1, 0.7);
        let fused = fuse(found(by_words), &closeness, vec![hit(4, 0.0, "four")], "why?", 0.5, 9);
        assert_eq!(order(&fused), [2, 1, 4, 3]);
        let relevant: Vec<bool> = fused.hits.iter().map(|hit| hit.is_relevant).collect();
        assert_eq!(relevant, [true, false, true, false], "those above the floor of meaning");
        assert!(fused.confidence > 0.25, "{}", fused.confidence);
    }

    #[test]
    fn a_number_that_a_passage_lacks_is_not_made_up_for_by_meaning() {
        let closest = || vec![close(1, 0.9), close(2, 0.8)];
        let closeness = Closeness::new(closest(), Vec::new(), 0.0, 0.7);
        let others = vec![hit(1, 0.0, "Room 12 is closed."), hit(2, 0.0, "Room 14 is closed.")];
        let fused = fuse(found(Vec::new()), &closeness, others, "Is chamber 14 shut?", 0.5, 9);
        let relevant: Vec<bool> = fused.hits.iter().map(|hit| hit.is_relevant).collect();
        assert_eq!((order(&fused), relevant), (vec![1, 2], vec![false, true]));
    }

    #[test]
    fn a_pair_that_is_asked_word_by_word_stays_first() {
        let by_words = vec![hit(1, 1_009.0, "one"), hit(2, 9.0, "two")];
        let closest = vec![close(2, 0.9), close(1, 0.0)];
        let closeness = Closeness::new(closest, vec![Some(0.0), Some(0.9)], 0.0, 0.7);
        let fused = fuse(found(by_words), &closeness, Vec::new(), "two?", 1.0, 1);
        assert_eq!(order(&fused), [1]);
    }
}
