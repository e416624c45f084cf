//! Storing a turn: a question and its reply, one after the other.

use cicerone_domain::conversation::{ConversationCounts, EncodedReceipt, Message, Turn};
use cicerone_domain::gap::{GapReason, reason_of};
use cicerone_domain::{Error, Timestamp};
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as DieselError};

use super::{ConversationRow, MetadataRow, NewMessageRow};
use crate::columns::{narrow, time, to_json, to_long_json, wide};
use crate::connection::AnyConnection;
use crate::dialect::{self, TurnRow, Turns};
use crate::error::TransactionError;
use crate::gaps;
use crate::schema::messages;
use crate::usage::{self, StatisticsRow};

const MESSAGES: i64 = 2;

/// The rows of a turn, without the positions of its messages. On SQLite, all turns wait for the thread that stores them,
/// so the caller prepares them.
pub(super) struct Rows {
    /// The row of the conversation, if it begins with this turn.
    conversation: Option<ConversationRow>,
    metadata: Vec<MetadataRow>,
    conversation_id: String,
    account_id: String,
    /// The citations of the reply, as JSON.
    sources_used: Option<String>,
}

impl Rows {
    pub(super) fn of(turn: &Turn) -> Result<Self, TransactionError> {
        let conversation = turn.is_first.then(|| conversation_row(turn)).transpose()?;
        let metadata = conversation.iter().flat_map(|row| metadata_rows(turn, row)).collect();
        Ok(Self {
            conversation,
            metadata,
            conversation_id: turn.conversation.id.to_string(),
            account_id: turn.conversation.account_id.to_string(),
            sources_used: sources_used(turn)?,
        })
    }

    /// The messages, the first of which gets this position.
    fn messages<'a>(
        &'a self,
        turn: &'a Turn,
        first: i64,
        stored: Stored,
    ) -> [NewMessageRow<'a>; 2] {
        let Turn { question, reply, receipt, .. } = turn;
        let sources_used = self.sources_used.as_deref();
        let receipt = receipt.as_ref().map(EncodedReceipt::as_str);
        let reply = self.message(first + 1, reply, stored.replied_at);
        [
            self.message(first, question, stored.asked_at),
            NewMessageRow { sources_used, receipt, ..reply },
        ]
    }

    fn message<'a>(
        &'a self,
        position: i64,
        message: &'a Message,
        at: Timestamp,
    ) -> NewMessageRow<'a> {
        NewMessageRow {
            conversation_id: &self.conversation_id,
            position,
            account_id: &self.account_id,
            role: message.role.name(),
            content: &message.content,
            sources_used: None,
            created_at: at.as_millis(),
            receipt: None,
        }
    }
}

/// What storing a turn changes in it.
#[derive(Clone, Copy)]
pub(crate) struct Stored {
    counts: ConversationCounts,
    updated_at: Timestamp,
    /// The time of its question, which is not before that of the message in front of it.
    asked_at: Timestamp,
    /// The time of its reply.
    replied_at: Timestamp,
}

impl Stored {
    /// The turn with the conversation as it is now.
    pub(super) const fn of(self, mut turn: Turn) -> Turn {
        turn.conversation.counts = self.counts;
        turn.conversation.updated_at = self.updated_at;
        turn.question.timestamp = self.asked_at;
        turn.reply.timestamp = self.replied_at;
        turn
    }
}

/// Stores a turn on SQLite. It is counted by its commit, together with others.
pub(super) fn append_rows(
    c: &mut AnyConnection,
    turn: &Turn,
    rows: &Rows,
) -> Result<Stored, TransactionError> {
    let (first, stored) = place(c, turn, None)?;
    turn.check_continues_last(narrow("conversations.message_count", first)?)?;
    if let Some(row) = &rows.conversation {
        begin(c, turn, row, &rows.metadata)?;
    }
    dialect::insert_messages(c, &rows.messages(turn, first, stored))?;
    gaps::note_unanswered(c, turn, first)?;
    Ok(stored)
}

/// Stores a turn on PostgreSQL, and counts it.
pub(super) fn append(c: &mut AnyConnection, turn: &Turn) -> Result<Stored, TransactionError> {
    let (first, stored) = place(c, turn, None)?;
    turn.check_continues_last(narrow("conversations.message_count", first)?)?;
    match insert_together(c, &[(turn, first, stored)]) {
        Err(TransactionError::Database(error)) if is_missing_agent(&error) => {
            Err(Error::not_found("agent", turn.conversation.agent_id).into())
        }
        outcome => outcome.map(|()| stored),
    }
}

