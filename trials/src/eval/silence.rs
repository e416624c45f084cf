//! `cargo trial eval silence`: whether questions without an answer in the passages are refused, and those with one
//! are not.

use std::path::Path;

use cicerone_domain::limits;
use tokio::runtime::Runtime;

use super::collection::{Collection, Question};
use super::sets;
use super::trial::Trial;

/// The sets, of which half of the passages is searched.
const SETS: [&str; 6] =
    ["xquad-es", "xquad-zh", "xquad-ar", "xquad-hi", "covid-papers", "pubmedqa"];
/// The share of the questions with an answer that must be answered.
const ANSWERED: f64 = 0.95;

/// Prints, for each set, how many of the questions with an answer are answered and how many of those without one are
/// refused; and how many would be refused with the floor at which 95 % are answered.
///
/// Of each set, first the first half of the passages is searched: what the other questions are about is hardly mentioned.
/// Then every other passage: others of the same article remain, which makes it harder.
pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    println!(
        "{:14} {:6} {:>6} {:>9} {:>8} {:>11} {:>8}",
        "set", "half", "asked", "answered", "refused", "at 95 %", "floor"
    );
    let mut sums = [Sum::default(), Sum::default()];
    for name in SETS {
        let collection = sets::load(data, name)?;
        for (kind, sum) in sums.iter_mut().enumerate() {
            let (half, missing) =
                if kind == 0 { collection.halved() } else { collection.alternated() };
            let outcome = Outcome::of(&runtime, &half, &missing)?;
            outcome.print(name, KINDS.get(kind).copied().unwrap_or_default());
            sum.add(&outcome);
        }
    }
    for (sum, kind) in sums.iter().zip(KINDS) {
        println!(
            "{:14} {kind:6} {:>6} {:>9.3} {:>8.3} {:>11.3}",
            "mean",
            "",
            sum.answered / sum.sets,
            sum.refused / sum.sets,
            sum.refused_at / sum.sets
        );
    }
    Ok(())
}

const KINDS: [&str; 2] = ["first", "other"];

#[derive(Default)]
struct Sum {
    sets: f64,
    answered: f64,
    refused: f64,
    refused_at: f64,
}

impl Sum {
    fn add(&mut self, outcome: &Outcome) {
        self.sets += 1.0;
        self.answered += outcome.answered;
        self.refused += outcome.refused;
        self.refused_at += outcome.refused_at;
    }
}

/// What came of half a set.
struct Outcome {
    asked: usize,
    answered: f64,
    refused: f64,
    /// Refused, with the floor at which 95 % are answered.
    refused_at: f64,
    floor: f32,
}

impl Outcome {
    fn of(runtime: &Runtime, half: &Collection, missing: &[Question]) -> anyhow::Result<Self> {
        let trial = Trial::new(runtime, &half.passages)?;
        let ask = |questions: &[Question]| -> anyhow::Result<Vec<(f32, bool)>> {
            let asked = questions.iter().map(|question| {
                let found = trial.ask(runtime, question, limits::REPLY_PASSAGES)?;
                let is_answered = found.hits.iter().any(|hit| hit.is_relevant);
                Ok((found.confidence, is_answered))
            });
            asked.collect()
        };
        let mut own = ask(&half.questions)?;
        let missing = ask(missing)?;
        own.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let refusable = ((1.0 - ANSWERED) * own.len() as f64).floor() as usize;
        let floor = own.get(refusable).map_or(0.0, |(confidence, _)| *confidence);
        let share = |all: &[(f32, bool)], counts: &dyn Fn(&(f32, bool)) -> bool| {
            all.iter().filter(|one| counts(one)).count() as f64 / all.len().max(1) as f64
        };
        Ok(Self {
            asked: own.len() + missing.len(),
            answered: share(&own, &|(_, is_answered)| *is_answered),
            refused: share(&missing, &|(_, is_answered)| !is_answered),
            refused_at: share(&missing, &|(confidence, _)| *confidence < floor),
            floor,
        })
    }

    fn print(&self, name: &str, kind: &str) {
        println!(
            "{name:14} {kind:6} {:>6} {:>9.3} {:>8.3} {:>11.3} {:>8.3}",
            self.asked, self.answered, self.refused, self.refused_at, self.floor
        );
    }
}
