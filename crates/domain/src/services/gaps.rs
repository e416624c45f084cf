//! Use cases of gaps: questions that agents do not answer.

use std::sync::Arc;

use crate::access::Scope;
use crate::agent::Agent;
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::gap::{CheckedGap, Gap, GapChange, GapFilter, GapList, GapState, GapStatus};
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::job::NewJob;
use crate::limits;
use crate::ports::{AgentStore, GapAnswer, GapStore, Likeness, PassageIndex, Stages, WorkSignal};
use crate::retrieval::{AgentVersion, Query};
use crate::services::thinking::Thinking;
use crate::source::{PairsText, QaPair, Source, SourceContent, SourceState};

/// The answer to a gap, already parsed.
#[derive(Debug, Clone)]
pub struct NewGapAnswer {
    /// The agent that the gap belongs to.
    pub agent_id: Id<kind::Agent>,
    /// The gap that becomes answered.
    pub gap_id: Id<kind::Gap>,
    /// The question and answer that are added.
    pub pair: QaPair,
    /// The source that receives the pair; `None` for the agent's own source for gaps.
    pub source_id: Option<Id<kind::Source>>,
    /// The request that asks for it, for the logs.
    pub request_id: Option<Id<kind::Request>>,
}

/// Groups, lists, answers and dismisses unanswered questions.
#[derive(Clone)]
pub struct Gaps {
    ports: GapPorts,
    thinking: Thinking,
}

/// What [`Gaps`] works with.
#[derive(Clone)]
pub struct GapPorts {
    /// Reads and changes gaps.
    pub store: Arc<dyn GapStore>,
    /// Tells whether the account has the agent.
    pub agents: Arc<dyn AgentStore>,
    /// Determines whether questions can now be answered.
    pub index: Arc<dyn PassageIndex>,
    /// Decides which questions are similar.
    pub likeness: Arc<dyn Likeness>,
    /// Wakes the workers of this process.
    pub signal: WorkSignal,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// For ids.
    pub entropy: Arc<dyn Entropy>,
}

impl Gaps {
    /// The use cases over these ports.
    pub fn new(ports: GapPorts) -> Self {
        Self { ports, thinking: Thinking::default() }
    }

    /// Gaps of an agent, the most frequent first. Puts questions into groups first, and closes the gaps of a list of
    /// open ones whose questions can now be answered.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn list(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: GapFilter,
    ) -> Result<GapList, Error> {
        let agent = self
            .ports
            .agents
            .find_agent(scope, agent)
            .await?
            .ok_or_else(|| Error::not_found("agent", agent))?;
        self.group(scope, agent.id).await?;
        let mut list = self.ports.store.list_gaps(scope, agent.id, filter).await?;
        if filter.status != GapStatus::Open {
            return Ok(list);
        }
        let until = self.ports.clock.now().plus_millis(limits::GAP_SEARCH_MILLIS);
        let mut left = limits::GAP_SEARCHES;
        // Closed gaps make room for others, which may also be answered.
        while left > 0 && self.ports.clock.now() < until {
            let due = list.gaps.iter().filter(|gap| gap.is_due(agent.index_generation));
            let mut checked = Vec::new();
            for gap in due.take(left) {
                checked.push(self.check(&agent, gap).await?);
                if self.ports.clock.now() >= until {
                    break;
                }
            }
            if checked.is_empty() {
                break;
            }
            left = left.saturating_sub(checked.len());
            let (version, now) = (AgentVersion::of(&agent), self.ports.clock.now());
            self.ports.store.note_checked(version, checked, now).await?;
            list = self.ports.store.list_gaps(scope, agent.id, filter).await?;
        }
        Ok(list)
    }

    /// Puts some of the questions without a group into groups.
    async fn group(&self, scope: &Scope, agent: Id<kind::Agent>) -> Result<(), Error> {
        let ungrouped = self.ports.store.ungrouped(scope, agent).await?;
        if ungrouped.questions.is_empty() {
            return Ok(());
        }
        let groups = ungrouped.gaps.iter().map(|gap| gap.questions.clone()).collect();
        let questions = ungrouped.questions.iter().map(|question| question.text.clone()).collect();
        let turn = self.thinking.turn(scope.account).await;
        let joined = self.ports.likeness.join(groups, questions).await?;
        drop(turn);
        let placed = ungrouped.place(&joined);
        self.ports.store.place(scope, agent, placed, self.ports.clock.now()).await
    }

    /// Searches for the first question of a gap, as a reply would.
    async fn check(&self, agent: &Agent, gap: &Gap) -> Result<CheckedGap, Error> {
        let (version, index) = (AgentVersion::of(agent), &self.ports.index);
        let floor = agent.profile.answer_floor;
        let query = Query { text: gap.question.clone(), floor, ..Query::default() };
        let vector = index.meaning(version, &query, &Stages::default()).await;
        let turn = self.thinking.turn_for(agent.account_id, &query.text).await;
        let found = index.search_with(version, &query, vector, limits::REPLY_PASSAGES).await?;
        drop(turn);
        let is_answered = found.hits.iter().any(|hit| hit.is_relevant);
        Ok(CheckedGap { id: gap.id, is_answered })
    }

    /// Opens or dismisses a gap.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent and the gap.
    pub async fn change(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        gap: Id<kind::Gap>,
        change: GapChange,
        completion: Option<Completion<GapState>>,
    ) -> Result<GapState, Error> {
        let now = self.ports.clock.now();
        self.ports.store.change_gap(scope, agent, gap, change, now, completion).await
    }

    /// Adds a pair to a source, which is then processed, and closes the gap.
    ///
    /// # Errors
    ///
    /// Those of [`GapStore::answer_gap`].
    pub async fn answer(
        &self,
        scope: &Scope,
        new: NewGapAnswer,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let (now, entropy) = (self.ports.clock.now(), self.ports.entropy.as_ref());
        let fresh = Source {
            id: Id::random(entropy),
            account_id: scope.account,
            agent_id: new.agent_id,
            content: SourceContent::Qa(PairsText::of(std::slice::from_ref(&new.pair))?),
            state: SourceState::Pending,
            progress: None,
            guarded: false,
            managed: None,
            created_at: now,
        };
        let answer = GapAnswer {
            agent: new.agent_id,
            gap: new.gap_id,
            pair: new.pair,
            source: new.source_id,
            fresh,
            job: NewJob { id: Id::random(entropy), request_id: new.request_id },
        };
        let source = self.ports.store.answer_gap(scope, answer, now, completion).await?;
        self.ports.signal.notify();
        Ok(source)
    }
}