/// Whether a turn may be stored with others: such turns are never refused after part of them was stored.
pub(super) const fn can_be_gathered(turn: &Turn) -> bool {
    turn.after.is_none()
}

/// Stores turns of one account on PostgreSQL, in their order, as far as their conversations exist. If the database
/// refuses one of them, none is stored.
pub(super) fn append_all(
    c: &mut AnyConnection,
    turns: &[Turn],
) -> Result<Vec<Result<Stored, Error>>, TransactionError> {
    let not_placed = || Err(Error::internal("a turn was not placed"));
    let mut placed: Vec<_> = turns.iter().map(|turn| (turn, not_placed())).collect();
    let mut order: Vec<_> = placed.iter_mut().collect();
    // Everything that locks several conversations locks them in this order.
    order.sort_by_key(|(turn, _)| turn.conversation.id.to_string());
    // The conversation of the turn before, and the time of its reply, which is not stored yet.
    let mut before = None;
    for (turn, outcome) in order {
        let id = turn.conversation.id;
        let last = before.filter(|(of, _)| *of == id).map(|(_, at)| at);
        *outcome = match place(c, turn, last) {
            Ok((position, stored)) => {
                before = Some((id, stored.replied_at));
                Ok((position, stored))
            }
            Err(TransactionError::Refused(error @ Error::NotFound { .. })) => Err(error),
            Err(error) => return Err(error),
        };
    }
    let found: Vec<_> = placed
        .iter()
        .filter_map(|(turn, outcome)| {
            outcome.as_ref().ok().map(|(first, stored)| (*turn, *first, *stored))
        })
        .collect();
    insert_together(c, &found)?;
    Ok(placed.into_iter().map(|(_, outcome)| outcome.map(|(_, stored)| stored)).collect())
}

/// Stores turns of one account on PostgreSQL, each with the position of its question, by one statement.
fn insert_together(
    c: &mut AnyConnection,
    placed: &[(&Turn, i64, Stored)],
) -> Result<(), TransactionError> {
    let Some((one, ..)) = placed.first() else { return Ok(()) };
    let account = one.conversation.account_id;
    let mut turns = Turns::of(account.to_string());
    for (turn, position, stored) in placed {
        turns.push(row(turn, *position, *stored)?);
        let (day, month) = usage::rows(account, turn.usage(), StatisticsRow::of(turn));
        turns.count(&day, &month);
    }
    if dialect::insert_turns(c, turns)? {
        return Ok(());
    }
    Err(TransactionError::internal("turns are not stored together on SQLite"))
}

fn row(turn: &Turn, position: i64, stored: Stored) -> Result<TurnRow<'_>, TransactionError> {
    let conversation = &turn.conversation;
    let (reply, visitor) = (&turn.reply, conversation.visitor.as_ref());
    let pairs = conversation.metadata.pairs().iter().filter(|_| turn.is_first);
    Ok(TurnRow {
        conversation_id: conversation.id.to_string(),
        agent_id: conversation.agent_id.to_string(),
        is_first: turn.is_first,
        metadata: to_json(&conversation.metadata)?,
        pairs: pairs.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        created_at: conversation.created_at.as_millis(),
        updated_at: stored.updated_at.as_millis(),
        channel: conversation.channel.name(),
        unanswered: i64::from(!turn.is_answered()),
        widget_id: conversation.widget_id.map(|id| id.to_string()),
        visitor_id: visitor.map(|visitor| visitor.id.to_string()),
        visitor: visitor.map(to_json).transpose()?,
        position,
        question: &turn.question.content,
        asked_at: stored.asked_at.as_millis(),
        reply: &reply.content,
        sources_used: sources_used(turn)?,
        replied_at: stored.replied_at.as_millis(),
        receipt: turn.receipt.as_ref().map(EncodedReceipt::as_str),
        gap_reason: reason_of(turn).map(GapReason::name),
    })
}

/// Whether a new conversation referred to an agent that was deleted.
fn is_missing_agent(error: &DieselError) -> bool {
    let DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, information) = error
    else {
        return false;
    };
    information.table_name() == Some("conversations")
}

/// The citations of a reply, as JSON; `None` if it has none.
fn sources_used(turn: &Turn) -> Result<Option<String>, TransactionError> {
    let sources = &turn.reply.sources_used;
    (!sources.is_empty()).then(|| to_long_json(sources)).transpose()
}

