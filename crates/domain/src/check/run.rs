//! A run of an agent's checks: when it begins, waits and ends.

use super::CheckResult;
use crate::content::cut_at_word;
use crate::error::Error;
use crate::event::Event;
use crate::id::{Id, kind};
use crate::limits;
use crate::source::{Source, SourceState};
use crate::timestamp::Timestamp;
use crate::webhook::EventName;

/// Why a run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTrigger {
    /// It was requested.
    Request,
    /// A source was trained.
    Trained,
    /// A guarded source was crawled: its new content is asked before it replaces the present one.
    Guard,
}

impl RunTrigger {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Request, Self::Trained, Self::Guard];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Trained => "trained",
            Self::Guard => "guard",
        }
    }

    /// The trigger of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trigger| trigger.name() == name)
    }

    /// Whether such a run asks the content that replies use, so that the next run is compared with it. A run of
    /// a guard asks content that may be refused.
    pub const fn asks_present_content(self) -> bool {
        match self {
            Self::Request | Self::Trained => true,
            Self::Guard => false,
        }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// It waits for its turn.
    Pending,
    /// Some of its checks may have been asked.
    Running,
    /// All checks were asked.
    Done,
    /// It was given up.
    Failed,
}

impl RunStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Running, Self::Done, Self::Failed];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// With these results after the recorded ones.
    Done(Vec<CheckResult>),
    /// With a reason.
    Failed(String),
}

