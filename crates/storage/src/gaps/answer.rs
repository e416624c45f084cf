//! Answering a gap with a pair.

use cicerone_domain::gap::GapState;
use cicerone_domain::ports::GapAnswer;
use cicerone_domain::{Source, Timestamp};
use diesel::prelude::*;

use super::set_state;
use crate::columns::id;
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::schema::{agents, gaps};
use crate::scope::Visible;
use crate::sources;

/// Adds a pair to a source, and closes the gap. The agent's row is locked. `quota` applies to accounts without one of their
/// own.
pub(super) fn answer(
    c: &mut AnyConnection,
    visible: &Visible,
    (gap, answer): (GapState, &GapAnswer),
    quota: Option<u64>,
    now: Timestamp,
) -> Result<Source, TransactionError> {
    let source = add(c, visible, answer, quota, now)?;
    let gap = gap.answered(source.id, now);
    set_state(c, &gap)?;
    diesel::update(gaps::table.find(gap.id.to_string()))
        .set(gaps::source_id.eq(source.id.to_string()))
        .execute(c)?;
    Ok(source)
}

/// Adds the pair to the source that receives it.
fn add(
    c: &mut AnyConnection,
    visible: &Visible,
    answer: &GapAnswer,
    quota: Option<u64>,
    now: Timestamp,
) -> Result<Source, TransactionError> {
    let agent = answer.agent.to_string();
    let candidate = match answer.source {
        Some(named) => Some(named),
        None => {
            let own: Option<String> =
                agents::table.find(&agent).select(agents::gap_source_id).get_result(c)?;
            own.map(|own| id("agents.gap_source_id", &own)).transpose()?
        }
    };
    let found = candidate.map(|source| sources::find(c, visible, source)).transpose()?.flatten();
    if let Some(source) = answer.receiver(found)? {
        let pairs = std::slice::from_ref(&answer.pair);
        return sources::add_pairs(c, source, pairs, answer.job, quota, now);
    }
    sources::add_new(c, quota, &answer.fresh, answer.job)?;
    diesel::update(agents::table.find(&agent))
        .set(agents::gap_source_id.eq(answer.fresh.id.to_string()))
        .execute(c)?;
    Ok(answer.fresh.clone())
}
