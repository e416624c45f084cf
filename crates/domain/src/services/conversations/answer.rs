//! From a message to a stored reply.

use std::sync::Arc;

use crate::access::Scope;
use crate::agent::{Agent, AgentProfile, AgentStatus};
use crate::conversation::{
    Asked, Conversation, ConversationCounts, Message, Receipt, Role, Turn, cite,
};
use crate::error::Error;
use crate::fairness::FairPermit;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::limits;
use crate::ports::{
    ConversationContext, ModelReply, ReplyRequest, Rewritten, Stage, Stages, TokenSink,
};
use crate::retrieval::{AgentVersion, Found, Query};
use crate::services::conversations::{Conversations, NewMessage};
use crate::services::pace::Progress;
use crate::services::quotas::QuotaPass;
use crate::usage::TokenCount;
use crate::widget::VisitorScope;

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

/// What was found for a question.
struct Searched {
    found: Found,
    asked: Asked,
    /// The tokens that rewriting the question took.
    tokens: TokenCount,
    /// The account's turn on the processor. A local model replies within it.
    turn: FairPermit<Id<kind::Account>>,
}

impl Conversations {
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

    /// Answers an accepted message and stores both together, or only counts the reply, as its [`Handling`] says. With
    /// `tokens`, fragments of the reply are forwarded as they arrive.
    ///
    /// Invariant: this never waits for the receiver of the fragments, so a stalled receiver does not occupy a place.
    ///
    /// # Errors
    ///
    /// [`Error::ModelUnavailable`] if the model did not complete its reply: then nothing is stored.
    ///
    /// [`Handling`]: super::Handling
    pub async fn answer(
        &self,
        accepted: Accepted,
        tokens: Option<TokenSink>,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        let Accepted { context, message, question, stages, permit, progress, pass, visitor } =
            accepted;
        let (mut message, mut progress, mut question) = (message, progress, question);
        let ConversationContext { agent, conversation, is_last_answered } = context;
        let (conversation, stored) = conversation.unzip();
        let sent = message.handling.history.take();
        // Of a reply that the client has sent, the sources are not known.
        let is_last_answered = is_last_answered || sent.is_some();
        let history = sent.or(stored).unwrap_or_default();
        let context = context_of(&history, is_last_answered);
        let search = self.search_for(&agent, &message, &history, context, &stages, &mut progress);
        let searched = search.await?;
        let Searched { mut found, asked, tokens: rewriting, turn } = searched;
        let keeps_receipt = agent.profile.receipts && message.handling.is_kept;
        let mut receipt = keeps_receipt.then(|| Receipt::of_search(asked, &found));
        let is_small_talk = found.is_small_talk;
        found.hits.retain(|hit| hit.is_relevant && !is_small_talk);
        let passages: Arc<[_]> = found.hits.into();
        let (account_id, agent_id) = (agent.account_id, agent.id);
        let lists_sources = agent.profile.source_list;
        let public = self.public_url.as_ref().filter(|_| agent.profile.public_sources);
        let turn = Some(turn).filter(|_| self.model.is_local(&agent.profile));
        let request = ReplyRequest {
            profile: message.handling.bound(agent.profile),
            history,
            question: message.text.to_string(),
            passages: Arc::clone(&passages),
            terms: found.terms,
            result: found.id,
            language: found.language,
            stages: stages.clone(),
        };
        let mut reply = self.reply_to(request, turn, tokens, &mut progress).await?;
        reply.tokens.prompt = reply.tokens.prompt.saturating_add(rewriting.prompt);
        reply.tokens.completion = reply.tokens.completion.saturating_add(rewriting.completion);
        if let Some(receipt) = &mut receipt {
            receipt.complete(&reply, stages.taken());
        }
        let receipt = receipt.map(Receipt::encode).transpose().map_err(Error::internal)?.flatten();

        // The clocks of servers differ a little; times within a conversation do not decrease.
        let last = conversation.as_ref().map(|conversation| conversation.updated_at);
        question.timestamp = last.map_or(question.timestamp, |last| last.max(question.timestamp));
        let now = self.clock.now().max(question.timestamp);
        let ModelReply { text, cited, tokens, is_cut, .. } = reply;
        let cited = cited.iter().filter_map(|at| passages.get(*at));
        let reply = Message {
            role: Role::Assistant,
            content: text,
            sources_used: cite(cited, public),
            timestamp: now,
        };
        let (is_first, is_kept) = (conversation.is_none(), message.handling.is_kept);
        let after = message.handling.after;
        let mut conversation = conversation.unwrap_or_else(|| Conversation {
            id: message.handling.new_id.unwrap_or_else(|| self.new_id()),
            account_id,
            agent_id,
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
        conversation.updated_at = conversation.updated_at.max(now);
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
            is_small_talk,
        };
        stages.begin(Stage::Commit);
        let stored = self.keep(turn, is_kept, completion).await;
        // The reply counts as in progress until it is stored.
        progress.end();
        drop((permit, pass));
        stored
    }

    /// Searches for what a message asks, in words that stand alone.
    async fn search_for(
        &self,
        agent: &Agent,
        message: &NewMessage,
        history: &[Message],
        context: Vec<String>,
        stages: &Stages,
        progress: &mut Progress,
    ) -> Result<Searched, Error> {
        let version = AgentVersion::of(agent);
        let rewritten = self.rewritten(&agent.profile, history, &message.text, stages);
        let rewritten = progress.elsewhere(rewritten).await;
        let tokens = rewritten.as_ref().map_or_else(TokenCount::default, |made| made.tokens);
        let rewritten = rewritten.map(|made| made.question);
        let floor = agent.profile.answer_floor;
        let query = match &rewritten {
            Some(question) => Query { text: question.clone(), context: Vec::new(), floor },
            None => Query { text: message.text.to_string(), context, floor },
        };
        // The account does not occupy the processors while it waits for another machine.
        let vector = progress.elsewhere(self.index.meaning(version, &query, stages)).await;
        let by_meaning = vector.is_some();
        stages.begin(Stage::Wait);
        let turn = self.thinking.turn_for(agent.account_id, &query.text).await;
        stages.begin(Stage::Search);
        let found = self.index.search_with(version, &query, vector, limits::REPLY_PASSAGES).await?;
        // A reply is to the user's question, which is not the one that was searched for.
        let id = found.id.filter(|_| rewritten.is_none());
        let found = Found { id, ..found };
        let asked = Asked {
            request_id: message.request_id,
            generation: version.generation,
            history_messages: history.len(),
            context_messages: query.context.len(),
            rewritten,
            by_meaning,
        };
        Ok(Searched { found, asked, tokens, turn })
    }

    /// Lets the model reply: a local one within the account's turn on the processor, another one without it.
    async fn reply_to(
        &self,
        request: ReplyRequest,
        turn: Option<FairPermit<Id<kind::Account>>>,
        tokens: Option<TokenSink>,
        progress: &mut Progress,
    ) -> Result<ModelReply, Error> {
        request.stages.begin(Stage::Model);
        let reply = self.model.reply(request, tokens);
        let reply = match turn {
            Some(_) => reply.await,
            None => progress.elsewhere(reply).await,
        };
        reply.map_err(|error| Error::ModelUnavailable(Box::new(error)))
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

    /// Stores a turn, or only counts its reply.
    async fn keep(
        &self,
        turn: Turn,
        is_kept: bool,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        let (account, usage) = (turn.conversation.account_id, turn.usage());
        let stored = match is_kept {
            true => self.store.append_turn(turn, completion).await,
            false => self.store.count_reply(turn, completion).await,
        };
        // The model has replied, and a stream has forwarded the reply.
        if let Err(Error::NotFound { .. } | Error::Conflict(_) | Error::ClaimLost) = &stored {
            self.store.count_refused_reply(account, usage).await?;
        }
        stored
    }
}

/// The messages that are used to understand a follow-up: the last two questions and the last reply, newest first. A reply without
/// sources says nothing about the subject.
fn context_of(history: &[Message], is_last_answered: bool) -> Vec<String> {
    let of = |role: Role, count: usize| {
        let texts = history.iter().rev().filter(move |message| message.role == role);
        texts.take(count).map(|message| message.content.clone())
    };
    of(Role::User, 2).chain(of(Role::Assistant, usize::from(is_last_answered))).collect()
}