/// One pass through an agent's checks, as they were when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// `run_` and 10 characters.
    pub id: Id<kind::CheckRun>,
    /// The account of the agent.
    pub account_id: Id<kind::Account>,
    /// The agent whose checks are asked.
    pub agent_id: Id<kind::Agent>,
    /// The source whose training or crawl began the run; it may have been deleted since.
    pub source_id: Option<Id<kind::Source>>,
    /// Why it began.
    pub trigger: RunTrigger,
    /// How far it is.
    pub status: RunStatus,
    /// Why it was given up.
    pub error_message: Option<String>,
    /// The checks that were asked so far, in their order.
    pub results: Vec<CheckResult>,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl CheckRun {
    /// A run that waits for its turn.
    pub const fn new(
        id: Id<kind::CheckRun>,
        (account_id, agent_id): (Id<kind::Account>, Id<kind::Agent>),
        (trigger, source_id): (RunTrigger, Option<Id<kind::Source>>),
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            account_id,
            agent_id,
            source_id,
            trigger,
            status: RunStatus::Pending,
            error_message: None,
            results: Vec::new(),
            created_at: now,
            finished_at: None,
        }
    }

    /// A run on request, of an agent that may have checks. `open` are the statuses of its runs that have not ended.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if the agent has no checks, or a run of them has not ended.
    pub fn requested(
        id: Id<kind::CheckRun>,
        agent: (Id<kind::Account>, Id<kind::Agent>),
        (has_checks, open): (bool, &[RunStatus]),
        now: Timestamp,
    ) -> Result<Self, Error> {
        let conflict = |message: &str| Err(Error::Conflict(message.to_owned()));
        if !has_checks {
            return conflict("the agent has no checks; set them first");
        }
        if !open.is_empty() {
            return conflict("a run of the agent's checks has not ended");
        }
        Ok(Self::new(id, agent, (RunTrigger::Request, None), now))
    }

    /// A run after the processing of a source has ended. `None` if the source was not trained, the agent has no checks, or a
    /// run that waits for its turn will ask the new content too. `open` are the statuses of the runs that have not ended.
    pub fn after_processing(
        id: Id<kind::CheckRun>,
        source: &Source,
        (has_checks, open): (bool, &[RunStatus]),
        now: Timestamp,
    ) -> Option<Self> {
        let is_trained = matches!(source.state, SourceState::Trained(_));
        if !is_trained || !has_checks || open.contains(&RunStatus::Pending) {
            return None;
        }
        let agent = (source.account_id, source.agent_id);
        Some(Self::new(id, agent, (RunTrigger::Trained, Some(source.id)), now))
    }

    /// The earliest time at which the new run may begin: a little later after a training, so that several sources that
    /// are trained together lead to one run.
    pub fn due_at(&self) -> Timestamp {
        match self.trigger {
            RunTrigger::Trained => self.created_at.plus_millis(limits::CHECK_DELAY_MILLIS),
            RunTrigger::Request | RunTrigger::Guard => self.created_at,
        }
    }

    /// When to look at the sources of the agent again, if the run must wait at `now` while some of them are being
    /// processed. Only a run after a training waits, before it begins, for [`limits::CHECK_WAIT_MILLIS`] at most.
    pub fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        let is_new = self.status == RunStatus::Pending && self.trigger == RunTrigger::Trained;
        let waited = now.as_millis() - self.created_at.as_millis();
        (is_new && waited < limits::CHECK_WAIT_MILLIS)
            .then(|| now.plus_millis(limits::CHECK_DELAY_MILLIS))
    }

    /// The run after a worker has claimed it.
    #[must_use]
    pub fn begin(self) -> Self {
        Self { status: RunStatus::Running, ..self }
    }

    /// The run after further checks were asked.
    #[must_use]
    pub fn record(mut self, results: Vec<CheckResult>) -> Self {
        self.results.extend(results);
        self
    }

    /// Ends the run. The results so far stay.
    #[must_use]
    pub fn end(self, end: RunEnd, now: Timestamp) -> Self {
        let finished_at = Some(now);
        match end {
            RunEnd::Done(results) => {
                Self { status: RunStatus::Done, finished_at, ..self.record(results) }
            }
            RunEnd::Failed(reason) => {
                Self { status: RunStatus::Failed, error_message: Some(reason), finished_at, ..self }
            }
        }
    }

    /// How many checks passed so far.
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|result| result.passed).count()
    }

    /// How many checks failed so far.
    pub fn failed(&self) -> usize {
        self.results.len() - self.passed()
    }

    /// The questions whose checks failed so far.
    pub fn failed_questions(&self) -> Vec<&str> {
        let failed = self.results.iter().filter(|result| !result.passed);
        failed.map(|result| result.question.as_str()).collect()
    }

    /// The event of a run that is done: `checks.failed`, if a check failed and those that failed are not the same as in
    /// `before`, the last run of the [present content](RunTrigger::asks_present_content) that was done before it.
    pub fn event(
        &self,
        before: Option<&Self>,
        id: Id<kind::Event>,
        now: Timestamp,
    ) -> Option<Event> {
        let failed = self.failed_questions();
        let is_known = before.is_some_and(|before| before.failed_questions() == failed);
        if self.status != RunStatus::Done || failed.is_empty() || is_known {
            return None;
        }
        let shown = failed.iter().take(limits::EVENT_QUESTIONS);
        let questions: Vec<_> =
            shown.map(|question| cut_at_word(question, limits::EVENT_QUESTION_CHARS)).collect();
        let name = EventName::ChecksFailed;
        let data = serde_json::json!({
            "agent_id": self.agent_id,
            "run_id": self.id,
            "trigger": self.trigger.name(),
            "source_id": self.source_id,
            "failed": failed.len(),
            "passed": self.passed(),
            "questions": questions,
        });
        let payload = serde_json::json!({ "event": name.name(), "created_at": now, "data": data })
            .to_string();
        Some(Event {
            conversation_id: None,
            id,
            account_id: self.account_id,
            source_id: self.source_id,
            name,
            request_id: None,
            created_at: now,
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckResult, CheckRun, RunEnd, RunStatus, RunTrigger};
    use crate::source::{Source, SourceContent, SourceState, Trained};
    use crate::{Error, Id, SystemEntropy, Timestamp, limits};

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn source(state: SourceState) -> Source {
        Source {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            agent_id: Id::random(&SystemEntropy),
            content: SourceContent::parse("text", "We open at nine.".to_owned(), false).unwrap(),
            state,
            progress: None,
            guarded: false,
            managed: None,
            created_at: NOW,
        }
    }

    fn trained() -> Source {
        let title = Some("Hours".to_owned());
        source(SourceState::Trained(Trained {
            character_count: 16,
            title,
            version: 1,
            partial: None,
        }))
    }

    fn after_training() -> CheckRun {
        let id = Id::random(&SystemEntropy);
        CheckRun::after_processing(id, &trained(), (true, &[]), NOW).unwrap()
    }

    fn requested(has_checks: bool, open: &[RunStatus]) -> Result<CheckRun, Error> {
        let agent = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        CheckRun::requested(Id::random(&SystemEntropy), agent, (has_checks, open), NOW)
    }

    fn result(passed: bool) -> CheckResult {
        CheckResult { question: "When?".to_owned(), passed, reason: None, reply: String::new() }
    }

    #[test]
    fn a_run_is_requested_of_an_agent_with_checks_and_without_an_open_run() {
        let run = requested(true, &[]).unwrap();
        assert_eq!((run.trigger, run.status), (RunTrigger::Request, RunStatus::Pending));
        assert_eq!((run.due_at(), run.waits_until(NOW)), (NOW, None));
        for (has_checks, open) in
            [(false, &[][..]), (true, &[RunStatus::Pending]), (true, &[RunStatus::Running])]
        {
            assert!(matches!(requested(has_checks, open), Err(Error::Conflict(_))), "{open:?}");
        }
    }

    #[test]
    fn a_run_follows_a_training_unless_one_waits_that_will_ask_the_new_content() {
        let follows = |source: &Source, has_checks, open: &[RunStatus]| {
            let id = Id::random(&SystemEntropy);
            CheckRun::after_processing(id, source, (has_checks, open), NOW).is_some()
        };
        assert!(follows(&trained(), true, &[]));
        assert!(follows(&trained(), true, &[RunStatus::Running]));
        assert!(!follows(&trained(), true, &[RunStatus::Running, RunStatus::Pending]));
        assert!(!follows(&trained(), false, &[]));
        let failed = SourceState::Failed { message: "empty".to_owned(), last: None };
        assert!(!follows(&source(failed), true, &[]));
    }

    #[test]
    fn a_run_after_a_training_waits_for_other_sources_until_it_begins_and_not_for_ever() {
        let run = after_training();
        assert_eq!(run.due_at(), NOW.plus_millis(limits::CHECK_DELAY_MILLIS));
        let last = NOW.plus_millis(limits::CHECK_WAIT_MILLIS - 1);
        assert_eq!(run.waits_until(last), Some(last.plus_millis(limits::CHECK_DELAY_MILLIS)));
        assert_eq!(run.waits_until(last.plus_millis(1)), None);
        assert_eq!(run.begin().waits_until(NOW), None);
    }

    #[test]
    fn a_run_ends_with_the_results_so_far() {
        let end = NOW.plus_millis(5);
        let begun = after_training().begin().record(vec![result(true)]);
        assert_eq!(begun.status, RunStatus::Running);
        let done = begun.clone().end(RunEnd::Done(vec![result(false)]), end);
        assert_eq!((done.status, done.passed(), done.failed()), (RunStatus::Done, 1, 1));
        assert_eq!((done.finished_at, done.error_message), (Some(end), None));
        let failed = begun.end(RunEnd::Failed("no model".to_owned()), end);
        assert_eq!((failed.status, failed.passed(), failed.failed()), (RunStatus::Failed, 1, 0));
        assert_eq!(
            (failed.finished_at, failed.error_message.as_deref()),
            (Some(end), Some("no model"))
        );
    }
}
