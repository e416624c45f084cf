//! Checks: questions whose replies an agent's owner knows, and the runs that ask them.

mod given;
mod guard;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::content::cut_at_word;
use crate::conversation::{Citation, Message};
use crate::event::Event;
use crate::id::{Id, kind};
use crate::limits;
use crate::timestamp::Timestamp;
use crate::webhook::EventName;

pub use given::{GivenCheck, parse_checks};
pub use guard::{Comparison, ComparisonOutcome};

/// A question, and what must be true of its reply. Made by [`parse_checks`], or read from where it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    question: String,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    answered: Option<bool>,
}

impl Check {
    /// The question: at most [`limits::MESSAGE_CHARS`] characters.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// Texts that the reply must contain, without regard to case.
    pub fn contains(&self) -> &[String] {
        &self.contains
    }

    /// Ids or addresses of sources, each of which the reply must cite.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// Whether the reply must be based on a source, or must not; `None` if that is not checked.
    pub const fn answered(&self) -> Option<bool> {
        self.answered
    }

    /// Judges a reply.
    pub fn judge(&self, reply: &Message) -> CheckResult {
        let reason = self.fault(reply);
        CheckResult {
            question: self.question.clone(),
            passed: reason.is_none(),
            reason,
            reply: cut_at_word(&reply.content, limits::CHECK_REPLY_CHARS).into_owned(),
        }
    }

    /// The first expectation that a reply does not meet, in words.
    fn fault(&self, reply: &Message) -> Option<String> {
        let is_answered = !reply.sources_used.is_empty();
        match self.answered {
            Some(true) if !is_answered => return Some("the question is not answered".to_owned()),
            Some(false) if is_answered => {
                return Some("the question is answered, but must not be".to_owned());
            }
            Some(_) | None => {}
        }
        let said = reply.content.to_lowercase();
        let lacks = |text: &&String| !said.contains(&text.to_lowercase());
        if let Some(text) = self.contains.iter().find(lacks) {
            return Some(format!("the reply lacks `{text}`"));
        }
        let is_cited =
            |source: &str| reply.sources_used.iter().any(|citation| names(citation, source));
        let missing = self.sources.iter().find(|source| !is_cited(source))?;
        Some(format!("the reply does not cite `{missing}`"))
    }
}

/// Whether a citation is of the source with that id, or of a page with that address.
fn names(citation: &Citation, source: &str) -> bool {
    if citation.id.to_string() == source {
        return true;
    }
    let Ok(wanted) = Url::parse(source) else { return false };
    let passages = citation.passages.iter().filter_map(|passage| passage.url.as_deref());
    let mut urls = citation.url.as_deref().into_iter().chain(passages);
    urls.any(|url| Url::parse(url).is_ok_and(|url| url == wanted))
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The question.
    pub question: String,
    /// Whether the reply meets every expectation.
    pub passed: bool,
    /// The first expectation that it does not meet.
    pub reason: Option<String>,
    /// The reply, cut at [`limits::CHECK_REPLY_CHARS`] characters.
    pub reply: String,
}

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

/// One pass through an agent's checks, as they were when it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// `run_` and 10 characters.
    pub id: Id<kind::CheckRun>,
    /// The account of the agent.
    pub account_id: Id<kind::Account>,
    /// The agent.
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

    /// How many checks passed so far.
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|result| result.passed).count()
    }

    /// How many checks failed so far.
    pub fn failed(&self) -> usize {
        self.results.len() - self.passed()
    }

    /// The questions of the checks that failed.
    pub fn failed_questions(&self) -> Vec<&str> {
        let failed = self.results.iter().filter(|result| !result.passed);
        failed.map(|result| result.question.as_str()).collect()
    }

    /// The event of a run that is done: `checks.failed`, if a check failed and those that failed are not the same as in
    /// `before`, the last run that was done before it.
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

/// An agent's checks, with the run that began last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentChecks {
    /// The checks, in the order in which they were given.
    pub checks: Vec<Check>,
    /// The last run, if there was any.
    pub last_run: Option<CheckRun>,
}

#[cfg(test)]
mod tests;
