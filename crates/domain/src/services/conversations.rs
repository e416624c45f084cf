//! Use cases of conversations: from a message to a stored reply.

mod answer;
mod checks;
mod export;
mod handling;
mod search;

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::conversation::{
    Channel, Conversation, ConversationFilter, FoundReceipt, MessageText, Metadata, NewRating,
    PlacedMessage, Rating,
};
use crate::error::Error;
use crate::fairness::FairPool;
use crate::id::{Id, IdRuns, kind};
use crate::idempotency::Completion;
use crate::page::{Page, PageRequest};
use crate::ports::{ConversationStore, LanguageModel, PassageIndex, WorkSignal};
use crate::public_url::PublicUrl;
use crate::services::pace::{HeldRefusal, Paces};
use crate::services::quotas::Quotas;
use crate::services::thinking::Thinking;

pub use answer::Accepted;
pub use export::Export;
pub use handling::Handling;

/// A message to answer, already parsed.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The agent that answers.
    pub agent_id: Id<kind::Agent>,
    /// The conversation that it continues.
    pub conversation_id: Option<Id<kind::Conversation>>,
    /// What the user wrote.
    pub text: MessageText,
    /// Pairs for a new conversation.
    pub metadata: Metadata,
    /// The interface that it came through.
    pub channel: Channel,
    /// The request that it came with, for the receipt of its reply.
    pub request_id: Option<Id<kind::Request>>,
    /// The differences from a message of a stored conversation.
    pub handling: Handling,
}

/// Limits of the replies in progress.
#[derive(Debug, Clone, Copy)]
pub struct ConversationLimits {
    /// The maximum number of replies in progress; further ones fail with [`Error::Overloaded`]. As many again are kept
    /// for accounts that have fewer than their share of them.
    pub replies: usize,
    /// The longest time that a reply may be expected to take, not counting the time in which it waits for other
    /// machines; if those in progress would take longer, [`Error::Overloaded`].
    pub longest_wait: Duration,
    /// The threads that read and refuse messages. The limits of accounts that send more than the server can answer (replies
    /// in progress, and refusals per second) are multiples of it.
    pub threads: usize,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, NonZero::get);
        Self { replies: 512, longest_wait: Duration::from_millis(250), threads }
    }
}

/// Answers messages; reads and deletes conversations.
#[derive(Clone)]
pub struct Conversations {
    store: Arc<dyn ConversationStore>,
    index: Arc<dyn PassageIndex>,
    model: Arc<dyn LanguageModel>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    ids: Arc<IdRuns>,
    quotas: Quotas,
    replies: FairPool<Id<kind::Account>>,
    paces: Paces,
    /// The turns of processor-bound work: searches, and replies of a local model.
    thinking: Thinking,
    exports: export::Exports,
    /// The public address of the server.
    public_url: Option<PublicUrl>,
    /// Wakes the deliveries of events of this process.
    signal: WorkSignal,
}

impl Conversations {
    /// The use cases over these ports.
    pub fn new(
        store: Arc<dyn ConversationStore>,
        index: Arc<dyn PassageIndex>,
        model: Arc<dyn LanguageModel>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        quotas: Quotas,
        bounds: ConversationLimits,
    ) -> Self {
        let places = u64::try_from(bounds.replies).unwrap_or(u64::MAX);
        let replies = FairPool::new(places, places);
        let (paces, thinking) =
            (Paces::new(bounds.longest_wait, bounds.threads), Thinking::default());
        let (exports, public_url) = (export::Exports::default(), None);
        let (signal, ids) = (WorkSignal::default(), Arc::default());
        Self {
            store,
            index,
            model,
            clock,
            entropy,
            ids,
            quotas,
            replies,
            paces,
            thinking,
            exports,
            public_url,
            signal,
        }
    }

    /// Cites documents without an address by their public page on this server, if their agent publishes its sources.
    #[must_use]
    pub fn at(self, public_url: Option<PublicUrl>) -> Self {
        Self { public_url, ..self }
    }

    /// Wakes the deliveries of events by this signal.
    #[must_use]
    pub fn signalling(self, signal: WorkSignal) -> Self {
        Self { signal, ..self }
    }

    /// An id for a new conversation. Conversations that begin in succession are stored close to each other.
    pub fn new_id(&self) -> Id<kind::Conversation> {
        self.ids.next(self.entropy.as_ref())
    }

    /// Whether messages have been refused within the last second because too many are sent.
    pub fn is_refusing(&self) -> bool {
        self.paces.is_refusing()
    }

    /// Holds the answer to a message that was refused with [`Error::Overloaded`] while its account sends more than the
    /// server can answer. The refusal should be answered after [`HeldRefusal::wait`]. `None` if it should be answered at
    /// once.
    pub fn hold_refusal(&self, account: Id<kind::Account>) -> Option<HeldRefusal> {
        self.paces.hold(account)
    }

    /// Conversations of an agent, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn list(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<Conversation>, Error> {
        self.store.list_conversations(scope, agent, filter, page).await
    }

    /// A page of a conversation's messages, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn messages(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        page: PageRequest,
    ) -> Result<Page<PlacedMessage>, Error> {
        self.store.list_messages(scope, id, page).await
    }

    /// The conversation with its newest messages, newest first, as many as fit into [`LIST_BYTES`](crate::limits::LIST_BYTES).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn find(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
    ) -> Result<(Conversation, Page<PlacedMessage>), Error> {
        self.store
            .find_conversation(scope, id)
            .await?
            .ok_or_else(|| Error::not_found("conversation", id))
    }

    /// Rates the reply with that number, replacing an earlier rating.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the conversation and the number, and [`Error::InvalidOperation`] for a message of the
    /// user.
    pub async fn rate(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
        rating: NewRating,
    ) -> Result<Rating, Error> {
        let event = Id::random(self.entropy.as_ref());
        let rating =
            self.store.rate_message(scope, id, number, rating, event, self.clock.now()).await?;
        self.signal.notify();
        Ok(rating)
    }

    /// Removes the rating of the reply with that number.
    ///
    /// # Errors
    ///
    /// Those of [`Conversations::rate`], and [`Error::NotFound`] if there is none.
    pub async fn unrate(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.store.unrate_message(scope, id, number, completion).await
    }

    /// The receipt of the reply with that number.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the conversation and the number, [`Error::InvalidOperation`] for a message of the user,
    /// and [`Error::NoReceipt`].
    pub async fn receipt(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        number: u64,
    ) -> Result<FoundReceipt, Error> {
        self.store.find_receipt(scope, id, number).await
    }

    /// Deletes a conversation.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn delete(
        &self,
        scope: &Scope,
        id: Id<kind::Conversation>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.store.delete_conversation(scope, id, self.clock.now(), completion).await
    }

    /// Waits until no reply is in progress: for a graceful stop, which no longer accepts any.
    pub async fn drain(&self) {
        self.replies.idle().await;
    }
}
