//! `cargo trial eval silence`: whether questions without an answer in the passages are refused, and
//! those with one are answered.

use std::path::Path;

use cicerone_domain::agent::AnswerFloor;
use cicerone_domain::limits;
use cicerone_domain::retrieval::Found;

use super::collection::{Collection, Question};
use super::table::Table;
use super::trial::Trial;
use super::{runtime, sets};

/// The sets. Half of the passages of each is searched.
pub(super) const SETS: [&str; 6] =
    ["xquad-es", "xquad-zh", "xquad-ar", "xquad-hi", "covid-papers", "pubmedqa"];
/// The share of the questions with an answer that must be answered.
const ANSWERED: f64 = 0.95;

/// Which half of the passages is searched: the first half, which hardly mentions the subjects of
/// the other questions; or every other passage, so that passages of the same article remain, which
/// is harder.
pub(super) const HALVES: [&str; 2] = ["first", "other"];

/// Measures, for each set, how many of the questions with an answer are answered and how many of
/// those without one are refused, and how many would be refused with the floor at which 95 % are
/// answered.
pub(super) fn measure(data: &Path, table: &mut Table) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let mut outcomes: [Vec<Outcome>; 2] = Default::default();
    for name in SETS {
        let collection = sets::load(data, name)?;
        let halves = [collection.halved(), collection.alternated()];
        for ((half, missing), (kind, outcomes)) in
            halves.iter().zip(HALVES.iter().zip(&mut outcomes))
        {
            let trial = Trial::new(&runtime, &half.passages)?;
            let mut floors = [0.0; AnswerFloor::ALL.len()];
            for (floor, name) in floors.iter_mut().zip(AnswerFloor::ALL) {
                *floor = f64::from(trial.floor(&runtime, name)?);
            }
            let ask = |question: &Question| trial.ask(&runtime, question, limits::REPLY_PASSAGES);
            let outcome = Outcome::of(floors, half, missing, &ask)?;
            outcome.add_to(table, name, kind);
            // Every other passage of a paper still leaves some of each paper, so that every
            // question has an answer.
            if !missing.is_empty() {
                outcomes.push(outcome);
            }
        }
    }
    for (kind, outcomes) in HALVES.iter().zip(&outcomes) {
        Outcome::mean(outcomes).add_to(table, "mean", kind);
    }
    Ok(())
}

/// The outcome of half a set: shares of the questions.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    asked: usize,
    /// For each floor, the highest first.
    answered: [f64; AnswerFloor::ALL.len()],
    refused: [f64; AnswerFloor::ALL.len()],
    /// Refused, with the floor at which 95 % are answered, and that floor.
    refused_at: f64,
    floor: f64,
}

impl Outcome {
    /// Asks the questions of half a set, and those without an answer in it.
    pub(super) fn of(
        floors: [f64; AnswerFloor::ALL.len()],
        half: &Collection,
        missing: &[Question],
        search: &dyn Fn(&Question) -> anyhow::Result<Found>,
    ) -> anyhow::Result<Self> {
        let ask = |questions: &[Question]| -> anyhow::Result<Vec<f64>> {
            let confidences =
                questions.iter().map(|question| Ok(search(question)?.confidence.into()));
            confidences.collect()
        };
        let mut own = ask(&half.questions)?;
        let missing = ask(missing)?;
        own.sort_by(f64::total_cmp);
        let refusable = ((1.0 - ANSWERED) * own.len() as f64).floor() as usize;
        let floor = own.get(refusable).copied().unwrap_or_default();
        let below = |all: &[f64], floor: f64| {
            all.iter().filter(|confidence| **confidence < floor).count() as f64
                / all.len().max(1) as f64
        };
        Ok(Self {
            asked: own.len() + missing.len(),
            answered: floors.map(|floor| 1.0 - below(&own, floor)),
            refused: floors.map(|floor| below(&missing, floor)),
            refused_at: below(&missing, floor),
            floor,
        })
    }

    pub(super) fn mean(all: &[Self]) -> Self {
        let mean =
            |of: &dyn Fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Self {
            asked: all.iter().map(|one| one.asked).sum(),
            answered: std::array::from_fn(|at| mean(&|one| one.answered[at])),
            refused: std::array::from_fn(|at| mean(&|one| one.refused[at])),
            refused_at: mean(&|one| one.refused_at),
            floor: mean(&|one| one.floor),
        }
    }

    /// Answered and refused for each floor, and refused where 95 % are answered.
    pub(super) fn line(&self) -> String {
        let shares = self.answered.iter().zip(&self.refused);
        let shares: Vec<String> =
            shares.map(|(answered, refused)| format!("{answered:.3} / {refused:.3}")).collect();
        format!("{}   {:.3}", shares.join("   "), self.refused_at)
    }

    fn add_to(&self, table: &mut Table, name: &str, half: &str) {
        let [cautious, balanced, eager] = self.answered;
        let note = format!("cautious {cautious:.3}, eager {eager:.3}");
        table.add(name, &format!("{half} answered"), self.asked, balanced, &note);
        let [cautious, balanced, eager] = self.refused;
        let note = format!("cautious {cautious:.3}, eager {eager:.3}");
        table.add(name, &format!("{half} refused"), self.asked, balanced, &note);
        let note = format!("floor {:.3}", self.floor);
        table.add(name, &format!("{half} at 95 %"), self.asked, self.refused_at, &note);
    }
}
