//! Checks of agents: what their endpoints share.

mod bounded;
pub(super) mod get;
pub(super) mod replace;
pub(super) mod run;
pub(super) mod runs;

use cicerone_domain::check::{AgentChecks, Check, CheckResult, CheckRun};
use cicerone_domain::{Id, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent's checks, with the run that began last.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AgentChecks)]
pub(super) struct AgentChecksView<'a> {
    checks: Vec<CheckView<'a>>,
    /// The latest run; null if there was none.
    #[schema(required)]
    last_run: Option<CheckRunView<'a>>,
}

impl<'a> From<&'a AgentChecks> for AgentChecksView<'a> {
    fn from(checks: &'a AgentChecks) -> Self {
        Self {
            checks: checks.checks.as_slice().iter().map(CheckView::from).collect(),
            last_run: checks.last_run.as_ref().map(CheckRunView::from),
        }
    }
}

/// A question and the expectations that its reply must meet.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Check)]
pub(super) struct CheckView<'a> {
    #[schema(max_length = 4000)]
    question: &'a str,
    /// Texts that the reply must contain; case is ignored.
    contains: &'a [String],
    /// Ids of sources, or addresses of pages, each of which the reply must cite.
    sources: &'a [String],
    /// Whether the reply must be based on a source (true) or must not be (false); null if this is not checked.
    #[schema(required)]
    answered: Option<bool>,
}

impl<'a> From<&'a Check> for CheckView<'a> {
    fn from(check: &'a Check) -> Self {
        Self {
            question: check.question(),
            contains: check.contains(),
            sources: check.sources(),
            answered: check.answered(),
        }
    }
}

/// One run of the checks of an agent, as they were when it began.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckRun)]
pub(super) struct CheckRunView<'a> {
    #[schema(value_type = String, pattern = "^run_[0-9A-Za-z]{10}$")]
    id: Id<kind::CheckRun>,
    /// Why it started: it was requested, a source was trained, or a guarded source was crawled. A run of the last kind
    /// used the content that the crawl found.
    #[schema(pattern = "^(request|trained|guard)$")]
    trigger: &'static str,
    #[schema(pattern = "^(pending|running|done|failed)$")]
    status: &'static str,
    /// How many checks passed so far.
    passed: usize,
    /// How many checks failed so far.
    failed: usize,
    /// The source whose training started the run; null if it was requested.
    #[schema(value_type = Option<String>, required = true, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Option<Id<kind::Source>>,
    /// Why it was abandoned; null unless it is `failed`.
    #[schema(required)]
    error_message: Option<&'a str>,
    /// The results of the checks that were asked so far, in order.
    results: Vec<CheckResultView<'a>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it ended; null until then.
    #[schema(value_type = Option<String>, required = true, format = DateTime)]
    finished_at: Option<Timestamp>,
}

impl<'a> From<&'a CheckRun> for CheckRunView<'a> {
    fn from(run: &'a CheckRun) -> Self {
        Self {
            id: run.id,
            trigger: run.trigger.name(),
            status: run.status.name(),
            passed: run.passed(),
            failed: run.failed(),
            source_id: run.source_id,
            error_message: run.error_message.as_deref(),
            results: run.results.iter().map(CheckResultView::from).collect(),
            created_at: run.created_at,
            finished_at: run.finished_at,
        }
    }
}

/// What a check found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckResult)]
pub(super) struct CheckResultView<'a> {
    #[schema(max_length = 4000)]
    question: &'a str,
    passed: bool,
    /// The first expectation that the reply does not meet; null if it passed.
    #[schema(required)]
    reason: Option<&'a str>,
    /// The reply, or its beginning; empty after a source of the agent was deleted.
    #[schema(max_length = 1000)]
    reply: &'a str,
}

impl<'a> From<&'a CheckResult> for CheckResultView<'a> {
    fn from(result: &'a CheckResult) -> Self {
        Self {
            question: &result.question,
            passed: result.passed,
            reason: result.reason.as_deref(),
            reply: &result.reply,
        }
    }
}
