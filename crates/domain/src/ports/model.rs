//! The model port: a question with passages in, a reply with citations out.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::agent::AgentProfile;
use crate::conversation::Message;
use crate::error::Cause;
use crate::ports::Stages;
use crate::retrieval::{Hit, QueryTerm, ResultId};
use crate::usage::TokenCount;

/// The input for a reply.
#[derive(Debug, Clone)]
pub struct ReplyRequest {
    /// The agent's settings: model, system prompt, temperature, token limit.
    pub profile: AgentProfile,
    /// Earlier messages, oldest first.
    pub history: Vec<Message>,
    /// The user's message.
    pub question: String,
    /// The relevant passages, best first; `None` if the sources do not cover the question.
    pub passages: Arc<[Hit]>,
    /// The question's words with their weights, for the embedded answerer.
    pub terms: Vec<QueryTerm>,
    /// The search for exactly this question, from which all passages and terms are; `None` if its result is not kept. The
    /// embedded answerer caches its reply for the next request with the same search and token limit.
    pub result: Option<ResultId>,
    /// The language of most of the agent's passages, as an ISO 639-3 code.
    pub language: Option<&'static str>,
    /// Is notified when the prompt is made, when the model starts, and when its first token
    /// arrives.
    pub stages: Stages,
}

/// A whole reply of a model, after its last fragment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelReply {
    /// Its text, without citation marks: the fragments that were sent, joined.
    pub text: String,
    /// The passages that it is based on: indexes into [`ReplyRequest::passages`], best first, each
    /// once.
    pub cited: Vec<usize>,
    /// The tokens that it used.
    pub tokens: TokenCount,
    /// The model requested from the upstream; `None` for a reply of this machine.
    pub model: Option<String>,
    /// The number of passages that the model received, from the first.
    pub sent: usize,
    /// Whether the token limit ended it.
    pub is_cut: bool,
}

/// A question, rewritten to be understood without the conversation before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The question, of at most [`REWRITTEN_CHARS`](crate::limits::REWRITTEN_CHARS).
    pub question: String,
    /// The tokens that the model used for it.
    pub tokens: TokenCount,
}

/// Receives the fragments of a reply as they are generated. If the receiver is dropped, the reply
/// is completed without it.
#[derive(Debug, Clone)]
pub struct TokenSink(mpsc::UnboundedSender<String>);

impl TokenSink {
    /// A sink and its receiving end. The channel is unbounded because a reply has a maximum number
    /// of tokens.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Sends a fragment.
    pub fn send(&self, fragment: impl Into<String>) {
        // A closed receiver is not an error here.
        let _ = self.0.send(fragment.into());
    }
}

/// Why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFailure {
    /// Another attempt may succeed: the upstream was unreachable, overloaded or too slow.
    Transient,
    /// Another attempt will fail as well: bad credentials, an unknown model, an unacceptable
    /// request.
    Permanent,
}

/// A model did not reply, or did not complete its reply.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Whether trying again may help.
    pub failure: ModelFailure,
    /// What happened, for the log: never shown to a tenant.
    pub message: String,
    /// The error that led to it, if there was one.
    #[source]
    pub source: Option<Cause>,
}

/// Generates replies.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Whether replies of agents with this profile are computed on this machine rather than by an
    /// upstream.
    fn is_local(&self, profile: &AgentProfile) -> bool;

    /// Whether questions to agents with this profile are rewritten if they depend on the conversation.
    fn rewrites(&self, _profile: &AgentProfile) -> bool {
        false
    }

    /// Rewrites a question so that it can be understood without these earlier messages, oldest first. `None` if the model
    /// does not do so within a short time, or writes no question.
    async fn rewrite(
        &self,
        _profile: &AgentProfile,
        _history: &[Message],
        _question: &str,
    ) -> Option<Rewritten> {
        None
    }

    /// Replies to a question. With `tokens`, fragments of the reply are sent as they are generated;
    /// an error after the first one means that the reply is incomplete.
    async fn reply(
        &self,
        request: ReplyRequest,
        tokens: Option<TokenSink>,
    ) -> Result<ModelReply, ModelError>;
}

/// Which model names agents may use.
pub trait ModelCatalog: Send + Sync {
    /// Whether agents may use this model.
    fn knows(&self, model: &str) -> bool;
    /// The models that agents may use.
    fn names(&self) -> Vec<String>;
    /// Whether any model is served by an upstream. If not, the embedded answerer replies for all of
    /// them.
    fn has_upstream(&self) -> bool;
}
