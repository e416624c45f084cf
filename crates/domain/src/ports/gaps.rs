//! The ports of gaps: their store, and the similarity of questions.

use async_trait::async_trait;

use crate::access::Scope;
use crate::error::Error;
use crate::gap::{
    CheckedGap, GapChange, GapFilter, GapList, GapState, Joined, PlacedQuestion, Ungrouped,
};
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::job::NewJob;
use crate::retrieval::AgentVersion;
use crate::source::{QaPair, Source};
use crate::timestamp::Timestamp;

/// The answer to a gap.
#[derive(Debug, Clone)]
pub struct GapAnswer {
    /// The agent of the gap.
    pub agent: Id<kind::Agent>,
    /// The gap.
    pub gap: Id<kind::Gap>,
    /// The pair that answers it.
    pub pair: QaPair,
    /// The source that receives the pair; `None` for the agent's own source for gaps.
    pub source: Option<Id<kind::Source>>,
    /// A new source with this pair, which is added if the agent has no source for gaps with room for another pair.
    pub fresh: Source,
    /// The job that processes the source.
    pub job: NewJob,
}

/// Gaps. The questions in them are added by the store of conversations, with turns and ratings.
#[async_trait]
pub trait GapStore: Send + Sync {
    /// Questions of an agent without a group, oldest first, at most [`GAP_GROUPED`](crate::limits::GAP_GROUPED); and if
    /// there are any, the latest [`GAP_COMPARED`](crate::limits::GAP_COMPARED) gaps. Fails with [`Error::NotFound`].
    async fn ungrouped(&self, scope: &Scope, agent: Id<kind::Agent>) -> Result<Ungrouped, Error>;
    /// Puts questions into gaps, and opens answered gaps again: see
    /// [`GapStatus::joined_by`](crate::gap::GapStatus::joined_by). Questions that another request has placed, and gaps that
    /// were removed, are skipped. Fails with [`Error::NotFound`].
    async fn place(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        placed: Vec<PlacedQuestion>,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Gaps of an agent, the most frequent first, ties by the latest question. Fails with [`Error::NotFound`].
    async fn list_gaps(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: GapFilter,
    ) -> Result<GapList, Error>;
    /// Notes that open gaps were searched for at the agent's generation, and closes those that are answered.
    async fn note_checked(
        &self,
        agent: AgentVersion,
        checked: Vec<CheckedGap>,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Opens or dismisses a gap. Fails with [`Error::NotFound`] for the agent and the gap.
    async fn change_gap(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        gap: Id<kind::Gap>,
        change: GapChange,
        now: Timestamp,
        completion: Option<Completion<GapState>>,
    ) -> Result<GapState, Error>;
    /// Adds a pair to a source, and closes the gap. Fails with [`Error::NotFound`] for the agent and the gap, with
    /// [`Error::Invalid`] on `source_id` if the agent has no such source, as [`Source::add_pairs`] does, and with
    /// [`Error::BytesExceeded`].
    async fn answer_gap(
        &self,
        scope: &Scope,
        answer: GapAnswer,
        now: Timestamp,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error>;
}

/// Decides which questions are similar.
#[async_trait]
pub trait Likeness: Send + Sync {
    /// The group that each question joins, in order: the most similar one of `groups` and of the groups that earlier
    /// questions have started, or a new group if none is similar. A group is represented by some of its questions.
    async fn join(
        &self,
        groups: Vec<Vec<String>>,
        questions: Vec<String>,
    ) -> Result<Vec<Joined>, Error>;
}
