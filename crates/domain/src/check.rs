//! Checks: questions whose replies an agent's owner knows, and the runs that ask them.

mod failure;
mod given;
mod guard;
mod run;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::content::cut_at_word;
use crate::conversation::{Citation, Message};
use crate::limits;

pub use failure::{AfterFailure, after_failure};
pub use given::GivenCheck;
pub use guard::{Comparison, ComparisonOutcome};
pub use run::{CheckRun, RunEnd, RunStatus, RunTrigger};

/// A question, and what must be true of its reply. Made by [`CheckList::parse`], or read from where it was stored.
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
    /// The question as it was asked, also if the check was changed since.
    pub question: String,
    /// Whether the reply meets every expectation.
    pub passed: bool,
    /// The first expectation that it does not meet.
    pub reason: Option<String>,
    /// The reply, cut at [`limits::CHECK_REPLY_CHARS`] characters.
    pub reply: String,
}

/// The checks of an agent, in the order in which they were given: at most [`limits::CHECKS`]. Made by
/// [`CheckList::parse`], or read from where it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckList(Vec<Check>);

impl CheckList {
    /// The checks, in the order in which they were given.
    pub fn as_slice(&self) -> &[Check] {
        &self.0
    }

    /// The checks without the proof that their number is within the limit.
    pub fn into_vec(self) -> Vec<Check> {
        self.0
    }
}

/// An agent's checks, with the run that began last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentChecks {
    /// The checks as they are now; the last run may have had others.
    pub checks: CheckList,
    /// The last run, if there was any.
    pub last_run: Option<CheckRun>,
}

#[cfg(test)]
mod tests;
