//! Answering a gap with a pair.

use cicerone_domain::gap::{GapState, unknown_source};
use cicerone_domain::id::kind;
use cicerone_domain::ports::GapAnswer;
use cicerone_domain::{Id, Source, Timestamp};
use diesel::prelude::*;

use super::set_state;
use crate::columns::id;
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::schema::{agents, gaps};
use crate::scope::Visible;
use crate::sources::{self, Grown};

/// What receives a pair.
pub(super) struct Receiver {
    /// The source that the answer names, or else the agent's source for gaps, if it has one.
    candidate: Option<Id<kind::Source>>,
    /// The candidate with the pair; `None` if a new source receives it.
    grown: Option<Grown>,
}

/// Finds what receives the pair, and joins it with the pairs that are there: see [`Grown`].
pub(super) fn receiver(
    c: &mut AnyConnection,
    visible: &Visible,
    answer: &GapAnswer,
) -> Result<Receiver, TransactionError> {
    let candidate = candidate(c, answer)?;
    let found = candidate.map(|source| sources::find(c, visible, source)).transpose()?.flatten();
    let source = answer.receiver(found)?;
    let pairs = std::slice::from_ref(&answer.pair);
    let grown = source.map(|source| Grown::of(source, pairs)).transpose()?;
    Ok(Receiver { candidate, grown })
}

fn candidate(
    c: &mut AnyConnection,
    answer: &GapAnswer,
) -> Result<Option<Id<kind::Source>>, TransactionError> {
    if let Some(named) = answer.source {
        return Ok(Some(named));
    }
    let own: Option<String> =
        agents::table.find(answer.agent.to_string()).select(agents::gap_source_id).get_result(c)?;
    own.map(|own| id("agents.gap_source_id", &own)).transpose()
}

impl Receiver {
    /// Adds the pair. The agent's row is locked. `quota` applies to accounts without one of their own.
    pub(super) fn add(
        &self,
        c: &mut AnyConnection,
        visible: &Visible,
        answer: &GapAnswer,
        quota: Option<u64>,
        now: Timestamp,
    ) -> Result<Source, TransactionError> {
        if candidate(c, answer)? != self.candidate {
            return Err(sources::changed().into());
        }
        if let Some(grown) = &self.grown {
            let source = sources::find_unread(c, visible, grown.id)?;
            // A caller that named no source is not told about this one: the next attempt adds a new source.
            let deleted = || match answer.source {
                Some(_) => unknown_source(),
                None => sources::changed(),
            };
            let source = source.ok_or_else(deleted)?;
            return grown.store(c, source, answer.job, quota, now);
        }
        sources::add_new(c, quota, &answer.fresh, answer.job)?;
        diesel::update(agents::table.find(answer.agent.to_string()))
            .set(agents::gap_source_id.eq(answer.fresh.id.to_string()))
            .execute(c)?;
        Ok(answer.fresh.clone())
    }
}

/// Closes the gap that this source answers.
pub(super) fn close(
    c: &mut AnyConnection,
    gap: GapState,
    source: &Source,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let gap = gap.answered(source.id, now);
    set_state(c, &gap)?;
    diesel::update(gaps::table.find(gap.id.to_string()))
        .set(gaps::source_id.eq(source.id.to_string()))
        .execute(c)?;
    Ok(())
}
