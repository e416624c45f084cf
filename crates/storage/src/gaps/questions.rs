//! The questions in gaps, as turns and ratings add and remove them.

use cicerone_domain::Timestamp;
use cicerone_domain::conversation::Turn;
use cicerone_domain::gap::{GapReason, reason_of};
use diesel::prelude::*;

use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{gap_questions, messages};

#[derive(Insertable)]
#[diesel(table_name = gap_questions, treat_none_as_default_value = false)]
pub(crate) struct GapQuestionRow {
    conversation_id: String,
    position: i64,
    account_id: String,
    agent_id: String,
    reason: &'static str,
    gap_id: Option<String>,
    asked_at: i64,
}

/// Adds the question of a stored turn, whose position is `first`, if it is one of a gap.
pub(crate) fn note_unanswered(
    c: &mut AnyConnection,
    turn: &Turn,
    first: i64,
) -> Result<(), TransactionError> {
    let conversation = &turn.conversation;
    let Some(reason) = reason_of(turn) else { return Ok(()) };
    let row = GapQuestionRow {
        conversation_id: conversation.id.to_string(),
        position: first,
        account_id: conversation.account_id.to_string(),
        agent_id: conversation.agent_id.to_string(),
        reason: reason.name(),
        gap_id: None,
        asked_at: turn.question.timestamp.as_millis(),
    };
    diesel::insert_into(gap_questions::table).values(row).execute(c)?;
    Ok(())
}

/// Adds the question whose reply was rated down, unless it is there because it was not answered.
pub(crate) fn note_rated_down(
    c: &mut AnyConnection,
    (account, agent): (&str, &str),
    (conversation, position): (&str, i64),
) -> Result<(), TransactionError> {
    let asked_at: Option<i64> = messages::table
        .find((conversation, position))
        .select(messages::created_at)
        .get_result(c)
        .optional()?;
    let Some(asked_at) = asked_at.map(Timestamp::from_millis) else { return Ok(()) };
    let row = GapQuestionRow {
        conversation_id: conversation.to_owned(),
        position,
        account_id: account.to_owned(),
        agent_id: agent.to_owned(),
        reason: GapReason::RatedDown.name(),
        gap_id: None,
        asked_at: asked_at.as_millis(),
    };
    Ok(dialect::insert_gap_question_once(c, &row)?)
}

/// Removes the question whose reply is no longer rated down.
pub(crate) fn forget_rated_down(
    c: &mut AnyConnection,
    (conversation, position): (&str, i64),
) -> Result<(), TransactionError> {
    let rated = gap_questions::table
        .find((conversation, position))
        .filter(gap_questions::reason.eq(GapReason::RatedDown.name()));
    diesel::delete(rated).execute(c)?;
    Ok(())
}
