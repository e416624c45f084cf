//! The guard: whether the new content of a website loses answers that its agent gives now.

use super::{CheckResult, CheckRun, RunEnd, RunTrigger};
use crate::content::cut_at_word;
use crate::id::{Id, kind};
use crate::limits;
use crate::source::Source;
use crate::timestamp::Timestamp;

/// A comparison of a crawl with the present content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// When it began.
    pub began_at: Timestamp,
    /// What it found.
    pub outcome: ComparisonOutcome,
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparisonOutcome {
    /// All checks were asked of the new content.
    Compared {
        /// The results for the new content.
        results: Vec<CheckResult>,
        /// The questions of the checks that fail on the new content and pass on the present content.
        lost: Vec<String>,
    },
    /// They could not be asked, for this reason.
    Failed(String),
}

impl Comparison {
    /// Why the present content is kept; `None` if the new content replaces it.
    pub fn refusal(&self) -> Option<String> {
        match &self.outcome {
            ComparisonOutcome::Failed(reason) => Some(format!(
                "the previous content was kept, because the checks could not be compared: {reason}"
            )),
            ComparisonOutcome::Compared { results, lost } => {
                let first = cut_at_word(lost.first()?, limits::EVENT_QUESTION_CHARS);
                let (lost, all) = (lost.len(), results.len());
                Some(format!(
                    "the previous content was kept: {lost} of {all} checks would fail, first `{first}`"
                ))
            }
        }
    }

    /// The comparison as a run that ended at `now`.
    pub fn into_run(self, id: Id<kind::CheckRun>, source: &Source, now: Timestamp) -> CheckRun {
        let of = (source.account_id, source.agent_id);
        let run = CheckRun::new(id, of, (RunTrigger::Guard, Some(source.id)), self.began_at);
        let end = match self.outcome {
            ComparisonOutcome::Compared { results, .. } => RunEnd::Done(results),
            ComparisonOutcome::Failed(reason) => RunEnd::Failed(reason),
        };
        run.end(end, now)
    }
}
