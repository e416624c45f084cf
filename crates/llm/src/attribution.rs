//! The passages that a reply without citations is based on: those that share rare words with its
//! sentences.

use std::collections::{HashMap, HashSet};

use cicerone_domain::retrieval::Hit;
use cicerone_language::{Language, sentences, terms};

/// A passage must contain this share of the weight of a sentence.
const SHARE: f32 = 0.6;
/// A passage must contain this many different words of a sentence.
const WORDS: usize = 3;

/// The positions of the passages that `text` is based on, the one with the most sentences first. Each sentence
/// counts for its best passage only.
pub(crate) fn attribute(text: &str, hits: &[Hit]) -> Vec<usize> {
    let passages: Vec<Words> = hits.iter().map(passage_words).collect();
    let weights = Weights::of(&passages);
    let mut total: HashMap<usize, f32> = HashMap::new();
    for range in sentences(text) {
        let sentence = text.get(range).unwrap_or_default();
        // Most passages are in the same language, so one analysis serves them all.
        let mut analysed: HashMap<Option<Language>, Words> = HashMap::new();
        let supports: Vec<f32> = hits
            .iter()
            .zip(&passages)
            .map(|(hit, passage)| {
                let language = language(hit);
                let words = analysed.entry(language).or_insert_with(|| words(sentence, language));
                weights.support(words, passage)
            })
            .collect();
        let best = supports.iter().copied().fold(0.0, f32::max);
        if let Some(index) = supports.iter().position(|support| *support == best && best > 0.0) {
            total.entry(index).and_modify(|sum| *sum += best).or_insert(best);
        }
    }
    let mut ranked: Vec<(usize, f32)> = total.into_iter().collect();
    ranked.sort_by(|(a, more), (b, less)| less.total_cmp(more).then(a.cmp(b)));
    ranked.into_iter().map(|(index, _)| index).collect()
}

/// Different words, analysed, without stop words.
type Words = HashSet<String>;

/// The weights of words: how well they distinguish the passages.
struct Weights<'a> {
    frequency: HashMap<&'a str, u16>,
    passages: u16,
}

impl<'a> Weights<'a> {
    fn of(passages: &'a [Words]) -> Self {
        let mut frequency = HashMap::new();
        for word in passages.iter().flatten() {
            *frequency.entry(word.as_str()).or_default() += 1;
        }
        Self { frequency, passages: u16::try_from(passages.len()).unwrap_or(u16::MAX) }
    }

    /// A word that is in no passage has the highest weight: the sentence did not take it from any
    /// of them.
    fn weight(&self, word: &str) -> f32 {
        let found = f32::from(self.frequency.get(word).copied().unwrap_or(0));
        (1.0 + (f32::from(self.passages) + 1.0) / (found + 0.5)).ln()
    }

    /// The share of a sentence that a passage contains; 0 if it is too small.
    fn support(&self, sentence: &Words, passage: &Words) -> f32 {
        let shared: Vec<&String> = sentence.intersection(passage).collect();
        let contained: f32 = shared.iter().map(|word| self.weight(word)).sum();
        let all: f32 = sentence.iter().map(|word| self.weight(word)).sum();
        if shared.len() >= WORDS && contained >= SHARE * all { contained } else { 0.0 }
    }
}

/// The words of a passage; for a pair, including those of its question.
fn passage_words(hit: &Hit) -> Words {
    let mut found = words(&hit.text, language(hit));
    if let Some(question) = hit.title.as_deref().filter(|_| hit.is_pair) {
        found.extend(words(question, language(hit)));
    }
    found
}

fn language(hit: &Hit) -> Option<Language> {
    hit.language.as_deref().and_then(Language::from_code)
}

fn words(text: &str, language: Option<Language>) -> Words {
    terms(text, language).into_iter().filter(|term| !term.is_stop_word).map(|t| t.text).collect()
}

#[cfg(test)]
mod tests {
    use super::attribute;
    use crate::testing::{hit, request};

    #[test]
    fn a_reply_is_attributed_to_the_passage_that_its_words_come_from() {
        let request = request(
            "Can I return things?",
            vec![
                hit("Parcels are delivered by bicycle within the city on weekdays."),
                hit("Unused items can be returned within thirty days against a full refund."),
            ],
        );
        let reply = "You can return unused items within thirty days. You then get a full refund.";
        assert_eq!(attribute(reply, &request.passages), [1]);
    }

    #[test]
    fn a_reply_in_words_of_its_own_is_attributed_to_nothing() {
        let request = request("What is it?", vec![hit("Parcels are delivered by bicycle.")]);
        for reply in ["My sources do not cover this question.", "Parcels are fun.", ""] {
            assert!(attribute(reply, &request.passages).is_empty(), "{reply}");
        }
    }

    #[test]
    fn the_passage_with_more_of_the_reply_comes_first() {
        let request = request(
            "Tell me about delivery",
            vec![
                hit("The red warehouse opens on Monday mornings at seven."),
                hit("Bicycle couriers deliver parcels downtown. Heavy furniture travels by lorry \
                     every second Friday."),
            ],
        );
        let reply = "Bicycle couriers deliver parcels downtown. Heavy furniture travels by lorry \
                     every second Friday. The red warehouse opens Monday mornings.";
        assert_eq!(attribute(reply, &request.passages), [1, 0]);
    }
}
