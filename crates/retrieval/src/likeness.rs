//! Decides which questions are similar: by their stems, weighted by rarity, and by trigrams of their letters.
//!
//! Each question is a sparse vector of both kinds of features. The likeness of two questions is the cosine, and that of a
//! question and a group is the mean over the questions that the group is known by.

use std::collections::HashMap;

use async_trait::async_trait;
use cicerone_domain::Error;
use cicerone_domain::gap::Joined;
use cicerone_domain::limits::{GAP_COMPARED_CHARS, GAP_MEMBERS};
use cicerone_domain::ports::Likeness;
use cicerone_language::{Language, fold, terms};

/// A question joins a group that is at least this like it. Measured by `cargo trial eval gaps`.
const THRESHOLD: f32 = 0.2;
/// The share of the stems in the likeness; the rest is that of the trigrams.
const STEMS: f32 = 0.6;
/// The weight of a stop word relative to another word of the same rarity.
const STOP_WORD: f32 = 0.2;
/// Most stems of a question that are compared: the rarest.
const MOST_STEMS: usize = 32;
/// Most trigrams of a question that are compared: the rarest.
const MOST_TRIGRAMS: usize = 64;
/// Most characters from which the language of the questions is detected.
const DETECTED_CHARS: usize = 2_000;

/// Groups questions by their words and letters. Without a model, and the same for the same questions.
#[derive(Debug, Clone, Copy)]
pub struct WordLikeness {
    threshold: f32,
}

impl Default for WordLikeness {
    fn default() -> Self {
        Self::with_threshold(THRESHOLD)
    }
}

impl WordLikeness {
    /// With another threshold, to measure it.
    pub const fn with_threshold(threshold: f32) -> Self {
        Self { threshold }
    }

    /// Groups `questions` in their order: see [`Likeness::join`].
    pub fn join_now(&self, groups: &[Vec<String>], questions: &[String]) -> Vec<Joined> {
        let vectors = vectors(groups.iter().flatten().chain(questions));
        let (known, new) = vectors.split_at(groups.iter().map(Vec::len).sum());
        let mut grouped = Grouped::default();
        let mut known = known.iter();
        for group in groups {
            let number = grouped.begin();
            for vector in known.by_ref().take(group.len()) {
                grouped.add(number, vector);
            }
        }
        let mut begun = Vec::new();
        let join = |(question, vector): (usize, &Vector)| {
            let (number, joined) = match grouped.most_alike(vector) {
                Some((number, likeness)) if likeness >= self.threshold => {
                    let begun = number.checked_sub(groups.len()).and_then(|at| begun.get(at));
                    (number, begun.map_or(Joined::Group(number), |first| Joined::Question(*first)))
                }
                Some(_) | None => {
                    begun.push(question);
                    (grouped.begin(), Joined::Question(question))
                }
            };
            grouped.add(number, vector);
            joined
        };
        new.iter().enumerate().map(join).collect()
    }
}

#[async_trait]
impl Likeness for WordLikeness {
    async fn join(
        &self,
        groups: Vec<Vec<String>>,
        questions: Vec<String>,
    ) -> Result<Vec<Joined>, Error> {
        let likeness = *self;
        // Thousands of long questions would delay what else this thread serves.
        let work = tokio::task::spawn_blocking(move || likeness.join_now(&groups, &questions));
        work.await.map_err(Error::internal)
    }
}

/// The features of a question with their weights: a vector of the length 1.
type Vector = Vec<(usize, f32)>;

/// The groups so far, by the features of the questions that they are known by.
#[derive(Debug, Default)]
struct Grouped {
    /// For each feature, the groups whose questions have it, with the sum of its weights in them. A group that gets
    /// further questions later may be there twice.
    postings: Vec<Vec<(usize, f32)>>,
    /// How many questions each group is known by.
    members: Vec<usize>,
    /// Room for the likeness of each group.
    likeness: Vec<f32>,
}

impl Grouped {
    /// Adds an empty group and returns its number.
    fn begin(&mut self) -> usize {
        self.members.push(0);
        self.members.len() - 1
    }

    /// Adds a question to a group, unless the group is known by enough of them.
    fn add(&mut self, group: usize, vector: &Vector) {
        let Some(members) = self.members.get_mut(group).filter(|count| **count < GAP_MEMBERS)
        else {
            return;
        };
        *members += 1;
        for (feature, weight) in vector {
            if self.postings.len() <= *feature {
                self.postings.resize_with(feature + 1, Vec::new);
            }
            let Some(posting) = self.postings.get_mut(*feature) else { continue };
            match posting.last_mut().filter(|(other, _)| *other == group) {
                Some((_, sum)) => *sum += weight,
                None => posting.push((group, *weight)),
            }
        }
    }

