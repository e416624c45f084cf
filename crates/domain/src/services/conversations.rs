//! Use cases of conversations: from a message to a stored reply.

mod checks;
mod export;
mod handling;
mod search;

use std::sync::Arc;
use std::time::Duration;

use crate::access::Scope;
use crate::agent::{AgentProfile, AgentStatus};
use crate::clock::{Clock, Entropy};
use crate::conversation::{
    Asked, Channel, Conversation, ConversationCounts, ConversationFilter, FoundReceipt, Message,
    MessageText, Metadata, NewRating, PlacedMessage, Rating, Receipt, Role, Turn, cite,
};
use crate::error::Error;
use crate::fairness::{FairPermit, FairPool};
use crate::id::{Id, IdRuns, kind};
use crate::idempotency::Completion;
use crate::limits;
use crate::page::{Page, PageRequest};
use crate::ports::{
    ConversationContext, ConversationStore, LanguageModel, PassageIndex, ReplyRequest, Rewritten,
    Stage, Stages, TokenSink, WorkSignal,
};
use crate::public_url::PublicUrl;
use crate::retrieval::{AgentVersion, Hit, Query};
use crate::services::pace::{Paces, Progress};
use crate::services::quotas::{QuotaPass, Quotas};
use crate::services::thinking::Thinking;
use crate::widget::VisitorScope;

pub use export::Export;
pub use handling::Handling;

/// A message to answer, already parsed.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The agent that it is for.
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
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self { replies: 512, longest_wait: Duration::from_millis(250) }
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

/// An accepted message: every check that does not need the model has passed.
#[derive(Debug)]
pub struct Accepted {
    context: ConversationContext,
    message: NewMessage,
    question: Message,
    stages: Stages,
    permit: FairPermit<Id<kind::Account>>,
    progress: Progress,
    pass: QuotaPass,
    /// The visitor who sends it.
    visitor: Option<Arc<VisitorScope>>,
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
        let (paces, thinking) = (Paces::new(bounds.longest_wait), Thinking::default());
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

    /// Checks a message against what exists. `stages` are notified of the progress of the reply, from here until it is
    /// stored.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent or conversation, [`Error::Conflict`] for a conversation of another agent and
    /// for a new one on a paused agent, [`Error::Overloaded`] beyond the account's share of the replies in progress and
    /// if those in progress would take longer than the longest wait, [`Error::QuotaExceeded`] if the account has
    /// reached a quota.
    pub async fn accept(
        &self,
        scope: &Scope,
        message: NewMessage,
        stages: Stages,
    ) -> Result<Accepted, Error> {
        stages.begin(Stage::Read);
        let progress = self.paces.begin(scope.account).ok_or(Error::Overloaded)?;
        let Some(permit) = self.replies.try_acquire(scope.account, 1) else {
            self.paces.refuse(scope.account);
            return Err(Error::Overloaded);
        };
        let now = self.clock.now();
        let context = self
            .store
            .context(scope, message.agent_id, message.conversation_id, limits::HISTORY_MESSAGES)
            .await?;
        if context.conversation.is_none() && context.agent.status == AgentStatus::Paused {
            let text = "the agent is paused and accepts no new conversations";
            return Err(Error::Conflict(text.to_owned()));
        }
        let question = Message {
            role: Role::User,
            content: message.text.to_string(),
            sources_used: Vec::new(),
            timestamp: now,
        };
        let pass = self.quotas.admit(scope.account).await?;
        let visitor = scope.visitor.clone();
        Ok(Accepted { context, message, question, stages, permit, progress, pass, visitor })
    }

    /// Whether messages have been refused within the last second because too many are sent.
    pub fn is_refusing(&self) -> bool {
        self.paces.is_refusing()
    }

