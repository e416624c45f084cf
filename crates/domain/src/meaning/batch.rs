//! Batches of a source's passages for one request, which become smaller while the model fails on them.

use std::time::Duration;

use super::Vector;
use crate::content::Passage;
use crate::limits::{self, EMBEDDED_FEWEST_CHARS as FEWEST_CHARS, EMBEDDING_TRIES as TRIES};
use crate::ports::LackingVectors;

/// The first passages of a claim that are sent together.
///
/// Each failure halves their number, down to one, and then the length of that passage. So a passage on which the model
/// fails does not prevent other passages from getting vectors, and each turn of an account is one batch.
#[derive(Debug)]
pub struct Batch {
    passages: Vec<(i64, String)>,
    /// The maximum number of passages of a batch.
    most: usize,
    /// How often the source was halved.
    halvings: u32,
    /// How often this batch is halved.
    taken: u32,
    /// Whether the text of its only passage has the minimum length.
    is_shortest: bool,
}

impl Batch {
    /// The next batch of a source, of at most `most` passages. It is halved at least `least` times; a text is not cut
    /// for that alone.
    pub fn of(lacking: &LackingVectors, most: usize, least: u32) -> Self {
        let most = most.max(1);
        let halvings = lacking.halvings;
        let taken = halvings.max(least.min(alone(most)));
        let count = most >> taken.min(alone(most));
        let cuts = taken.saturating_sub(alone(most));
        let mut is_shortest = true;
        let passages = lacking.passages.iter().take(count).map(|passage| {
            let text = text(passage);
            let chars = text.chars().count().checked_shr(cuts).unwrap_or_default();
            is_shortest &= chars <= FEWEST_CHARS;
            let text = if cuts == 0 { text } else { beginning(text, chars.max(FEWEST_CHARS)) };
            (passage.position, text)
        });
        let passages = passages.collect();
        Self { passages, most, halvings, taken, is_shortest }
    }

    /// The texts that are sent.
    pub fn texts(&self) -> Vec<String> {
        self.passages.iter().map(|(_, text)| text.clone()).collect()
    }

    /// The positions of the passages with their vectors.
    pub fn with(&self, vectors: Vec<Vector>) -> Vec<(i64, Option<Vector>)> {
        self.positions().zip(vectors.into_iter().map(Some)).collect()
    }

    /// The positions of the passages, which get no vector.
    pub fn without_vectors(&self) -> Vec<(i64, Option<Vector>)> {
        self.positions().map(|position| (position, None)).collect()
    }

    fn positions(&self) -> impl Iterator<Item = i64> {
        self.passages.iter().map(|(position, _)| *position)
    }

    /// The halvings of the next batch of the source after this one was stored: twice as much is sent, with whole
    /// texts.
    pub fn after_success(&self) -> u32 {
        self.halvings.min(alone(self.most)).saturating_sub(1)
    }

    /// The halvings of the next attempt after the model failed on this one; `None` if it produces no vector even for
    /// the shortest text of the only passage.
    pub fn after_failure(&self) -> Option<u32> {
        let alone = alone(self.most);
        if self.passages.len() > 1 {
            let is_less = |halvings: &u32| self.most >> halvings < self.passages.len();
            return (self.taken + 1..=alone).find(is_less).or(Some(alone));
        }
        let tries = (self.taken + 1).saturating_sub(alone);
        if tries >= TRIES && self.is_shortest {
            return None;
        }
        Some((self.taken + 1).max(alone))
    }
}

/// By how many halvings batches of all sources are smaller after one more request was refused for the number or size of
/// its texts.
pub fn reduced(halvings: u32) -> u32 {
    halvings.saturating_add(1).min(limits::EMBEDDING_REDUCTIONS)
}

/// How long a source waits after the model failed on its texts in a request of this duration. So texts that take long
/// to fail use a small part of the time in which vectors are made.
pub fn wait_after_failure(took: Duration) -> Duration {
    let most = Duration::from_millis(limits::EMBEDDING_FAILURE_WAIT_MILLIS);
    took.saturating_mul(limits::EMBEDDING_FAILURE_FACTOR).min(most)
}

/// After this many halvings, a passage is sent alone.
fn alone(most: usize) -> u32 {
    most.checked_ilog2().unwrap_or_default()
}

/// The text of a passage that is embedded: its subject, then its content.
fn text(passage: &Passage) -> String {
    let about = [passage.title.as_deref(), passage.heading.as_deref()];
    let mut text = String::new();
    for part in about.into_iter().flatten().filter(|part| !passage.text.starts_with(part)) {
        text.push_str(part);
        text.push('\n');
    }
    text.push_str(&passage.text);
    text
}

