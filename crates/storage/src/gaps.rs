//! Gaps, and the questions in them.
//!
//! No question is copied: its text is that of its message. A question is deleted with its message, and a gap without
//! questions is as good as removed: no query finds it, and the housekeeper deletes its row.
//!
//! Whatever puts questions into gaps, or changes or removes gaps, locks the agent's row first.

mod answer;
mod expiry;
mod list;
mod questions;

use std::collections::HashMap;

use async_trait::async_trait;
use cicerone_domain::gap::{
    CheckedGap, GapChange, GapFilter, GapList, GapState, GapStatus, PlacedQuestion, Ungrouped,
};
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::{GapAnswer, GapStore};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Agent, Error, Id, Scope, Source, Timestamp};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;

pub(crate) use expiry::{empty_gaps, kept_since, remove_before, remove_empty};
pub(crate) use questions::{GapQuestionRow, forget_rated_down, note_rated_down, note_unanswered};

use crate::agents;
use crate::columns::{id, named, narrow_option, time, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{gap_questions, gaps, sources};
use crate::scope::Visible;
use crate::storage::Storage;

/// True if the conversation of a question is not being deleted.
const IS_THERE: &str = "gap_questions.conversation_id NOT IN \
    (SELECT id FROM conversations WHERE removed_at IS NOT NULL)";

#[derive(Insertable)]
#[diesel(table_name = gaps, treat_none_as_default_value = false)]
struct GapRow {
    id: String,
    account_id: String,
    agent_id: String,
    status: &'static str,
    source_id: Option<String>,
    checked_generation: Option<i64>,
    created_at: i64,
    changed_at: Option<i64>,
}

/// What is known of a gap without its questions.
#[derive(Queryable, Selectable)]
#[diesel(table_name = gaps)]
struct StateRow {
    id: String,
    status: String,
    source_id: Option<String>,
    checked_generation: Option<i64>,
    changed_at: Option<i64>,
}

impl StateRow {
    fn read(self, agent: Id<kind::Agent>) -> Result<GapState, TransactionError> {
        let source = self.source_id.map(|source| id("gaps.source_id", &source));
        Ok(GapState {
            id: id("gaps.id", &self.id)?,
            agent_id: agent,
            status: named("gaps.status", &self.status, GapStatus::from_name)?,
            source_id: source.transpose()?,
            checked_generation: narrow_option("gaps.checked_generation", self.checked_generation)?,
            changed_at: self.changed_at.map(time),
        })
    }
}

#[async_trait]
impl GapStore for Storage {
    async fn ungrouped(&self, scope: &Scope, agent: Id<kind::Agent>) -> Result<Ungrouped, Error> {
        self.snapshot(scope, move |c, visible| {
            agents::require(c, visible, agent)?;
            list::ungrouped(c, agent)
        })
        .await
    }

    async fn place(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        placed: Vec<PlacedQuestion>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let visible = Visible::from(scope);
        self.db
            .of(scope.account)
            .write(move |c| {
                let agent = agents::require_locked(c, &visible, agent)?;
                place(c, &agent, &placed, now)
            })
            .await
    }

    async fn list_gaps(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: GapFilter,
    ) -> Result<GapList, Error> {
        self.snapshot(scope, move |c, visible| {
            agents::require(c, visible, agent)?;
            list::list(c, agent, filter)
        })
        .await
    }

    async fn note_checked(
        &self,
        agent: AgentVersion,
        checked: Vec<CheckedGap>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.db
            .of(agent.account_id)
            .write(move |c| {
                dialect::lock_agent(c, &agent.id.to_string())?;
                let ids = checked.iter().map(|gap| gap.id.to_string());
                let known: Vec<StateRow> = gaps::table
                    .filter(gaps::id.eq_any(ids))
                    .filter(gaps::agent_id.eq(agent.id.to_string()))
                    .select(StateRow::as_select())
                    .load(c)?;
                for row in known {
                    let before = row.read(agent.id)?;
                    let Some(found) = checked.iter().find(|found| found.id == before.id) else {
                        continue;
                    };
                    let gap = before.clone().checked(agent.generation, found.is_answered, now);
                    if gap != before {
                        set_state(c, &gap)?;
                    }
                }
                Ok(())
            })
            .await
    }

    async fn change_gap(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        gap: Id<kind::Gap>,
        change: GapChange,
        now: Timestamp,
        completion: Option<Completion<GapState>>,
    ) -> Result<GapState, Error> {
        let visible = Visible::from(scope);
        self.db
            .of(scope.account)
            .write_completing(completion, move |c| {
                let agent = agents::require_locked(c, &visible, agent)?;
                let gap = require(c, &agent, gap)?.changed(change, agent.index_generation, now);
                set_state(c, &gap)?;
                Ok(gap)
            })
            .await
    }

    async fn answer_gap(
        &self,
        scope: &Scope,
        answer: GapAnswer,
        now: Timestamp,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let visible = Visible::from(scope);
        let (db, quota) = (self.db.of(scope.account), self.account_bytes);
        let (within, given) = (visible.clone(), answer.clone());
        let receiver = db.read(move |c| {
            let agent = agents::require(c, &within, given.agent)?;
            require(c, &agent, given.gap)?;
            answer::receiver(c, &within, &given)
        });
        let receiver = receiver.await?;
        db.write_completing(completion, move |c| {
            let agent = agents::require_locked(c, &visible, answer.agent)?;
            let gap = require(c, &agent, answer.gap)?;
            let source = receiver.add(c, &visible, &answer, quota, now)?;
            answer::close(c, gap, &source, now)?;
            Ok(source)
        })
        .await
    }
}

/// Returns a gap of the agent. Fails if it does not exist, or has no questions.
fn require(
    c: &mut AnyConnection,
    agent: &Agent,
    gap: Id<kind::Gap>,
) -> Result<GapState, TransactionError> {
    let question = gap_questions::table
        .filter(gap_questions::agent_id.eq(gaps::agent_id))
        .filter(gap_questions::gap_id.eq(gaps::id.nullable()))
        .filter(sql::<Bool>(IS_THERE))
        .select(gap_questions::conversation_id);
    let row: Option<StateRow> = gaps::table
        .filter(gaps::id.eq(gap.to_string()))
        .filter(gaps::agent_id.eq(agent.id.to_string()))
        .filter(gaps::account_id.eq(agent.account_id.to_string()))
        .filter(exists(question))
        .select(StateRow::as_select())
        .get_result(c)
        .optional()?;
    let row = row.ok_or_else(|| Error::not_found("gap", gap))?;
    let state = row.read(agent.id)?;
    let source = state.source_id.map(|source| source.to_string());
    Ok(GapState { source_id: existing_source(c, source)?, ..state })
}

/// Stores the status of a gap, and when it was searched for and changed.
fn set_state(c: &mut AnyConnection, gap: &GapState) -> Result<(), TransactionError> {
    diesel::update(gaps::table.find(gap.id.to_string()))
        .set((
            gaps::status.eq(gap.status.name()),
            gaps::checked_generation.eq(gap.checked_generation.map(wide)),
            gaps::changed_at.eq(gap.changed_at.map(Timestamp::as_millis)),
        ))
        .execute(c)?;
    Ok(())
}

/// The source with that id, if it still exists.
fn existing_source(
    c: &mut AnyConnection,
    source: Option<String>,
) -> Result<Option<Id<kind::Source>>, TransactionError> {
    let Some(source) = source else { return Ok(None) };
    let found: Option<String> = sources::table
        .find(source)
        .filter(sources::removed_at.is_null())
        .select(sources::id)
        .get_result(c)
        .optional()?;
    found.map(|found| id("sources.id", &found)).transpose()
}

/// Puts questions of an agent into gaps. The agent's row is locked.
fn place(
    c: &mut AnyConnection,
    agent: &Agent,
    placed: &[PlacedQuestion],
    now: Timestamp,
) -> Result<(), TransactionError> {
    let mut order: Vec<Id<kind::Gap>> = Vec::new();
    let mut by_gap: HashMap<Id<kind::Gap>, Vec<&PlacedQuestion>> = HashMap::new();
    for question in placed {
        let questions = by_gap.entry(question.gap).or_default();
        if questions.is_empty() {
            order.push(question.gap);
        }
        questions.push(question);
    }
    for gap in order {
        let questions = by_gap.remove(&gap).unwrap_or_default();
        fill(c, agent, gap, &questions, now)?;
    }
    Ok(())
}

/// Puts questions into one gap, which is made if it is new, and opened if it was answered.
fn fill(
    c: &mut AnyConnection,
    agent: &Agent,
    gap: Id<kind::Gap>,
    questions: &[&PlacedQuestion],
    now: Timestamp,
) -> Result<(), TransactionError> {
    let (agent_id, gap_id) = (agent.id.to_string(), gap.to_string());
    let known: Option<(String, Option<i64>)> = gaps::table
        .find(&gap_id)
        .filter(gaps::agent_id.eq(&agent_id))
        .select((gaps::status, gaps::changed_at))
        .get_result(c)
        .optional()?;
    if known.is_none() && !questions.iter().any(|question| question.is_new) {
        // It was removed since it was read. Its questions stay without a group until the next request.
        return Ok(());
    }
    let mut latest: Option<Timestamp> = None;
    for question in questions {
        let free = gap_questions::table
            .find((question.at.conversation_id.to_string(), question.at.position))
            .filter(gap_questions::agent_id.eq(&agent_id))
            .filter(gap_questions::gap_id.is_null());
        let count = diesel::update(free).set(gap_questions::gap_id.eq(&gap_id)).execute(c)?;
        if count == 1 {
            latest = latest.max(Some(question.asked_at));
        }
    }
    let Some(latest) = latest else { return Ok(()) };
    match known {
        None => {
            let row = GapRow {
                id: gap_id,
                account_id: agent.account_id.to_string(),
                agent_id,
                status: GapStatus::Open.name(),
                source_id: None,
                checked_generation: None,
                created_at: now.as_millis(),
                changed_at: None,
            };
            diesel::insert_into(gaps::table).values(row).execute(c)?;
        }
        Some((status, changed_at)) => {
            let before = named("gaps.status", &status, GapStatus::from_name)?;
            let after = before.joined_by(latest, changed_at.map(time));
            if after != before {
                diesel::update(gaps::table.find(&gap_id))
                    .set((gaps::status.eq(after.name()), gaps::changed_at.eq(now.as_millis())))
                    .execute(c)?;
            }
        }
    }
    Ok(())
}
