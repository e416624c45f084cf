//! How a message from an interface with different rules is handled.

use crate::agent::{AgentProfile, ReplyTokens};
use crate::conversation::Message;
use crate::id::{Id, kind};

/// How a message is handled; by default, as one of a stored conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handling {
    /// The earlier messages, oldest first, if the client keeps them; `None` for those of the stored
    /// conversation.
    pub history: Option<Vec<Message>>,
    /// Whether question and reply are stored. If not, the reply is only counted.
    pub is_kept: bool,
    /// A further limit on the tokens of the reply. The smaller of this and the agent's limit applies.
    pub max_tokens: Option<ReplyTokens>,
    /// The id of the conversation that begins; `None` for a random one.
    pub new_id: Option<Id<kind::Conversation>>,
    /// The number of messages that the conversation must still have when the turn is stored; `None` for any.
    pub after: Option<u64>,
}

impl Default for Handling {
    fn default() -> Self {
        Self { history: None, is_kept: true, max_tokens: None, new_id: None, after: None }
    }
}

impl Handling {
    /// The agent's settings with these limits applied.
    pub(super) fn bound(&self, profile: AgentProfile) -> AgentProfile {
        let max_tokens = match self.max_tokens {
            Some(most) if most.get() < profile.max_tokens.get() => most,
            Some(_) | None => profile.max_tokens,
        };
        AgentProfile { max_tokens, ..profile }
    }
}
