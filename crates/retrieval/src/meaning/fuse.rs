//! Combines two rankings, by words and by meaning, into one.
//!
//! Both scores are normalised to 0 to 1 and added with weights. Ranks alone would not show how much
//! better the best passage is.

mod numbers;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::meaning::Space;
use cicerone_domain::ports::PassageAt;
use cicerone_domain::retrieval::{Found, Hit};
use cicerone_domain::{Id, kind};

use self::numbers::Numbers;

/// The number of best passages of either ranking that are considered.
pub(crate) const WINDOW: usize = 64;
/// The number of best passages that decide whether a question is answered, as in the search by words. The best ones by
/// words decide too, so that what they answer does not depend on what is near.
const LEADING: usize = 2;
/// From this score by words on, a passage is a pair whose question matches exactly; it stays first.
const EXACT: f32 = 500.0;

/// A source and the position of a passage in it.
type Key = (Id<kind::Source>, i64);

/// A passage that is close to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Close {
    pub(super) at: PassageAt,
    pub(super) cosine: f32,
}

impl Close {
    pub(super) fn key(&self) -> Key {
        (self.at.source, self.at.position)
    }
}

/// How close passages are to a question.
pub(super) struct Closeness {
    /// The closest passages, closest first.
    pub(super) closest: Vec<Close>,
    /// The cosines of the passages found by words, in their order; `None` for a passage without a vector.
    pub(super) known: Vec<Option<f32>>,
    /// The mean cosine of all passages of the agent.
    pub(super) mean: f32,
    /// The cosine of passages about other things.
    pub(super) background: f32,
    /// The space of the vectors.
    pub(super) space: Arc<Space>,
}

impl Closeness {
    /// A function that gives a cosine as a number between 0, for the mean of all passages, and 1, for the closest one.
    fn normalised(&self) -> impl Fn(f32) -> f32 {
        let highest = self.closest.first().map_or(0.0, |close| close.cosine);
        let lowest = self.mean;
        let range = highest - lowest;
        move |cosine| {
            if range > 0.0 {
                ((cosine - lowest) / range).clamp(0.0, 1.0)
            } else {
                f32::from(u8::from(cosine >= highest))
            }
        }
    }
}

/// A passage in the ranking of both.
struct Ranked {
    passage: Which,
    score: f32,
    /// How sure it is, by words and by meaning, that the passage is an answer.
    sure: f32,
    /// How sure it is by words alone.
    by_words: f32,
    /// Whether it is one of the best by words.
    leads_by_words: bool,
    /// Whether it is a pair whose question matches exactly.
    is_same: bool,
}

/// A passage that words found, or the place of one that only meaning found.
enum Which {
    Found(Hit),
    Close(PassageAt),
}

impl Which {
    fn key(&self) -> Key {
        match self {
            Self::Found(hit) => (hit.source_id, hit.position),
            Self::Close(at) => (at.source, at.position),
        }
    }
}

/// Both rankings combined, before the passages that only meaning found are read.
pub(super) struct Ranking {
    /// Best first.
    ranked: Vec<Ranked>,
    /// What was found by words, without its hits.
    found: Found,
    limit: usize,
}

impl Ranking {
    /// Ranks the passages that were found by words together with those that are close in meaning. `weight` is that of
    /// meaning, and `limit` the number of results.
    pub(super) fn new(found: Found, closeness: &Closeness, weight: f32, limit: usize) -> Self {
        let Found { hits, .. } = found;
        let highest = hits.first().map_or(0.0, |hit| hit.score);
        let is_exact = highest >= EXACT;
        let normalised = closeness.normalised();
        let sure = |by_words: f32, cosine: f32| {
            closeness.space.confidence(by_words, cosine, closeness.background, weight)
        };
        let by_words: HashSet<Key> = hits.iter().map(|h| (h.source_id, h.position)).collect();
        let others = closeness.closest.iter().filter(|close| !by_words.contains(&close.key()));
        let mut ranked: Vec<Ranked> = others
            .map(|close| Ranked {
                passage: Which::Close(close.at),
                score: weight * normalised(close.cosine),
                sure: sure(0.0, close.cosine),
                by_words: 0.0,
                leads_by_words: false,
                is_same: false,
            })
            .collect();
        let known = closeness.known.iter().copied().chain(std::iter::repeat(None));
        ranked.extend(hits.into_iter().zip(known).enumerate().map(|(place, (hit, cosine))| {
            let by_words = if highest > 0.0 { (hit.score / highest).clamp(0.0, 1.0) } else { 0.0 };
            let is_same = is_exact && hit.score >= EXACT;
            // A passage without a vector counts by its words alone.
            let by_meaning = cosine.map_or(by_words, &normalised);
            let score = weight * by_meaning + (1.0 - weight) * by_words;
            let by_words = hit.confidence;
            let sure = cosine.map_or(by_words, |cosine| sure(by_words, cosine));
            let (score, sure) = if is_same { (1.0, by_words) } else { (score, sure) };
            let leads_by_words = place < LEADING;
            Ranked { passage: Which::Found(hit), score, sure, by_words, leads_by_words, is_same }
        }));
        ranked.sort_by(|one, other| {
            other
                .is_same
                .cmp(&one.is_same)
                .then_with(|| other.score.total_cmp(&one.score))
                .then_with(|| one.passage.key().cmp(&other.passage.key()))
        });
        let found = Found { hits: Vec::new(), confidence: 0.0, ..found };
        Self { ranked, found, limit }
    }

