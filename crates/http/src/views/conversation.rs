//! Conversations, replies and their events on the wire.

use std::collections::BTreeMap;

use cicerone_domain::conversation::{PlacedMessage, Turn};
use cicerone_domain::{Citation, Conversation, Id, Message, Role, Timestamp, kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An ordered exchange between an end user and an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Conversation)]
pub(crate) struct ConversationView<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    metadata: &'a BTreeMap<String, String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The time of the last message.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// Oldest first; only if one conversation is retrieved. At most 4 MiB of JSON: of a longer
    /// conversation the newest that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    messages: Option<Vec<MessageView<'a>>>,
    /// Only if one conversation is retrieved: the `cursor` of its older messages, null if `messages`
    /// holds all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    messages_cursor: Option<Option<String>>,
}

impl<'a> ConversationView<'a> {
    /// A conversation with these of its messages, newest first, and the cursor of those before.
    pub(crate) fn with_messages(
        conversation: &'a Conversation,
        messages: &'a [PlacedMessage],
        cursor: Option<String>,
    ) -> Self {
        let messages = messages.iter().rev().map(MessageView::from).collect();
        let messages_cursor = Some(cursor);
        Self { messages: Some(messages), messages_cursor, ..Self::from(conversation) }
    }
}

impl<'a> From<&'a Conversation> for ConversationView<'a> {
    fn from(conversation: &'a Conversation) -> Self {
        Self {
            id: conversation.id,
            agent_id: conversation.agent_id,
            metadata: conversation.metadata.pairs(),
            created_at: conversation.created_at,
            updated_at: conversation.updated_at,
            messages: None,
            messages_cursor: None,
        }
    }
}

/// One message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(crate) struct MessageView<'a> {
    #[schema(value_type = String, pattern = "^(user|assistant)$")]
    role: Role,
    content: &'a str,
    /// What an assistant's message rests on, best first; absent on a user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sources_used: Option<Vec<CitationView<'a>>>,
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
}

impl<'a> From<&'a PlacedMessage> for MessageView<'a> {
    fn from(placed: &'a PlacedMessage) -> Self {
        Self::from(&placed.message)
    }
}

impl<'a> From<&'a Message> for MessageView<'a> {
    fn from(message: &'a Message) -> Self {
        let sources_used = match message.role {
            Role::Assistant => Some(citations(&message.sources_used)),
            Role::User => None,
        };
        Self {
            role: message.role,
            content: &message.content,
            sources_used,
            timestamp: message.timestamp,
        }
    }
}

/// A source that a reply rests on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Citation)]
pub(crate) struct CitationView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    id: Id<kind::Source>,
    title: &'a str,
}

fn citations(citations: &[Citation]) -> Vec<CitationView<'_>> {
    citations.iter().map(|Citation { id, title }| CitationView { id: *id, title }).collect()
}

/// A reply in one piece.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reply)]
pub(crate) struct ReplyView<'a> {
    /// The conversation's id.
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// The agent's answer.
    reply: &'a str,
    /// What it rests on, best first.
    sources_used: Vec<CitationView<'a>>,
    /// The same as `id`: continues the conversation.
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    /// When the conversation began.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl<'a> From<&'a Turn> for ReplyView<'a> {
    fn from(turn: &'a Turn) -> Self {
        let conversation = &turn.conversation;
        Self {
            id: conversation.id,
            agent_id: conversation.agent_id,
            reply: &turn.reply.content,
            sources_used: citations(&turn.reply.sources_used),
            conversation_id: conversation.id,
            created_at: conversation.created_at,
        }
    }
}

/// The data of a `token` event: the next fragment of the reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenEvent<'a> {
    pub(crate) content: &'a str,
}

/// The data of the `done` event: the reply is complete and stored.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DoneEvent<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    sources_used: Vec<CitationView<'a>>,
}

/// A streamed reply as it is kept for a repetition of its request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptReply {
    /// The whole text.
    pub(crate) reply: String,
    conversation_id: Id<kind::Conversation>,
    sources_used: Vec<Citation>,
}

impl From<&Turn> for KeptReply {
    fn from(turn: &Turn) -> Self {
        Self {
            reply: turn.reply.content.clone(),
            conversation_id: turn.conversation.id,
            sources_used: turn.reply.sources_used.clone(),
        }
    }
}

impl<'a> From<&'a KeptReply> for DoneEvent<'a> {
    fn from(kept: &'a KeptReply) -> Self {
        Self { conversation_id: kept.conversation_id, sources_used: citations(&kept.sources_used) }
    }
}
