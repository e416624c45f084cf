//! The relevance floor: answerable questions must pass it, unanswerable ones must not.

use std::path::Path;

use tokio::runtime::Runtime;

use super::collection::{Collection, Question};
use super::table::Table;
use super::trial::Trial;
use super::{runtime, sets};

/// The most questions of another set that are asked.
const FOREIGN: usize = 300;

/// Measures, for each set, the share of its own questions that find something relevant, and the
/// share of questions that do not: those that only its missing half answers, and those of another
/// set.
pub(super) fn measure(data: &Path, table: &mut Table) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let collections: anyhow::Result<Vec<Collection>> =
        sets::NAMES.into_iter().map(|name| sets::load(data, name)).collect();
    let collections = collections?;
    for (number, collection) in collections.iter().enumerate() {
        let (half, missing) = collection.halved();
        let trial = Trial::new(&runtime, &half.passages)?;
        let own = passing(&runtime, &trial, &half.questions)?;
        table.add(half.name, "own answered", half.questions.len(), own, "");
        let refused = 1.0 - passing(&runtime, &trial, &missing)?;
        table.add(half.name, "missing refused", missing.len(), refused, "");
        let foreign: Vec<Question> = collections
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number)
            .filter(|(_, other)| {
                !(other.name.starts_with("xquad") && half.name.starts_with("xquad"))
            })
            .flat_map(|(_, other)| other.questions.iter().take(FOREIGN).cloned())
            .collect();
        let refused = 1.0 - passing(&runtime, &trial, &foreign)?;
        table.add(half.name, "foreign refused", foreign.len(), refused, "");
    }
    Ok(())
}

/// The share of questions with a relevant hit among the first five.
fn passing(runtime: &Runtime, trial: &Trial, questions: &[Question]) -> anyhow::Result<f64> {
    let mut passed = 0_usize;
    for question in questions {
        let found = trial.ask(runtime, question, 5)?;
        passed += usize::from(found.hits.iter().any(|hit| hit.is_relevant));
    }
    Ok(passed as f64 / questions.len().max(1) as f64)
}