/// At most the first `chars` characters of a text.
fn beginning(mut text: String, chars: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Batch, FEWEST_CHARS, reduced, wait_after_failure};
    use crate::content::Passage;
    use crate::ports::LackingVectors;

    fn lacking(texts: &[String], halvings: u32) -> LackingVectors {
        let passage = |(position, text): (i64, &String)| Passage {
            position,
            title: None,
            heading: None,
            url: None,
            page: None,
            text: text.clone(),
            is_pair: false,
            language: None,
        };
        LackingVectors {
            account: "acct_aaaaaaaaaa".parse().unwrap(),
            source: "src_aaaaaaaaaa".parse().unwrap(),
            version: 1,
            passages: (0..).zip(texts).map(passage).collect(),
            halvings,
        }
    }

    /// Embeds passages with a model that fails where `fails` says so. Gives the texts that got a vector, with those of
    /// them that were sent last, and the number of requests.
    fn embed(
        texts: &[String],
        most: usize,
        fails: impl Fn(&str) -> bool,
    ) -> (Vec<Option<String>>, usize) {
        let (mut made, mut halvings, mut requests) = (Vec::new(), 0, 0);
        while made.len() < texts.len() {
            requests += 1;
            let batch = Batch::of(&lacking(&texts[made.len()..], halvings), most, 0);
            let sent = batch.texts();
            assert!(!sent.is_empty() && sent.len() <= most);
            if !sent.iter().any(|text| fails(text)) {
                made.extend(sent.into_iter().map(Some));
                halvings = batch.after_success();
            } else if let Some(next) = batch.after_failure() {
                halvings = next;
            } else {
                assert_eq!(sent.len(), 1);
                made.push(None);
                halvings = batch.after_success();
            }
        }
        (made, requests)
    }

    #[test]
    fn failures_reduce_batches_and_delay_a_source_within_bounds() {
        assert_eq!([0, 5, 6, u32::MAX].map(reduced), [1, 6, 6, 6]);
        let waits = [0, 1_500, 60_000, 60_001].map(Duration::from_millis).map(wait_after_failure);
        assert_eq!(waits.map(|wait| wait.as_millis()), [0, 15_000, 600_000, 600_000]);
        assert_eq!(wait_after_failure(Duration::MAX).as_secs(), 600);
    }

    #[test]
    fn one_passage_that_the_model_fails_at_keeps_no_other_from_its_whole_vector() {
        for (most, count) in [(1, 3), (2, 5), (5, 40), (64, 3), (64, 200)] {
            for bad in [0, 1, count - 1] {
                let texts: Vec<String> = (0..count)
                    .map(|n| if n == bad { "bad".into() } else { format!("{n}") })
                    .collect();
                let (made, requests) = embed(&texts, most, |text| text.contains("bad"));
                for (number, (made, text)) in made.iter().zip(&texts).enumerate() {
                    assert_eq!(made.as_ref(), (number != bad).then_some(text), "{most} {count}");
                }
                let fewest = count / most;
                assert!(requests <= fewest + 30, "{most} {count} {bad}: {requests}");
            }
        }
    }

    #[test]
    fn a_passage_that_is_too_long_is_shortened_and_the_next_ones_are_not() {
        let long = "four ".repeat(400);
        let texts = ["one".to_owned(), long.clone(), "three".to_owned(), "6".repeat(290)];
        let (made, _) = embed(&texts, 4, |text| text.len() > 300);
        let lengths: Vec<usize> = made.iter().map(|text| text.as_ref().unwrap().len()).collect();
        assert_eq!(lengths, [3, 250, 5, 290]);
        assert!(long.starts_with(made[1].as_deref().unwrap()));
    }

    #[test]
    fn a_passage_is_tried_three_times_and_until_it_is_short() {
        for (chars, tries) in [(1, 3), (FEWEST_CHARS, 3), (8 * FEWEST_CHARS, 4), (100_000, 10)] {
            let (made, requests) = embed(&["x".repeat(chars)], 1, |_| true);
            assert_eq!((made, requests), (vec![None], tries), "{chars}");
        }
    }

    #[test]
    fn a_model_that_takes_less_at_once_gets_less_but_whole_texts() {
        let texts = vec!["x".repeat(1_000); 8];
        for (least, count) in [(0, 8), (1, 4), (3, 1), (9, 1)] {
            let sent = Batch::of(&lacking(&texts, 0), 8, least).texts();
            assert_eq!((sent.len(), sent[0].len()), (count, 1_000), "{least}");
        }
    }
}
