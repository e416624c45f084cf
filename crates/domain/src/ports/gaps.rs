//! The ports of gaps: their store, and the similarity of questions.

use async_trait::async_trait;

use crate::access::Scope;
use crate::error::Error;
use crate::gap::{
    CheckedGap, GapChange, GapFilter, GapList, GapState, Joined, PlacedQuestion, Ungrouped,
    unknown_source,
};
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::job::NewJob;
use crate::retrieval::AgentVersion;
use crate::source::{QaPair, Source};
use crate::timestamp::Timestamp;

/// A pair that is to answer the questions of a gap.
#[derive(Debug, Clone)]
pub struct GapAnswer {
    /// The agent that the gap belongs to.
    pub agent: Id<kind::Agent>,
    /// The gap that becomes answered.
    pub gap: Id<kind::Gap>,
    /// The question and answer that are added.
    pub pair: QaPair,
    /// The source that receives the pair; `None` for the agent's own source for gaps.
    pub source: Option<Id<kind::Source>>,
    /// A new source with this pair, which is added if the agent has no source for gaps with room for another pair.
    pub fresh: Source,
    /// The job that processes the source.
    pub job: NewJob,
}

impl GapAnswer {
    /// The existing source that receives the pair; `None` if the new one does. `found` is the source that the answer names
    /// or, if it names none, the agent's source for gaps, if there is one.
    ///
    /// # Errors
    ///
    /// [`gap::unknown_source`](unknown_source) if the answer names a source that is not one of the agent.
    pub fn receiver(&self, found: Option<Source>) -> Result<Option<Source>, Error> {
        let found = found.filter(|source| source.agent_id == self.agent);
        if self.source.is_some() {
            return found.map(Some).ok_or_else(unknown_source);
        }
        let Some(own) = found else { return Ok(None) };
        Ok(own.has_room_for(std::slice::from_ref(&self.pair))?.then_some(own))
    }
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
    /// Notes that answers to open gaps were searched for at the agent's generation, and closes the answered ones.
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

#[cfg(test)]
mod tests {
    use super::GapAnswer;
    use crate::job::NewJob;
    use crate::source::{QaPair, Source, SourceContent, SourceState};
    use crate::{Id, SystemEntropy, Timestamp, kind};

    fn source(agent: Id<kind::Agent>, kind: &str, content: &str) -> Source {
        Source {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            agent_id: agent,
            content: SourceContent::parse(kind, content.to_owned(), false).unwrap(),
            state: SourceState::Pending,
            progress: None,
            guarded: false,
            managed: None,
            created_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_pair_goes_to_the_named_source_to_the_one_for_gaps_or_to_a_new_one() {
        const PAIRS: &str = r#"[{"question": "Q", "answer": "A"}]"#;
        let (agent, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let answer = |source| GapAnswer {
            agent,
            gap: Id::random(&SystemEntropy),
            pair: QaPair::parse("Q".to_owned(), "A".to_owned()).unwrap(),
            source,
            fresh: source_of_pairs(agent),
            job: NewJob { id: Id::random(&SystemEntropy), request_id: None },
        };
        fn source_of_pairs(agent: Id<kind::Agent>) -> Source {
            source(agent, "qa", PAIRS)
        }
        let of_other = source_of_pairs(other);
        for named in [Some(of_other.clone()), None] {
            let refused = answer(Some(of_other.id)).receiver(named).unwrap_err();
            assert_eq!(refused.params(), ["source_id"]);
        }
        let own = source_of_pairs(agent);
        assert_eq!(answer(Some(own.id)).receiver(Some(own.clone())).unwrap(), Some(own.clone()));
        assert_eq!(answer(None).receiver(Some(own.clone())).unwrap(), Some(own));
        assert_eq!(answer(None).receiver(None).unwrap(), None);
        // A source that holds no pairs has no room for them.
        let text = source(agent, "text", "We open at nine.");
        assert_eq!(answer(None).receiver(Some(text)).unwrap(), None);
    }
}