    /// The group that is most like a question, the earliest of several.
    fn most_alike(&mut self, vector: &Vector) -> Option<(usize, f32)> {
        self.likeness.clear();
        self.likeness.resize(self.members.len(), 0.0);
        for (feature, weight) in vector {
            for (group, sum) in self.postings.get(*feature).into_iter().flatten() {
                if let Some(likeness) = self.likeness.get_mut(*group) {
                    *likeness += weight * sum;
                }
            }
        }
        let mean = |(group, members): (usize, &usize)| {
            let sum = self.likeness.get(group).copied().unwrap_or_default();
            (group, sum / (*members).max(1) as f32)
        };
        let all = self.members.iter().enumerate().map(mean);
        all.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// A feature of a question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Feature {
    Stem(String),
    Trigram([char; 3]),
    /// The text of a question without words.
    Text(String),
}

/// The features of a question, each once, with what they weigh among features that are as rare.
struct Features {
    stems: Vec<(usize, f32)>,
    trigrams: Vec<(usize, f32)>,
}

/// The numbers of features, and in how many questions each of them is.
#[derive(Default)]
struct Known {
    numbers: HashMap<Feature, usize>,
    counts: Vec<usize>,
}

impl Known {
    /// Counts the features of a question and returns their numbers.
    fn count(&mut self, features: Vec<(Feature, f32)>) -> Vec<(usize, f32)> {
        let mut numbered: Vec<(usize, f32)> = Vec::with_capacity(features.len());
        for (feature, weight) in features {
            let next = self.numbers.len();
            let number = *self.numbers.entry(feature).or_insert(next);
            if number == self.counts.len() {
                self.counts.push(0);
            }
            numbered.push((number, weight));
        }
        numbered.sort_by_key(|(number, _)| *number);
        numbered.dedup_by_key(|(number, _)| *number);
        for (number, _) in &numbered {
            if let Some(count) = self.counts.get_mut(*number) {
                *count += 1;
            }
        }
        numbered
    }

    /// The rarest of these features with their weights, as a vector of this length.
    fn weigh(&self, features: Vec<(usize, f32)>, all: usize, most: usize, length: f32) -> Vector {
        let weigh = |(number, weight): (usize, f32)| {
            let count = self.counts.get(number).copied().unwrap_or(1);
            (number, weight * (1.0 + all as f32 / count as f32).ln())
        };
        let mut vector: Vector = features.into_iter().map(weigh).collect();
        vector.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        vector.truncate(most);
        let norm = vector.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        for (_, weight) in &mut vector {
            *weight *= length / norm.max(f32::MIN_POSITIVE);
        }
        vector
    }
}

/// The vectors of these questions, which are compared with each other only: features are as rare as among them.
fn vectors<'a>(texts: impl Iterator<Item = &'a String> + Clone) -> Vec<Vector> {
    let language = language(texts.clone());
    let mut known = Known::default();
    let features: Vec<Features> =
        texts.map(|text| Features::of(cut(text), language, &mut known)).collect();
    let all = features.len();
    let vector = |features: Features| {
        let stems = known.weigh(features.stems, all, MOST_STEMS, STEMS.sqrt());
        let rest = (1.0 - STEMS).sqrt();
        let trigrams = known.weigh(features.trigrams, all, MOST_TRIGRAMS, rest);
        [stems, trigrams].concat()
    };
    features.into_iter().map(vector).collect()
}

impl Features {
    fn of(text: &str, language: Option<Language>, known: &mut Known) -> Self {
        let words = terms(text, language).into_iter().filter(|term| !term.is_compound);
        let mut stems = Vec::new();
        let mut trigrams = Vec::new();
        for word in words {
            let weight = if word.is_stop_word { STOP_WORD } else { 1.0 };
            let folded = fold(text.get(word.range.clone()).unwrap_or_default());
            let letters: Vec<char> = [' '].into_iter().chain(folded.chars()).chain([' ']).collect();
            trigrams.extend(letters.windows(3).filter_map(|three| {
                Some((Feature::Trigram(<[char; 3]>::try_from(three).ok()?), weight))
            }));
            stems.push((Feature::Stem(word.text), weight));
        }
        if stems.is_empty() {
            stems.push((Feature::Text(fold(text.trim())), 1.0));
        }
        Self { stems: known.count(stems), trigrams: known.count(trigrams) }
    }
}

/// The beginning of a question that is compared.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(GAP_COMPARED_CHARS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// The language of most of the questions. A single question is often too short to detect its language, and questions
/// that are compared must be analysed in the same way.
fn language<'a>(texts: impl Iterator<Item = &'a String>) -> Option<Language> {
    let mut sample = String::new();
    for text in texts {
        if sample.len() >= DETECTED_CHARS {
            break;
        }
        sample.push_str(cut(text));
        sample.push('\n');
    }
    Language::detect(&sample)
}

#[cfg(test)]
mod tests;
