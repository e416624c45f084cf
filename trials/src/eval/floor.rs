//! The relevance floor: answerable questions must pass it, unanswerable ones must not.

use tokio::runtime::Runtime;

use super::collection::{Collection, Question};
use super::trial::Trial;

/// Questions of another set that are asked, at most.
const FOREIGN: usize = 300;

/// Prints, for each set, how many of its own questions find something relevant, how many of those
/// that only its missing half answers, and how many of another set's.
pub(crate) fn print(runtime: &Runtime, collections: &[Collection]) -> anyhow::Result<()> {
    println!("\n{:14} {:>8} {:>8} {:>8}", "passing floor", "own", "missing", "foreign");
    for (number, collection) in collections.iter().enumerate() {
        let (half, missing) = collection.halved();
        let trial = Trial::new(runtime, &half.passages)?;
        let own = passing(runtime, &trial, &half.questions)?;
        let missing = passing(runtime, &trial, &missing)?;
        let foreign: Vec<Question> = collections
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != number)
            .filter(|(_, other)| {
                !(other.name.starts_with("xquad") && half.name.starts_with("xquad"))
            })
            .flat_map(|(_, other)| other.questions.iter().take(FOREIGN).cloned())
            .collect();
        let foreign = passing(runtime, &trial, &foreign)?;
        println!("{:14} {own:>8.3} {missing:>8.3} {foreign:>8.3}", collection.name);
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