    /// Answers an accepted message and stores both together, or only counts the reply, as its [`Handling`] says. With
    /// `tokens`, fragments of the reply are forwarded as they arrive.
    ///
    /// Invariant: this never waits for the receiver of the fragments, so a stalled receiver does not occupy a place.
    ///
    /// # Errors
    ///
    /// [`Error::ModelUnavailable`] if the model did not complete its reply: then nothing is stored.
    pub async fn answer(
        &self,
        accepted: Accepted,
        tokens: Option<TokenSink>,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        let Accepted {
            context,
            mut message,
            question,
            stages,
            permit,
            mut progress,
            pass,
            visitor,
        } = accepted;
        let ConversationContext { agent, conversation } = context;
        let (conversation, stored) = conversation.unzip();
        let history = message.handling.history.take().or(stored).unwrap_or_default();

        let version = AgentVersion::of(&agent);
        let rewritten = self.rewritten(&agent.profile, &history, &message.text, &stages);
        let rewritten = progress.elsewhere(rewritten).await;
        let floor = agent.profile.answer_floor;
        let query = match &rewritten {
            Some(Rewritten { question, .. }) => {
                Query { text: question.clone(), context: Vec::new(), floor }
            }
            None => Query { text: message.text.to_string(), context: context_of(&history), floor },
        };
        // The account does not occupy the processors while it waits for another machine.
        let vector = progress.elsewhere(self.index.meaning(version, &query, &stages)).await;
        let by_meaning = vector.is_some();
        stages.begin(Stage::Wait);
        let mut turn = Some(self.thinking.turn(agent.account_id).await);
        stages.begin(Stage::Search);
        let limit = limits::REPLY_PASSAGES;
        let found = self.index.search_with(version, &query, vector, limit).await?;
        let asked = Asked {
            request_id: message.request_id,
            generation: version.generation,
            history_messages: history.len(),
            context_messages: query.context.len(),
            rewritten: rewritten.as_ref().map(|rewritten| rewritten.question.clone()),
            by_meaning,
        };
        let keeps_receipt = agent.profile.receipts && message.handling.is_kept;
        let mut receipt = keeps_receipt.then(|| Receipt::of_search(asked, &found));
        let passages: Arc<[Hit]> = found.hits.into_iter().filter(|hit| hit.is_relevant).collect();
        let is_local = self.model.is_local(&agent.profile);
        if !is_local {
            turn = None;
        }
        let lists_sources = agent.profile.source_list;
        let public = self.public_url.as_ref().filter(|_| agent.profile.public_sources);
        let request = ReplyRequest {
            profile: message.handling.bound(agent.profile),
            history,
            question: message.text.to_string(),
            passages: Arc::clone(&passages),
            terms: found.terms,
            memo: found.reply,
            stages: stages.clone(),
        };
        stages.begin(Stage::Model);
        let answered = self.model.reply(request, tokens);
        let answered = match is_local {
            true => answered.await,
            false => progress.elsewhere(answered).await,
        };
        let mut answered = answered.map_err(|error| Error::ModelUnavailable(Box::new(error)))?;
        drop(turn);
        if let Some(Rewritten { tokens, .. }) = rewritten {
            answered.tokens.prompt = answered.tokens.prompt.saturating_add(tokens.prompt);
            answered.tokens.completion =
                answered.tokens.completion.saturating_add(tokens.completion);
        }
        if let Some(receipt) = &mut receipt {
            receipt.complete(&answered, stages.taken());
        }
        let receipt = receipt.map(Receipt::encode).transpose().map_err(Error::internal)?;

        let now = self.clock.now().max(question.timestamp);
        let is_first = conversation.is_none();
        let conversation = conversation.unwrap_or_else(|| Conversation {
            id: message.handling.new_id.unwrap_or_else(|| self.new_id()),
            account_id: agent.account_id,
            agent_id: agent.id,
            metadata: message.metadata,
            channel: message.channel,
            widget_id: visitor.as_ref().map(|scope| scope.widget_id),
            visitor: visitor.map(|scope| scope.visitor.clone()),
            handoff_requested_at: None,
            lead: None,
            counts: ConversationCounts::default(),
            created_at: question.timestamp,
            updated_at: now,
        });
        let updated_at = conversation.updated_at.max(now);
        let conversation = Conversation { updated_at, ..conversation };
        let reply = Message {
            role: Role::Assistant,
            content: answered.text,
            sources_used: cite(answered.cited.iter().filter_map(|at| passages.get(*at)), public),
            timestamp: now,
        };
        let tokens = answered.tokens;
        let after = message.handling.after;
        let receipt = receipt.flatten();
        let is_cut = answered.is_cut;
        let turn = Turn {
            conversation,
            is_first,
            question,
            reply,
            tokens,
            after,
            receipt,
            is_cut,
            lists_sources,
        };
        stages.begin(Stage::Commit);
        let (account, usage) = (turn.conversation.account_id, turn.usage());
        let stored = match message.handling.is_kept {
            true => self.store.append_turn(turn, completion).await,
            false => self.store.count_reply(turn, completion).await,
        };
        // The model has replied, and a stream has forwarded the reply.
        if let Err(Error::NotFound { .. } | Error::Conflict(_) | Error::ClaimLost) = &stored {
            self.store.count_refused_reply(account, usage).await?;
        }
        // The reply counts as in progress until it is stored.
        progress.end();
        drop((permit, pass));
        stored
    }

    /// The question to search for, if the user's depends on the conversation and a model rewrites it.
    async fn rewritten(
        &self,
        profile: &AgentProfile,
        history: &[Message],
        question: &str,
        stages: &Stages,
    ) -> Option<Rewritten> {
        if history.is_empty() || !self.model.rewrites(profile) || self.index.stands_alone(question)
        {
            return None;
        }
        stages.begin(Stage::Rewrite);
        self.model.rewrite(profile, history, question).await
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

    /// The conversation with its newest messages, newest first, as many as fit into [`limits::LIST_BYTES`].
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

/// The messages that are used to understand a follow-up: the last two questions and the last reply, newest first.
fn context_of(history: &[Message]) -> Vec<String> {
    let of = |role: Role, count: usize| {
        let texts = history.iter().rev().filter(move |message| message.role == role);
        texts.take(count).map(|message| message.content.clone())
    };
    of(Role::User, 2).chain(of(Role::Assistant, 1)).collect()
}
