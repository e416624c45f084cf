//! `cargo trial eval answers`: how well the embedded answerer chooses sentences: whether its reply
//! from the right passage contains the answer that people marked in it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cicerone_domain::ports::{ReplyRequest, Stages};
use cicerone_domain::retrieval::{Hit, QueryTerm};
use cicerone_domain::{Id, SystemEntropy};
use cicerone_language::{Language, sentences, terms};
use cicerone_llm::Extractive;
use serde_json::Value;

use super::profile::profile;
use super::table::Table;

/// The size in characters of the passages into which a long paper is cut.
const PASSAGE_CHARS: usize = 1_600;
/// The sets: name, file below the data folder, language.
const SETS: [(&str, &str, &str); 5] = [
    ("xquad-es", "qa/xquad/xquad.es.json", "spa"),
    ("xquad-zh", "qa/xquad/xquad.zh.json", "cmn"),
    ("xquad-ar", "qa/xquad/xquad.ar.json", "ara"),
    ("xquad-hi", "qa/xquad/xquad.hi.json", "hin"),
    ("covid-papers", "qa/covid-qa/200423_covidQA.json", "eng"),
];

/// Answers every question of the sets from its own passage, alone and together with two others, and
/// measures how many replies contain the marked answer.
pub(super) fn measure(data: &Path, table: &mut Table) -> anyhow::Result<()> {
    for (name, file, language) in SETS {
        let set = Set::read(&data.join(file), language)?;
        let alone = set.measure(0);
        let among = set.measure(2);
        let note = format!(
            "{:.0} characters, {:.0} microseconds",
            alone.characters / alone.questions,
            alone.elapsed.as_secs_f64() * 1e6 / alone.questions,
        );
        let asked = set.questions.len();
        table.add(name, "reply holds", asked, alone.held / alone.questions, &note);
        table.add(name, "reply's words", asked, alone.words / alone.questions, "");
        table.add(name, "holds, of three", asked, among.held / among.questions, "");
    }
    Ok(())
}

/// Passages, and questions about them.
struct Set {
    language: Option<Language>,
    passages: Vec<String>,
    questions: Vec<Question>,
}

struct Question {
    text: String,
    answer: String,
    passage: usize,
}

/// The outcome of a set: sums over its questions.
#[derive(Default)]
struct Outcome {
    questions: f64,
    held: f64,
    words: f64,
    characters: f64,
    elapsed: Duration,
}

impl Set {
    /// Reads a set in SQuAD's format.
    fn read(file: &Path, language: &str) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read `{}`", file.display()))?;
        let json: Value = serde_json::from_str(&text)?;
        let mut set =
            Self { language: Language::from_code(language), passages: vec![], questions: vec![] };
        for paragraph in array(&json, "data").flat_map(|article| array(article, "paragraphs")) {
            let context = paragraph["context"].as_str().unwrap_or_default();
            let first = set.passages.len();
            set.passages.extend(cut(context));
            for question in array(paragraph, "qas") {
                let answer = question.pointer("/answers/0/text").and_then(Value::as_str);
                let answer = answer.unwrap_or_default().trim();
                let home = set.passages.iter().skip(first).position(|text| text.contains(answer));
                if let (Some(home), false) = (home, answer.is_empty()) {
                    set.questions.push(Question {
                        text: question["question"].as_str().unwrap_or_default().to_owned(),
                        answer: answer.to_owned(),
                        passage: first + home,
                    });
                }
            }
        }
        Ok(set)
    }

    /// Answers every question from its own passage and the next `others` passages of the set.
    fn measure(&self, others: usize) -> Outcome {
        let frequency = self.frequency();
        let mut outcome = Outcome::default();
        let answerer = Extractive::default();
        for question in &self.questions {
            let request = self.request(question, others, &frequency);
            let start = Instant::now();
            let reply = answerer.answer(&request, None).text;
            outcome.elapsed += start.elapsed();
            outcome.questions += 1.0;
            outcome.held += f64::from(squeeze(&reply).contains(&squeeze(&question.answer)));
            outcome.words += self.recall(&reply, &question.answer);
            outcome.characters += count(reply.chars().count());
        }
        outcome
    }

    /// In how many passages each word occurs.
    fn frequency(&self) -> HashMap<String, f64> {
        let mut frequency = HashMap::new();
        for passage in &self.passages {
            let words: HashSet<String> =
                terms(passage, self.language).into_iter().map(|term| term.text).collect();
            for word in words {
                *frequency.entry(word).or_default() += 1.0;
            }
        }
        frequency
    }

    fn request(
        &self,
        question: &Question,
        others: usize,
        frequency: &HashMap<String, f64>,
    ) -> ReplyRequest {
        let following = (1..=others).map(|step| (question.passage + step) % self.passages.len());
        let passages = std::iter::once(question.passage).chain(following);
        let total = count(self.passages.len());
        let words = terms(&question.text, self.language).into_iter();
        ReplyRequest {
            profile: profile(),
            history: Vec::new(),
            question: question.text.clone(),
            passages: passages.enumerate().map(|(rank, index)| self.hit(rank, index)).collect(),
            terms: words
                .filter(|word| !word.is_stop_word)
                .enumerate()
                .map(|(number, word)| {
                    let found = frequency.get(&word.text).copied().unwrap_or(0.0);
                    let weight = (1.0 + (total - found + 0.5) / (found + 0.5)).ln();
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "a weight needs few digits"
                    )]
                    QueryTerm {
                        text: word.text,
                        weight: weight as f32,
                        is_context: false,
                        word: number,
                    }
                })
                .collect(),
            result: None,
            language: None,
            stages: Stages::default(),
        }
    }

    fn hit(&self, rank: usize, index: usize) -> Hit {
        Hit {
            source_id: Id::random(&SystemEntropy),
            document_id: Id::random(&SystemEntropy),
            position: 0,
            title: None,
            heading: None,
            url: None,
            page: None,
            text: self.passages.get(index).map(String::as_str).unwrap_or_default().into(),
            is_pair: false,
            language: self.language.map(|language| language.code().into()),
            score: if rank == 0 { 1.0 } else { 0.8 },
            coverage: 1.0,
            confidence: 1.0,
            is_relevant: true,
        }
    }

    /// The share of the answer's words that the reply contains.
    fn recall(&self, reply: &str, answer: &str) -> f64 {
        let words = |text: &str| -> HashSet<String> {
            terms(text, self.language).into_iter().map(|term| term.text).collect()
        };
        let (reply, answer) = (words(reply), words(answer));
        count(answer.intersection(&reply).count()) / count(answer.len().max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a few thousand")]
fn count(number: usize) -> f64 {
    number as f64
}

/// Cuts a text into passages of whole sentences.
fn cut(text: &str) -> Vec<String> {
    let mut passages = Vec::new();
    let slice = |start, end| text.get(start..end).unwrap_or_default();
    let (mut start, mut end) = (0, 0);
    for sentence in sentences(text) {
        if slice(start, sentence.end).chars().count() > PASSAGE_CHARS && end > start {
            passages.push(slice(start, end).to_owned());
            start = sentence.start;
        }
        end = sentence.end;
    }
    passages.push(slice(start, text.len()).to_owned());
    passages
}

fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

/// Text without white space, because a reply joins lines.
fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
