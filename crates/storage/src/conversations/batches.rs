//! Conversations of an agent with their messages, batch by batch.

use std::collections::HashMap;

use cicerone_domain::conversation::{
    Batch, ConversationFilter, NumberedText, PlacedMessage, ReadConversation, ReadFrom,
};
use cicerone_domain::id::kind;
use cicerone_domain::{Conversation, Id, Listed as _, Message, PageRequest, limits};
use diesel::prelude::*;

use super::{MessageRow, find, list, ratings};
use crate::agents;
use crate::columns::wide;
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::pages::{Size, octet_length};
use crate::schema::messages;
use crate::scope::Visible;

/// The columns that are read of messages.
pub(super) trait Detail: Sized + Send + 'static {
    /// Whether their citations are read.
    const WITH_CITATIONS: bool;

    /// The messages of these conversations at these positions, each with its conversation, in the order of
    /// conversations' ids and positions.
    fn load(
        c: &mut AnyConnection,
        conversations: &[&Conversation],
        positions: (i64, i64),
    ) -> Result<Vec<(String, Self)>, TransactionError>;
}

impl Detail for NumberedText {
    const WITH_CITATIONS: bool = false;

    fn load(
        c: &mut AnyConnection,
        conversations: &[&Conversation],
        (low, high): (i64, i64),
    ) -> Result<Vec<(String, Self)>, TransactionError> {
        let rows: Vec<(String, i64, String)> = messages::table
            .filter(messages::conversation_id.eq_any(ids(conversations)))
            .filter(messages::position.between(low, high))
            .order((messages::conversation_id, messages::position))
            .select((messages::conversation_id, messages::position, messages::content))
            .load(c)?;
        let text = |(conversation, position, text)| {
            let number = u64::try_from(position).map_or(0, |position: u64| position + 1);
            (conversation, Self { number, text })
        };
        Ok(rows.into_iter().map(text).collect())
    }
}

impl Detail for PlacedMessage {
    const WITH_CITATIONS: bool = true;

    fn load(
        c: &mut AnyConnection,
        conversations: &[&Conversation],
        (low, high): (i64, i64),
    ) -> Result<Vec<(String, Self)>, TransactionError> {
        let rows: Vec<(String, MessageRow)> = messages::table
            .filter(messages::conversation_id.eq_any(ids(conversations)))
            .filter(messages::position.between(low, high))
            .order((messages::conversation_id, messages::position))
            .select((messages::conversation_id, MessageRow::as_select()))
            .load(c)?;
        let mut rated = HashMap::new();
        for conversation in conversations {
            if conversation.counts.rated_up + conversation.counts.rated_down > 0 {
                let id = conversation.id.to_string();
                let ratings = ratings::between(c, &id, (low, high))?;
                rated.insert(id, ratings);
            }
        }
        let placed = |(conversation, row): (String, MessageRow)| {
            let position = row.position;
            let ratings = rated.get_mut(&conversation);
            let rating = ratings.and_then(|ratings| ratings.remove(&position));
            let message = Message::try_from(row)?;
            Ok((conversation, Self { position, message, rating }))
        };
        rows.into_iter().map(placed).collect()
    }
}

fn ids(conversations: &[&Conversation]) -> Vec<String> {
    conversations.iter().map(|conversation| conversation.id.to_string()).collect()
}

