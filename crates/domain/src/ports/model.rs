//! The model port: a question with passages in, a reply with citations out.

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::agent::AgentProfile;
use crate::conversation::Message;
use crate::error::Cause;
use crate::ports::Stages;
use crate::retrieval::{Hit, QueryTerm};
use crate::usage::TokenCount;

/// What a reply is made from.
#[derive(Debug, Clone)]
pub struct ReplyRequest {
    /// The agent's settings: model, system prompt, temperature, bound on tokens.
    pub profile: AgentProfile,
    /// Earlier messages, oldest first.
    pub history: Vec<Message>,
    /// The user's message.
    pub question: String,
    /// The relevant passages, best first; `None` if the sources do not cover the question.
    pub passages: Vec<Hit>,
    /// The question's words with their weights, for a model that picks sentences itself.
    pub terms: Vec<QueryTerm>,
    /// Is told when the prompt is made, when the model works, and when its first token is there.
    pub stages: Stages,
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelReply {
    /// Its text, without citation marks: the fragments that were sent, joined.
    pub text: String,
    /// The passages that it rests on: positions in [`ReplyRequest::passages`], best first, each once.
    pub cited: Vec<usize>,
    /// The tokens that it used.
    pub tokens: TokenCount,
}

/// Takes the fragments of a reply as they are made. If the receiver has gone away, the reply is finished
/// without it.
#[derive(Debug, Clone)]
pub struct TokenSink(mpsc::UnboundedSender<String>);

impl TokenSink {
    /// A sink and its receiving end. Unbounded, as a reply is bounded by its tokens.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Passes a fragment on.
    pub fn send(&self, fragment: impl Into<String>) {
        // A receiver that went away is no error here.
        let _ = self.0.send(fragment.into());
    }
}

/// Why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFailure {
    /// It may work when tried again: out of reach, overloaded, too slow.
    Transient,
    /// It will not: refused credentials, an unknown model, a request that it does not accept.
    Permanent,
}

/// A model gave no reply, or broke off within one.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Whether trying again may help.
    pub failure: ModelFailure,
    /// What happened, for the log: never shown to a tenant.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Cause>,
}

/// Makes replies.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Whether replies of agents with this profile are made by this machine's processors, at once, rather
    /// than waited for.
    fn is_local(&self, profile: &AgentProfile) -> bool;

    /// Replies to a question. With `tokens`, fragments of the reply are passed on as they come;
    /// after the first one an error means that the reply broke off.
    async fn reply(
        &self,
        request: ReplyRequest,
        tokens: Option<TokenSink>,
    ) -> Result<ModelReply, ModelError>;
}

/// Which model names agents may use.
pub trait ModelCatalog: Send + Sync {
    /// Whether an agent may name this model.
    fn knows(&self, model: &str) -> bool;
    /// The models that agents can name.
    fn names(&self) -> Vec<String>;
    /// Whether an upstream replies for any model, rather than the embedded answerer for all.
    fn has_upstream(&self) -> bool;
}