    /// The places of the passages that only meaning found and that may be among the results: at most as many as there
    /// are results.
    pub(super) fn wanted(&self) -> Vec<PassageAt> {
        let may_be_a_result = |(place, ranked): (usize, &Ranked)| match &ranked.passage {
            Which::Close(at) if place < self.limit || ranked.sure >= self.found.floor => Some(*at),
            Which::Close(_) | Which::Found(_) => None,
        };
        self.ranked.iter().enumerate().filter_map(may_be_a_result).take(self.limit).collect()
    }

    /// The results. `read` has the wanted passages that are still there; others are left out.
    pub(super) fn finish(
        self,
        read: Vec<(Id<kind::Source>, StoredPassage)>,
        question: &str,
    ) -> Found {
        let Self { ranked, mut found, limit } = self;
        let mut read: HashMap<Key, StoredPassage> = read
            .into_iter()
            .map(|(source, passage)| ((source, passage.passage.position), passage))
            .collect();
        let numbers = Numbers::of(question);
        let mut candidates = Vec::with_capacity(ranked.len());
        for Ranked { passage, score, sure, by_words, leads_by_words, .. } in ranked {
            let key = passage.key();
            let (mut hit, score_by_words) = match passage {
                Which::Found(hit) => (Hit { score, ..hit }, Some(hit.score)),
                Which::Close(at) => match read.remove(&key) {
                    Some(passage) => (new_hit(at.source, passage, score), None),
                    None => continue,
                },
            };
            // A passage about one number does not answer a question about another number, even if they are alike.
            hit.confidence = if numbers.are_in(&hit) { sure } else { sure.min(by_words) };
            if leads_by_words || candidates.len() < LEADING {
                found.confidence = found.confidence.max(hit.confidence);
            }
            candidates.push((hit, score_by_words));
        }
        let is_answered = found.confidence >= found.floor;
        for (hit, score_by_words) in &mut candidates {
            hit.is_relevant = is_answered && hit.confidence >= found.floor;
            // The score counts for what words find relevant.
            *score_by_words = score_by_words.filter(|_| hit.is_relevant);
        }
        found.hits = choose(candidates, limit);
        found
    }
}

/// Chooses `limit` of the ranked candidates. The best half of what words found relevant is always among them, so that a
/// question that words answer is not left without its answer. The other places go to relevant passages first.
fn choose(candidates: Vec<(Hit, Option<f32>)>, limit: usize) -> Vec<Hit> {
    let mut relevant_by_words: Vec<(f32, usize)> = (0..)
        .zip(&candidates)
        .filter_map(|(place, (_, by_words))| by_words.map(|score| (score, place)))
        .collect();
    relevant_by_words.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let kept = relevant_by_words.iter().take(limit.div_ceil(2)).map(|(_, place)| *place);
    let of = |is_relevant: bool| {
        (0..)
            .zip(&candidates)
            .filter(move |(_, (hit, _))| hit.is_relevant == is_relevant)
            .map(|(place, _)| place)
    };
    let mut chosen = HashSet::new();
    for place in kept.chain(of(true)).chain(of(false)) {
        if chosen.len() == limit {
            break;
        }
        chosen.insert(place);
    }
    let candidates = (0..).zip(candidates);
    candidates.filter(|(place, _)| chosen.contains(place)).map(|(_, (hit, _))| hit).collect()
}

fn new_hit(source: Id<kind::Source>, stored: StoredPassage, score: f32) -> Hit {
    let StoredPassage { document_id, passage } = stored;
    Hit {
        source_id: source,
        document_id,
        position: passage.position,
        title: passage.title.map(Into::into),
        heading: passage.heading.map(Into::into),
        url: passage.url.map(Into::into),
        page: passage.page,
        text: passage.text.into(),
        is_pair: passage.is_pair,
        language: passage.language.map(Into::into),
        score,
        coverage: 0.0,
        confidence: 0.0,
        is_relevant: false,
    }
}

#[cfg(test)]
mod tests;
