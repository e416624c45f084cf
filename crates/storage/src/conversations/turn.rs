//! Storing a turn: a question and its reply, one after the other.

use cicerone_domain::conversation::{ConversationCounts, Turn};
use cicerone_domain::{Conversation, Error};
use diesel::dsl::case_when;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as DieselError};
use diesel::sql_types::BigInt;

use super::{ConversationRow, MetadataRow, NewMessageRow};
use crate::columns::{narrow, time, to_json, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::gaps;
use crate::schema::conversations;
use crate::usage::{self, StatisticsRow};

/// Messages of a turn.
const MESSAGES: i64 = 2;

/// Stores a turn and returns it with the conversation as it is now.
pub(super) fn append(c: &mut AnyConnection, turn: &Turn) -> Result<Turn, TransactionError> {
    let mut turn = turn.clone();
    let unanswered = i64::from(!turn.is_answered());
    let first = if turn.is_first {
        begin(c, &mut turn.conversation, unanswered)?;
        0
    } else {
        go_on(c, &mut turn.conversation, unanswered)?
    };
    if turn.after.is_some_and(|after| wide(after) != first) {
        let message =
            "the conversation was continued while the reply was written; nothing was stored";
        return Err(Error::Conflict(message.to_owned()).into());
    }
    let rows = [
        NewMessageRow::new(&turn.conversation, first, &turn.question, None)?,
        NewMessageRow::new(&turn.conversation, first + 1, &turn.reply, turn.receipt.as_ref())?,
    ];
    dialect::insert_messages(c, &rows)?;
    gaps::note_unanswered(c, &turn, first)?;
    let account = turn.conversation.account_id;
    usage::count(c, account, turn.usage(), StatisticsRow::of(&turn))?;
    Ok(turn)
}

/// Counts the reply of a turn that is not stored, and returns the turn.
pub(super) fn count(c: &mut AnyConnection, turn: &Turn) -> Result<Turn, TransactionError> {
    let agent = turn.conversation.agent_id;
    if !dialect::hold_agent(c, &agent.to_string())? {
        return Err(Error::not_found("agent", agent).into());
    }
    usage::count(c, turn.conversation.account_id, turn.usage(), StatisticsRow::default())?;
    Ok(turn.clone())
}

/// Adds the conversation. Its reference to the agent fails if the agent was deleted.
fn begin(
    c: &mut AnyConnection,
    conversation: &mut Conversation,
    unanswered: i64,
) -> Result<(), TransactionError> {
    conversation.counts = counts((MESSAGES, unanswered, 0, 0))?;
    let row = ConversationRow {
        id: conversation.id.to_string(),
        account_id: conversation.account_id.to_string(),
        agent_id: conversation.agent_id.to_string(),
        metadata: to_json(&conversation.metadata)?,
        message_count: MESSAGES,
        created_at: conversation.created_at.as_millis(),
        updated_at: conversation.updated_at.as_millis(),
        channel: conversation.channel.name().to_owned(),
        unanswered,
        rated_up: 0,
        rated_down: 0,
        widget_id: conversation.widget_id.map(|id| id.to_string()),
        visitor_id: conversation.visitor.as_ref().map(|visitor| visitor.id.to_string()),
        visitor: conversation.visitor.as_ref().map(to_json).transpose()?,
        handoff_requested_at: None,
        lead: None,
    };
    match diesel::insert_into(conversations::table).values(&row).execute(c) {
        Err(DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)) => {
            return Err(Error::not_found("agent", conversation.agent_id).into());
        }
        other => other?,
    };
    let pairs: Vec<_> = conversation
        .metadata
        .pairs()
        .iter()
        .map(|(name, value)| MetadataRow {
            conversation_id: row.id.clone(),
            name: name.clone(),
            value: value.clone(),
            agent_id: row.agent_id.clone(),
            account_id: row.account_id.clone(),
        })
        .collect();
    Ok(dialect::insert_metadata(c, &pairs)?)
}

/// Reserves the positions of a turn and returns that of its first message. The update locks the
/// row, so that turns of one conversation are stored one after the other.
fn go_on(
    c: &mut AnyConnection,
    conversation: &mut Conversation,
    unanswered: i64,
) -> Result<i64, TransactionError> {
    let now = conversation.updated_at.as_millis();
    let later = case_when(conversations::updated_at.lt(now), now.into_sql::<BigInt>())
        .otherwise(conversations::updated_at);
    let row = conversations::table
        .filter(conversations::id.eq(conversation.id.to_string()))
        .filter(conversations::account_id.eq(conversation.account_id.to_string()))
        .filter(conversations::removed_at.is_null());
    let stored: Option<(Counts, i64)> = diesel::update(row)
        .set((
            conversations::message_count.eq(conversations::message_count + MESSAGES),
            conversations::updated_at.eq(later),
            conversations::unanswered.eq(conversations::unanswered + unanswered),
        ))
        .returning((
            (
                conversations::message_count,
                conversations::unanswered,
                conversations::rated_up,
                conversations::rated_down,
            ),
            conversations::updated_at,
        ))
        .get_result(c)
        .optional()?;
    let (stored, updated_at) =
        stored.ok_or_else(|| Error::not_found("conversation", conversation.id))?;
    conversation.updated_at = time(updated_at);
    conversation.counts = counts(stored)?;
    Ok(stored.0 - MESSAGES)
}

/// The columns of counts: messages, unanswered, rated up and rated down.
type Counts = (i64, i64, i64, i64);

fn counts(
    (messages, unanswered, up, down): Counts,
) -> Result<ConversationCounts, TransactionError> {
    Ok(ConversationCounts {
        messages: narrow("conversations.message_count", messages)?,
        unanswered: narrow("conversations.unanswered", unanswered)?,
        rated_up: narrow("conversations.rated_up", up)?,
        rated_down: narrow("conversations.rated_down", down)?,
    })
}
