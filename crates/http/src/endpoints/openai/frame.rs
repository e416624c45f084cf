//! A reply of this interface, in the form from which its answer and its events are written.

use cicerone_domain::conversation::Turn;
use cicerone_domain::{Citation, Entropy, Id, Timestamp, kind};
use serde::{Deserialize, Serialize};

/// What is known about a reply before it is generated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Frame {
    /// The id of the answer.
    pub(super) id: String,
    pub(super) message_id: String,
    /// Seconds since 1970.
    pub(super) created: i64,
    pub(super) model: Id<kind::Agent>,
    /// Where the reply is stored, if it is.
    pub(super) stored: Option<Stored>,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) previous_response_id: Option<String>,
}

/// The place of a stored reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) conversation_id: Id<kind::Conversation>,
    /// The number of the reply in its conversation, from 1.
    pub(super) n: u64,
}

impl Stored {
    /// The place of the first reply of a conversation.
    pub(super) const fn first(conversation_id: Id<kind::Conversation>) -> Self {
        Self { conversation_id, n: 2 }
    }

    /// The place of the reply after this one.
    pub(super) const fn next(self) -> Self {
        Self { n: self.n + 2, ..self }
    }
}

/// A complete reply.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CompleteReply {
    pub(super) frame: Frame,
    pub(super) text: String,
    pub(super) citations: Vec<Citation>,
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    /// Whether the token limit ended it.
    #[serde(default)]
    pub(super) is_cut: bool,
    /// Whether a list of the sources follows the text.
    #[serde(default)]
    pub(super) lists_sources: bool,
}

impl Frame {
    /// The frame of a reply to a request that came at `now`.
    pub(super) fn new(
        prefix: &str,
        model: Id<kind::Agent>,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        Self {
            id: format!("{prefix}{}", random(entropy)),
            message_id: format!("msg_{}", random(entropy)),
            created: now.as_millis().div_euclid(1_000),
            model,
            stored: None,
            max_output_tokens: None,
            previous_response_id: None,
        }
    }

    /// The complete reply.
    pub(super) fn complete(&self, turn: &Turn) -> CompleteReply {
        CompleteReply {
            frame: self.clone(),
            text: turn.reply.content.clone(),
            citations: turn.reply.sources_used.clone(),
            prompt_tokens: turn.tokens.prompt,
            completion_tokens: turn.tokens.completion,
            is_cut: turn.is_cut,
            lists_sources: turn.lists_sources,
        }
    }
}

/// Twenty letters or digits.
fn random(entropy: &dyn Entropy) -> String {
    let [one, other]: [Id<kind::Request>; 2] = [Id::random(entropy), Id::random(entropy)];
    format!("{}{}", one.suffix(), other.suffix())
}
