//! Searches compared with other libraries, over the same passages and questions, in one run and in turn.

mod other;

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::Runtime;

use self::other::Other;
use super::corpus::{self, Numbers};
use super::figures::{Figures, grouped, median, shown};
use super::plot::Plot;
use crate::eval::collection::{Collection, Question};
use crate::eval::trial::Trial;
use crate::latency::{millis, percentile};
use crate::others;

/// The usual numbers of passages and questions.
const PASSAGES: usize = 20_000;
const QUESTIONS: usize = 1_000;
/// Characters of each passage.
const PASSAGE_CHARS: usize = 1_000;
/// Passages that a question finds at most.
const FOUND: usize = 5;

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Passages
    #[arg(long, default_value_t = PASSAGES)]
    passages: usize,
    /// Questions
    #[arg(long, default_value_t = QUESTIONS)]
    questions: usize,
    /// Rounds, of which the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

impl Extent {
    /// The usual passages and questions.
    pub(super) const fn of_rounds(rounds: usize) -> Self {
        Self { passages: PASSAGES, questions: QUESTIONS, rounds }
    }
}

/// The figures, one for each library.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Searches {
    passages: usize,
    questions: usize,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    name: String,
    index_seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// Questions whose passage was found first.
    first: usize,
}

/// What one round of all questions showed.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Round {
    p50_ms: f64,
    p99_ms: f64,
    first: usize,
}

/// Asks ours and those of others in turn.
pub(super) async fn measure(extent: Extent) -> anyhow::Result<Searches> {
    let folder = others::install().await?;
    let measuring = tokio::task::spawn_blocking(move || {
        let collection = collection(&extent)?;
        let others = match &folder {
            Some(folder) => {
                let file = file(&collection)?;
                let start = |name| Other::start(name, folder, file.path());
                vec![start("bm25s")?, start("tantivy")?]
            }
            None => Vec::new(),
        };
        searches(&extent, &collection, others)
    });
    measuring.await.context("the thread of the searches")?
}

/// Passages, and questions about some of them.
fn collection(extent: &Extent) -> anyhow::Result<Collection> {
    let mut numbers = Numbers::new(47);
    let mut collection = Collection::new("generated");
    let mut texts = Vec::with_capacity(extent.passages);
    for _ in 0..extent.passages.max(1) {
        let text = corpus::text(&mut numbers, PASSAGE_CHARS);
        collection.add_passage(None, &text, false);
        texts.push(text);
    }
    for _ in 0..extent.questions.max(1) {
        let about = usize::try_from(numbers.below(texts.len() as u64))?;
        let text = texts.get(about).context("a passage is missing")?;
        collection.ask(&corpus::question(&mut numbers, text), [about]);
    }
    Ok(collection)
}

/// The collection in a file, for the others.
fn file(collection: &Collection) -> anyhow::Result<tempfile::NamedTempFile> {
    let passages: Vec<_> = collection.passages.iter().map(|passage| &passage.text).collect();
    let questions = collection.questions.iter();
    let questions: Vec<_> = questions
        .map(|question| json!({ "text": question.text, "about": question.relevant.first() }))
        .collect();
    let mut file = tempfile::NamedTempFile::new().context("a temporary file")?;
    let text = json!({ "passages": passages, "questions": questions }).to_string();
    file.write_all(text.as_bytes()).context("writing the passages")?;
    Ok(file)
}

fn searches(
    extent: &Extent,
    collection: &Collection,
    mut others: Vec<Other>,
) -> anyhow::Result<Searches> {
    let runtime = Runtime::new()?;
    let began = Instant::now();
    let trial = Trial::new(&runtime, &collection.passages)?;
    let took = began.elapsed().as_secs_f64();
    let mut ours = Vec::new();
    let mut theirs = vec![Vec::new(); others.len()];
    let mut asked = collection.questions.clone();
    let mut numbers = Numbers::new(53);
    for _ in 0..extent.rounds.max(1) {
        ours.push(round(&runtime, &trial, &asked)?);
        // Ours keeps results. The same words in another order are another question.
        for question in &mut asked {
            question.text = corpus::reordered(&mut numbers, &question.text);
        }
        for (other, rounds) in others.iter_mut().zip(&mut theirs) {
            rounds.push(other.ask()?);
        }
    }
    let mut rows = vec![row("cicerone", took, &ours)];
    for (other, rounds) in others.iter().zip(&theirs) {
        rows.push(row(other.name(), other.index_seconds(), rounds));
    }
    Ok(Searches {
        passages: collection.passages.len(),
        questions: collection.questions.len(),
        rows,
    })
}

fn round(runtime: &Runtime, trial: &Trial, questions: &[Question]) -> anyhow::Result<Round> {
    let mut times: Vec<Duration> = Vec::with_capacity(questions.len());
    let mut first = 0;
    for question in questions {
        let began = Instant::now();
        let found = trial.ask(runtime, question, FOUND)?;
        times.push(began.elapsed());
        let best = found.hits.first().and_then(|hit| usize::try_from(hit.position).ok());
        first += usize::from(best.is_some_and(|best| question.relevant.contains(&best)));
    }
    times.sort_unstable();
    let at = |share| millis(percentile(&times, share));
    Ok(Round { p50_ms: at(0.5), p99_ms: at(0.99), first })
}

fn row(name: &str, index_seconds: f64, rounds: &[Round]) -> Row {
    Row {
        name: name.to_owned(),
        index_seconds,
        p50_ms: median(rounds.iter().map(|round| round.p50_ms)),
        p99_ms: median(rounds.iter().map(|round| round.p99_ms)),
        first: rounds.first().map_or(0, |round| round.first),
    }
}

impl Figures for Searches {
    const NAME: &'static str = "searches";

    fn text(&self) -> String {
        let mut text = format!(
            "{} passages of {} characters, {} questions.\n\n\
             | library | index | a question: p50; p99 | the right passage first |\n|---|---|---|---|\n",
            grouped(self.passages as f64),
            grouped(PASSAGE_CHARS as f64),
            grouped(self.questions as f64),
        );
        for row in &self.rows {
            text += &format!(
                "| {} | {} s | {}; {} ms | {:.1} % |\n",
                row.name,
                shown(row.index_seconds),
                shown(row.p50_ms),
                shown(row.p99_ms),
                row.first as f64 / self.questions.max(1) as f64 * 100.0,
            );
        }
        text
    }

    fn plot(&self) -> Option<Plot> {
        None
    }
}
