//! The store port of conversations. See [`stores`](super::stores) for the errors of every method.

use async_trait::async_trait;

use crate::access::Scope;
use crate::agent::Agent;
use crate::conversation::{
    Batch, Conversation, ConversationFilter, FoundReceipt, Message, NewRating, NumberedText,
    PlacedMessage, Rating, ReadFrom, Turn,
};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::page::{Page, PageRequest};
use crate::timestamp::Timestamp;
use crate::usage::DayUsage;

/// What a reply needs from the store, read in one transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationContext {
    /// The agent as it is at that moment.
    pub agent: Agent,
    /// The conversation that is continued, with its last messages, oldest first. Their citations are omitted.
    pub conversation: Option<(Conversation, Vec<Message>)>,
    /// Whether the last of them is a reply that cites a source.
    pub is_last_answered: bool,
}

impl ConversationContext {
    /// A conversation that begins.
    pub const fn begin(agent: Agent) -> Self {
        Self { agent, conversation: None, is_last_answered: false }
    }
}

/// Conversations, their messages, ratings and receipts.
#[async_trait]
pub trait ConversationStore: Send + Sync {
    /// The agent that a message is for, and the conversation that it continues with its last
    /// `messages` messages. Fails with [`Error::NotFound`] if the agent is not in `scope` or the
    /// conversation not in the account, and with [`Error::Conflict`] if the conversation belongs
    /// to another agent.
    async fn context(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        conversation: Option<Id<kind::Conversation>>,
        messages: usize,
    ) -> Result<ConversationContext, Error>;
    /// Stores a question and its reply after the last message of the conversation, never between another question and
    /// its reply. Fails with [`Error::NotFound`] if the agent or the conversation to continue has been deleted, and
    /// with [`Error::Conflict`] if the conversation does not have [`Turn::after`] messages.
    async fn append_turn(
        &self,
        turn: Turn,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error>;
    /// Counts the reply of a turn that is not stored. Fails with [`Error::NotFound`] if the agent has been deleted.
    async fn count_reply(
        &self,
        turn: Turn,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error>;
    /// Counts a reply that [`ConversationStore::append_turn`] or [`ConversationStore::count_reply`] refused: the
    /// account has used the model, even if the agent no longer exists.
    async fn count_refused_reply(
        &self,
        account: Id<kind::Account>,
        usage: DayUsage,
    ) -> Result<(), Error>;
    /// Conversations of an agent, newest first. Fails with [`Error::NotFound`] if the agent is
    /// not in `scope`.
    async fn list_conversations(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<Conversation>, Error>;
    /// Conversations of an agent with the texts of their messages, newest conversation first. Fails with
    /// [`Error::NotFound`] if the agent is not in `scope`.
    async fn read_texts(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        from: ReadFrom,
    ) -> Result<Batch<NumberedText>, Error>;
    /// Conversations of an agent with their messages, newest conversation first. Fails with [`Error::NotFound`] if the
    /// agent is not in `scope`.
    async fn read_messages(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        from: ReadFrom,
    ) -> Result<Batch<PlacedMessage>, Error>;
    /// The conversation with a page of its newest messages, as many as fit into
    /// [`LIST_BYTES`](crate::limits::LIST_BYTES), newest first.
    async fn find_conversation(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
    ) -> Result<Option<(Conversation, Page<PlacedMessage>)>, Error>;
    /// A page of a conversation's messages, newest first. Fails with [`Error::NotFound`].
    async fn list_messages(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        page: PageRequest,
    ) -> Result<Page<PlacedMessage>, Error>;
    /// Rates the message with that number, from 1. Fails with [`Error::NotFound`] for the conversation and the
    /// number, and with [`Error::InvalidOperation`] if the message is the user's. The counts of the conversation and of the
    /// message's day change with it, and the event with the id `event` is written if the rating changes.
    async fn rate_message(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
        rating: NewRating,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Rating, Error>;
    /// Removes the rating of a message. Fails as [`ConversationStore::rate_message`] does, and with
    /// [`Error::NotFound`] if there is none.
    async fn unrate_message(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
    /// The receipt of the message with that number, with the passages of those hits that still exist in sources of the
    /// same agent. Fails as [`ConversationStore::rate_message`] does, and with [`Error::NoReceipt`] if there is none.
    async fn find_receipt(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
    ) -> Result<FoundReceipt, Error>;
    /// Removes a conversation, its messages and the stored answers that contain it. Fails with
    /// [`Error::NotFound`].
    async fn delete_conversation(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
}
