//! Reading all conversations of an agent with their messages, in batches.

use crate::conversation::Conversation;
use crate::id::{Id, kind};
use crate::page::Position;

/// Where reading conversations continues. The default is the beginning of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadFrom {
    /// The list position of the last conversation that was read, completely or in part.
    pub after: Option<Position>,
    /// The conversation that was read in part, which is the one at `after`, and the position of its next message.
    pub within: Option<(Id<kind::Conversation>, i64)>,
}

/// Some conversations of an agent, newest first, with their messages, oldest first.
///
/// A batch has at most [`BATCH_CONVERSATIONS`](crate::limits::BATCH_CONVERSATIONS),
/// [`BATCH_MESSAGES`](crate::limits::BATCH_MESSAGES) and [`BATCH_BYTES`](crate::limits::BATCH_BYTES) of texts, and at
/// least one message if any is left. It is a consistent snapshot, but different batches are different snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<M> {
    /// The conversations. If the batch continues a conversation that was read in part, it has only this one, or none if
    /// it was deleted in between.
    pub read: Vec<ReadConversation<M>>,
    /// Where to continue; `None` at the end of the list.
    pub next: Option<ReadFrom>,
}

/// A conversation with consecutive messages. Only the last one of a batch can lack messages at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadConversation<M> {
    /// The conversation to which the messages belong.
    pub conversation: Conversation,
    /// Its messages, oldest first.
    pub messages: Vec<M>,
}

/// The text of a message, with its number in the conversation, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedText {
    /// The message's position among all messages of the conversation, from 1.
    pub number: u64,
    /// What the user or the agent wrote.
    pub text: String,
}