/// The next batch of an agent's conversations.
pub(super) fn read<M: Detail>(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    filter: &ConversationFilter,
    from: ReadFrom,
) -> Result<Batch<M>, TransactionError> {
    if let Some((id, position)) = from.within {
        agents::require(c, visible, agent)?;
        let next = ReadFrom { within: None, ..from };
        return match find(c, visible, id)? {
            Some(conversation) if conversation.agent_id == agent => {
                piece(c, conversation, position)
            }
            Some(_) | None => Ok(Batch { read: Vec::new(), next: Some(next) }),
        };
    }
    let page = PageRequest { size: limits::BATCH_CONVERSATIONS, after: from.after };
    let page = list::list(c, visible, agent, filter, &page)?;
    let Some(first) = page.items.first() else { return Ok(Batch { read: Vec::new(), next: None }) };
    let whole = fitting::<M>(c, &page.items)?;
    if whole.is_empty() {
        return piece(c, first.clone(), 0);
    }
    let follows = whole.len() < page.items.len() || page.next.is_some();
    let last = whole.last().map(|last| last.position());
    let next = follows.then_some(ReadFrom { after: last, within: None });
    let mut messages: HashMap<String, Vec<M>> = HashMap::new();
    for (conversation, message) in M::load(c, &whole, (0, i64::MAX))? {
        messages.entry(conversation).or_default().push(message);
    }
    let read = whole.into_iter().map(|conversation| ReadConversation {
        conversation: conversation.clone(),
        messages: messages.remove(&conversation.id.to_string()).unwrap_or_default(),
    });
    Ok(Batch { read: read.collect(), next })
}

/// The first of these conversations, as many as fit into a batch as a whole.
fn fitting<'a, M: Detail>(
    c: &mut AnyConnection,
    conversations: &'a [Conversation],
) -> Result<Vec<&'a Conversation>, TransactionError> {
    let mut left = limits::BATCH_MESSAGES;
    let has_room = |conversation: &&Conversation| {
        let rest = left.checked_sub(conversation.counts.messages);
        rest.map(|rest| left = rest).is_some()
    };
    let few: Vec<&Conversation> = conversations.iter().take_while(has_room).collect();
    let mut bytes: HashMap<String, usize> = HashMap::new();
    let query = messages::table.filter(messages::conversation_id.eq_any(ids(&few)));
    let sizes: Vec<(String, Size, Size)> = query
        .select((
            messages::conversation_id,
            octet_length(messages::content.nullable()),
            octet_length(messages::sources_used),
        ))
        .load(c)?;
    for (conversation, content, citations) in sizes {
        *bytes.entry(conversation).or_default() += size::<M>(content, citations);
    }
    let mut left = limits::BATCH_BYTES;
    let has_room = |conversation: &&Conversation| {
        let taken = bytes.get(&conversation.id.to_string()).copied().unwrap_or_default();
        left.checked_sub(taken).map(|rest| left = rest).is_some()
    };
    Ok(few.into_iter().take_while(has_room).collect())
}

/// The bytes of a message.
fn size<M: Detail>(content: Size, citations: Size) -> usize {
    let citations = citations.filter(|_| M::WITH_CITATIONS);
    let bytes = [content, citations].into_iter().flatten();
    bytes.filter_map(|size| usize::try_from(size).ok()).sum()
}

/// The messages of a large conversation from this position on, as many as fit into a batch, and at least one.
fn piece<M: Detail>(
    c: &mut AnyConnection,
    conversation: Conversation,
    from: i64,
) -> Result<Batch<M>, TransactionError> {
    let sizes: Vec<(i64, Size, Size)> = messages::table
        .filter(messages::conversation_id.eq(conversation.id.to_string()))
        .filter(messages::position.ge(from))
        .order(messages::position)
        .limit(wide(limits::BATCH_MESSAGES) + 1)
        .select((
            messages::position,
            octet_length(messages::content.nullable()),
            octet_length(messages::sources_used),
        ))
        .load(c)?;
    let most = usize::try_from(limits::BATCH_MESSAGES).unwrap_or(usize::MAX);
    let (mut left, mut last, mut count) = (limits::BATCH_BYTES, None, 0);
    for (position, content, citations) in sizes.iter().take(most) {
        let taken = size::<M>(*content, *citations);
        if last.is_some() && taken > left {
            break;
        }
        left = left.saturating_sub(taken);
        last = Some(*position);
        count += 1;
    }
    let goes_on = count < sizes.len();
    let within = last.filter(|_| goes_on).map(|last| (conversation.id, last + 1));
    let loaded = match last {
        Some(last) => M::load(c, &[&conversation], (from, last))?,
        None => Vec::new(),
    };
    let messages = loaded.into_iter().map(|(_, message)| message).collect();
    let next = Some(ReadFrom { after: Some(conversation.position()), within });
    Ok(Batch { read: vec![ReadConversation { conversation, messages }], next })
}
