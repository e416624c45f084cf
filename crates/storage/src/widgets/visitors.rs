//! What visitors see of their conversations, and what they leave there.

use cicerone_domain::conversation::{Channel, PlacedMessage};
use cicerone_domain::event::Event;
use cicerone_domain::id::kind;
use cicerone_domain::webhook::EventName;
use cicerone_domain::widget::{HandoffMessage, Lead, VisitorConversation};
use cicerone_domain::{Conversation, Id, PageRequest, Timestamp, limits};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};

use crate::columns::{id, narrow, time, to_json, wide};
use crate::connection::AnyConnection;
use crate::conversations;
use crate::dialect;
use crate::error::TransactionError;
use crate::events;
use crate::pages::{Size, octet_length};
use crate::removal::AGENT_IS_THERE;
use crate::schema::{conversations as rows, messages};
use crate::scope::Visible;

/// A visitor's conversations, the one with the latest message first.
pub(super) fn conversations(
    c: &mut AnyConnection,
    visible: &Visible,
    most: usize,
) -> Result<Vec<VisitorConversation>, TransactionError> {
    let title = format!(
        "(SELECT substr(messages.content, 1, {}) FROM messages \
         WHERE messages.conversation_id = conversations.id AND messages.position = 0)",
        limits::VISITOR_TITLE_CHARS
    );
    let found: Vec<(String, Option<String>, i64, i64)> = rows::table
        .filter(rows::account_id.eq(&visible.account))
        .filter(rows::agent_id.eq_any(visible.agents.iter().flatten()))
        .filter(rows::visitor_id.nullable().eq(visible.visitor.as_deref()))
        .filter(rows::channel.eq(Channel::Widget.name()))
        .filter(rows::removed_at.is_null())
        .filter(sql::<Bool>(AGENT_IS_THERE))
        .order((rows::updated_at.desc(), rows::id.desc()))
        .limit(wide(most))
        .select((rows::id, sql::<Nullable<Text>>(&title), rows::message_count, rows::updated_at))
        .load(c)?;
    let listed = |(conversation, title, count, updated_at): (String, Option<String>, i64, i64)| {
        Ok(VisitorConversation {
            id: id("conversations.id", &conversation)?,
            title: title.unwrap_or_default(),
            messages: narrow("conversations.message_count", count)?,
            updated_at: time(updated_at),
        })
    };
    found.into_iter().map(listed).collect()
}

/// A conversation of the visitor with its newest messages, oldest first.
pub(super) fn conversation(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
    (most_messages, most_bytes): (usize, usize),
) -> Result<(Conversation, Vec<PlacedMessage>), TransactionError> {
    let conversation = conversations::require(c, visible, id)?;
    let sizes: Vec<(Size, Size)> = messages::table
        .filter(messages::conversation_id.eq(id.to_string()))
        .order(messages::position.desc())
        .limit(wide(most_messages))
        .select((octet_length(messages::content.nullable()), octet_length(messages::sources_used)))
        .load(c)?;
    let bytes = |sizes: (Size, Size)| -> usize {
        let sizes = [sizes.0, sizes.1].into_iter().flatten();
        sizes.filter_map(|size| usize::try_from(size).ok()).sum()
    };
    let mut left = most_bytes;
    let fitting = sizes.into_iter().map(bytes).take_while(|size| {
        let rest = left.checked_sub(*size);
        rest.map(|rest| left = rest).is_some()
    });
    let size = u32::try_from(fitting.count().max(1)).unwrap_or(u32::MAX);
    let page = conversations::list_messages(c, id, &PageRequest { size, after: None })?;
    Ok((conversation, page.items.into_iter().rev().collect()))
}

/// Notes that the visitor asks for a person.
pub(super) fn request_handoff(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
    message: Option<&HandoffMessage>,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<(), TransactionError> {
    dialect::lock_conversation(c, &id.to_string())?;
    let conversation = conversations::require(c, visible, id)?;
    let Some(conversation) = conversation.request_handoff(now) else { return Ok(()) };
    diesel::update(rows::table.find(id.to_string()))
        .set(rows::handoff_requested_at.eq(now.as_millis()))
        .execute(c)?;
    let takers = events::takers(c, conversation.account_id, EventName::HandoffRequested)?;
    if takers.is_empty() {
        return Ok(());
    }
    let message = message.map(HandoffMessage::as_str);
    events::publish(c, &Event::of_handoff(&conversation, message, event, now), takers)
}

/// Stores how the visitor can be reached.
pub(super) fn put_lead(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Conversation>,
    lead: &Lead,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<(), TransactionError> {
    dialect::lock_conversation(c, &id.to_string())?;
    let conversation = conversations::require(c, visible, id)?;
    let Some(conversation) = conversation.capture_lead(lead.clone()) else { return Ok(()) };
    diesel::update(rows::table.find(id.to_string()))
        .set(rows::lead.eq(to_json(lead)?))
        .execute(c)?;
    let takers = events::takers(c, conversation.account_id, EventName::LeadCaptured)?;
    if takers.is_empty() {
        return Ok(());
    }
    events::publish(c, &Event::of_lead(&conversation, lead, event, now), takers)
}
