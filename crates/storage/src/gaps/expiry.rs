//! Removal of the oldest questions of agents that have too many, and of gaps without questions.

use cicerone_domain::limits;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;

use crate::columns::wide;
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{gap_questions, gaps};

/// True if a gap has no questions.
const IS_EMPTY: &str = "NOT EXISTS (SELECT 1 FROM gap_questions \
    WHERE gap_questions.agent_id = gaps.agent_id AND gap_questions.gap_id = gaps.id)";

/// If an agent has more questions in gaps than are kept, the time of the oldest one that is.
pub(crate) fn kept_since(
    c: &mut AnyConnection,
    agent: &str,
) -> Result<Option<i64>, TransactionError> {
    let of_agent = || gap_questions::table.filter(gap_questions::agent_id.eq(agent));
    let count: i64 = of_agent().count().get_result(c)?;
    if count <= wide(limits::GAP_QUESTIONS) {
        return Ok(None);
    }
    Ok(of_agent()
        .order(gap_questions::asked_at.desc())
        .offset(wide(limits::GAP_QUESTIONS).saturating_sub(1))
        .limit(1)
        .select(gap_questions::asked_at)
        .get_result(c)
        .optional()?)
}

/// Removes questions of an agent from before `since`, at most `limit`, and returns their number. Those of the same
/// millisecond stay.
pub(crate) fn remove_before(
    c: &mut AnyConnection,
    agent: &str,
    since: i64,
    limit: i64,
) -> Result<usize, TransactionError> {
    let old: Vec<(String, i64)> = gap_questions::table
        .filter(gap_questions::agent_id.eq(agent))
        .filter(gap_questions::asked_at.lt(since))
        .limit(limit)
        .select((gap_questions::conversation_id, gap_questions::position))
        .load(c)?;
    for (conversation, position) in &old {
        diesel::delete(gap_questions::table.find((conversation, position))).execute(c)?;
    }
    Ok(old.len())
}

/// Gaps of an agent without questions, at most `limit`.
pub(crate) fn empty_gaps(
    c: &mut AnyConnection,
    agent: &str,
    limit: i64,
) -> Result<Vec<String>, TransactionError> {
    Ok(gaps::table
        .filter(gaps::agent_id.eq(agent))
        .filter(sql::<Bool>(IS_EMPTY))
        .limit(limit)
        .select(gaps::id)
        .load(c)?)
}

/// Removes those of these gaps of an agent that have no questions, and returns their number.
pub(crate) fn remove_empty(
    c: &mut AnyConnection,
    agent: &str,
    ids: &[String],
) -> Result<usize, TransactionError> {
    // While the agent is locked, no question is added to its gaps.
    dialect::lock_agent(c, agent)?;
    let empty = gaps::table
        .filter(gaps::id.eq_any(ids))
        .filter(gaps::agent_id.eq(agent))
        .filter(sql::<Bool>(IS_EMPTY));
    Ok(diesel::delete(empty).execute(c)?)
}