/// The position of a turn's question. Counts the turn in its conversation. `last` is the time of the message before, if
/// that is not stored yet.
fn place(
    c: &mut AnyConnection,
    turn: &Turn,
    last: Option<Timestamp>,
) -> Result<(i64, Stored), TransactionError> {
    let unanswered = i64::from(!turn.is_answered());
    if turn.is_first {
        let stored = Stored {
            counts: counts((MESSAGES, unanswered, 0, 0))?,
            updated_at: turn.conversation.updated_at,
            asked_at: turn.question.timestamp,
            replied_at: turn.reply.timestamp,
        };
        return Ok((0, stored));
    }
    go_on(c, turn, unanswered, last)
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

fn conversation_row(turn: &Turn) -> Result<ConversationRow, TransactionError> {
    let conversation = &turn.conversation;
    Ok(ConversationRow {
        id: conversation.id.to_string(),
        account_id: conversation.account_id.to_string(),
        agent_id: conversation.agent_id.to_string(),
        metadata: to_json(&conversation.metadata)?,
        message_count: MESSAGES,
        created_at: conversation.created_at.as_millis(),
        updated_at: conversation.updated_at.as_millis(),
        channel: conversation.channel.name().to_owned(),
        unanswered: i64::from(!turn.is_answered()),
        rated_up: 0,
        rated_down: 0,
        widget_id: conversation.widget_id.map(|id| id.to_string()),
        visitor_id: conversation.visitor.as_ref().map(|visitor| visitor.id.to_string()),
        visitor: conversation.visitor.as_ref().map(to_json).transpose()?,
        handoff_requested_at: None,
        lead: None,
    })
}

fn metadata_rows<'a>(
    turn: &'a Turn,
    row: &'a ConversationRow,
) -> impl Iterator<Item = MetadataRow> + 'a {
    turn.conversation.metadata.pairs().iter().map(|(name, value)| MetadataRow {
        conversation_id: row.id.clone(),
        name: name.clone(),
        value: value.clone(),
        agent_id: row.agent_id.clone(),
        account_id: row.account_id.clone(),
    })
}

/// Adds the conversation. Its reference to the agent fails if the agent was deleted.
fn begin(
    c: &mut AnyConnection,
    turn: &Turn,
    row: &ConversationRow,
    metadata: &[MetadataRow],
) -> Result<(), TransactionError> {
    match dialect::insert_conversation(c, row) {
        Err(DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)) => {
            return Err(Error::not_found("agent", turn.conversation.agent_id).into());
        }
        other => other?,
    };
    Ok(dialect::insert_metadata(c, metadata)?)
}

/// Reserves the positions of a turn and returns that of its first message. The update locks the
/// row, so that turns of one conversation are stored one after the other.
fn go_on(
    c: &mut AnyConnection,
    turn: &Turn,
    unanswered: i64,
    last: Option<Timestamp>,
) -> Result<(i64, Stored), TransactionError> {
    let conversation = &turn.conversation;
    let (id, account) = (conversation.id.to_string(), conversation.account_id.to_string());
    let now = conversation.updated_at.as_millis();
    let stored = dialect::continue_conversation(c, (&id, &account), (MESSAGES, unanswered), now)?;
    let (messages, unanswered, up, down, updated_at) =
        stored.ok_or_else(|| Error::not_found("conversation", conversation.id))?;
    let (first, updated_at) = (messages - MESSAGES, time(updated_at));
    let last = match last {
        // Nothing was stored since the turn read the conversation.
        None if wide(conversation.counts.messages) == first => None,
        None => message_at(c, &id, first - 1)?,
        last => last,
    };
    let stored = Stored {
        counts: counts((messages, unanswered, up, down))?,
        updated_at,
        asked_at: last.map_or(turn.question.timestamp, |last| last.max(turn.question.timestamp)),
        replied_at: updated_at.max(turn.reply.timestamp),
    };
    Ok((first, stored))
}

/// The time of a message.
fn message_at(
    c: &mut AnyConnection,
    conversation: &str,
    position: i64,
) -> Result<Option<Timestamp>, TransactionError> {
    let at: Option<i64> = messages::table
        .find((conversation, position))
        .select(messages::created_at)
        .get_result(c)
        .optional()?;
    Ok(at.map(time))
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
