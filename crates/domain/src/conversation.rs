//! Conversations and their messages.

mod batch;
mod channel;
mod citation;
mod continuation;
mod history;
mod rating;
mod receipt;
mod search;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, FieldError};
use crate::id::{Id, kind};
use crate::limits;
use crate::text::{Text, TextRule, check_length, check_not_blank};
use crate::timestamp::Timestamp;
use crate::usage::{Day, DayUsage, TokenCount};
use crate::widget::{Lead, Visitor};

pub use batch::{Batch, NumberedText, ReadConversation, ReadFrom};
pub use channel::Channel;
pub use citation::{Citation, CitedPassage, cite};
pub use continuation::ReplyPlace;
pub use history::recent;
pub use rating::{NewRating, Rating, RatingComment, RatingValue};
pub use receipt::{
    Asked, EncodedReceipt, FoundReceipt, Receipt, ReceiptHit, ReceiptStage, ReceiptTerm,
};
pub use search::{ListedConversation, Look, SearchWords, TextMatch};

/// An ordered exchange between an end user and an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// `conv_` and 10 characters.
    pub id: Id<kind::Conversation>,
    /// The account of its agent.
    pub account_id: Id<kind::Account>,
    /// The agent that replies in it.
    pub agent_id: Id<kind::Agent>,
    /// The caller's own pairs.
    pub metadata: Metadata,
    /// The interface through which it began.
    pub channel: Channel,
    /// The widget through which it began, if that still exists.
    pub widget_id: Option<Id<kind::Widget>>,
    /// The visitor, if it began through a widget.
    pub visitor: Option<Visitor>,
    /// When the visitor first asked for a person.
    pub handoff_requested_at: Option<Timestamp>,
    /// How the visitor can be reached.
    pub lead: Option<Lead>,
    /// What it contains.
    pub counts: ConversationCounts,
    /// The time of its first message.
    pub created_at: Timestamp,
    /// The time of its last message.
    pub updated_at: Timestamp,
}

/// What a conversation contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationCounts {
    /// Messages of the user and of the agent.
    pub messages: u64,
    /// Replies that cite no source.
    pub unanswered: u64,
    /// Replies that are rated up.
    pub rated_up: u64,
    /// Replies that are rated down.
    pub rated_down: u64,
}

impl Conversation {
    /// Checks that it is continued with its own agent.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if it belongs to another one.
    pub fn check_belongs_to(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        if self.agent_id == agent {
            return Ok(());
        }
        let message = format!("the conversation belongs to the agent `{}`", self.agent_id);
        Err(Error::Conflict(message))
    }

    /// The conversation after its visitor has asked for a person at `now`. `None` if the visitor asked before: then
    /// nothing changes, and no event is sent.
    #[must_use]
    pub fn request_handoff(self, now: Timestamp) -> Option<Self> {
        let is_first = self.handoff_requested_at.is_none();
        is_first.then_some(Self { handoff_requested_at: Some(now), ..self })
    }

    /// The conversation after its visitor has left this lead, which replaces an earlier one. `None` if both are equal:
    /// then nothing changes, and no event is sent.
    #[must_use]
    pub fn capture_lead(self, lead: Lead) -> Option<Self> {
        let is_new = self.lead.as_ref() != Some(&lead);
        is_new.then_some(Self { lead: Some(lead), ..self })
    }
}

/// String pairs that a caller attaches to a conversation: at most 20, keys of at most 40
/// characters, values of at most 500.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// Checks pairs against the limits on their number and lengths.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many pairs, or if a key or a value is too long.
    pub fn parse(pairs: BTreeMap<String, String>) -> Result<Self, FieldError> {
        if pairs.len() > limits::METADATA_KEYS {
            let message =
                format!("must have at most {} keys, not {}", limits::METADATA_KEYS, pairs.len());
            return Err(FieldError::new("metadata", message));
        }
        for (key, value) in &pairs {
            check_length(key, limits::METADATA_KEY_CHARS)
                .map_err(|message| FieldError::new("metadata", format!("keys {message}")))?;
            check_length(value, limits::METADATA_VALUE_CHARS)
                .map_err(|message| FieldError::new(format!("metadata.{key}"), message))?;
        }
        Ok(Self(pairs))
    }

    /// Stored pairs, which were checked when they were written.
    pub const fn from_stored(pairs: BTreeMap<String, String>) -> Self {
        Self(pairs)
    }

    /// The values by their keys.
    pub const fn pairs(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The end user.
    User,
    /// The agent.
    Assistant,
}

impl Role {
    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::User, Self::Assistant].into_iter().find(|role| role.name() == name)
    }

    /// Checks that the message with this number, written by this role, can be rated.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOperation`] unless it is a reply.
    pub fn check_can_be_rated(self, number: u64) -> Result<(), Error> {
        self.check_is_reply(number, "can be rated")
    }

    /// Checks that the message with this number, written by this role, may have a receipt.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOperation`] unless it is a reply.
    pub fn check_has_receipt(self, number: u64) -> Result<(), Error> {
        self.check_is_reply(number, "have receipts")
    }

    fn check_is_reply(self, number: u64, only: &str) -> Result<(), Error> {
        match self {
            Self::Assistant => Ok(()),
            Self::User => {
                let message = format!("message {number} is the user's; only replies {only}");
                Err(Error::InvalidOperation(message))
            }
        }
    }
}

/// One message. It is immutable and has no id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// What was written; a reply contains no citation marks.
    pub content: String,
    /// The sources that it is based on, best first; empty for a user's message.
    pub sources_used: Vec<Citation>,
    /// When it was written.
    pub timestamp: Timestamp,
}

/// A message with its position in its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedMessage {
    /// Its number within the conversation, from 0.
    pub position: i64,
    /// The message as it is shown.
    pub message: Message,
    /// The user's rating, if it is a reply.
    pub rating: Option<Rating>,
}

impl PlacedMessage {
    /// Its number in the conversation, from 1, by which callers name it.
    pub fn number(&self) -> u64 {
        u64::try_from(self.position).map_or(0, |position| position + 1)
    }
}

/// What a user writes, or searches for: 1 to 4,000 characters, not only white space.
pub type MessageText = Text<MessageTextRule>;

/// The rule of [`MessageText`].
#[derive(Debug)]
pub enum MessageTextRule {}

impl TextRule for MessageTextRule {
    const PARAM: &'static str = "message";

    fn check(text: &str) -> Result<(), String> {
        check_not_blank(text)?;
        check_length(text, limits::MESSAGE_CHARS)
    }
}

/// Which conversations a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConversationFilter {
    /// Only those created after this moment.
    pub created_after: Option<Timestamp>,
    /// Only those created before this moment.
    pub created_before: Option<Timestamp>,
    /// Only those with all of these metadata pairs.
    pub metadata: Vec<(String, String)>,
    /// Only those with a reply that has this rating.
    pub rating: Option<RatingValue>,
    /// Only those with a reply that cites no source.
    pub unanswered: bool,
    /// Only those that began through this interface.
    pub channel: Option<Channel>,
    /// Only those of this visitor.
    pub visitor: Option<Id<kind::Visitor>>,
}

/// Reads the `key:value` filters of a list, split at the first colon: at most 20, each once. A filter whose key or
/// value is longer than that of any conversation is refused, because it must be a mistake.
///
/// # Errors
///
/// The requirement for the parameter `metadata`.
pub fn parse_metadata_filters<'a>(
    texts: impl Iterator<Item = &'a str>,
) -> Result<Vec<(String, String)>, FieldError> {
    let invalid = |message: String| FieldError::new("metadata", message);
    let mut filters = Vec::new();
    for (number, text) in texts.enumerate() {
        if number >= limits::METADATA_FILTERS {
            let message = format!("must be given at most {} times", limits::METADATA_FILTERS);
            return Err(invalid(message));
        }
        let Some((key, value)) = text.split_once(':') else {
            return Err(invalid("must have the form `key:value`".to_owned()));
        };
        check_length(key, limits::METADATA_KEY_CHARS)
            .map_err(|message| invalid(format!("keys {message}")))?;
        check_length(value, limits::METADATA_VALUE_CHARS)
            .map_err(|message| invalid(format!("values {message}")))?;
        let filter = (key.to_owned(), value.to_owned());
        if !filters.contains(&filter) {
            filters.push(filter);
        }
    }
    Ok(filters)
}

/// A user's message and its reply, to be stored together.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The conversation with its new `updated_at`.
    pub conversation: Conversation,
    /// Whether the conversation begins with this turn.
    pub is_first: bool,
    /// The user's message.
    pub question: Message,
    /// The agent's reply.
    pub reply: Message,
    /// The tokens that the model used.
    pub tokens: TokenCount,
    /// The number of messages that the conversation must have before this turn; `None` for any.
    pub after: Option<u64>,
    /// The receipt of the reply, if it is to be stored.
    pub receipt: Option<EncodedReceipt>,
    /// Whether the token limit ended the reply.
    pub is_cut: bool,
    /// Whether the agent ends replies with a list of their sources for clients that may drop other citations.
    pub lists_sources: bool,
    /// Whether the message is a greeting, thanks or the like, which needs no source.
    pub is_small_talk: bool,
}

impl Turn {
    /// The number of the reply in the conversation, from 1. Only a stored turn has one.
    pub const fn number(&self) -> u64 {
        self.conversation.counts.messages
    }

    /// Whether the reply cites a source, or the message needs none.
    pub fn is_answered(&self) -> bool {
        self.is_small_talk || !self.reply.sources_used.is_empty()
    }

    /// How long the reply took, from the arrival of the question to its end.
    pub fn latency_ms(&self) -> u64 {
        let taken = self.reply.timestamp.as_millis() - self.question.timestamp.as_millis();
        u64::try_from(taken).unwrap_or_default()
    }

    /// What it adds to the usage of its agent: one answered message and its tokens, on the day of the
    /// reply.
    pub fn usage(&self) -> DayUsage {
        DayUsage {
            day: Day::of(self.reply.timestamp),
            agent_id: self.conversation.agent_id,
            messages: 1,
            tokens: self.tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Channel, Conversation, ConversationCounts, Message, Metadata, Role, Turn};
    use crate::usage::{Day, TokenCount};
    use crate::widget::Lead;
    use crate::{Error, Id, SystemEntropy, Timestamp};

    fn conversation() -> Conversation {
        Conversation {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            agent_id: Id::random(&SystemEntropy),
            metadata: Metadata::default(),
            channel: Channel::Api,
            widget_id: None,
            visitor: None,
            handoff_requested_at: None,
            lead: None,
            counts: ConversationCounts::default(),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_conversation_is_continued_with_its_own_agent() {
        let conversation = conversation();
        conversation.check_belongs_to(conversation.agent_id).unwrap();
        let other = conversation.check_belongs_to(Id::random(&SystemEntropy)).unwrap_err();
        assert!(matches!(other, Error::Conflict(_)));
        assert!(other.to_string().contains(&conversation.agent_id.to_string()));
    }

    #[test]
    fn a_turn_counts_as_one_message_on_the_day_of_its_reply() {
        let day = 24 * 60 * 60 * 1_000;
        let message = |role, millis| Message {
            role,
            content: "text".to_owned(),
            sources_used: Vec::new(),
            timestamp: Timestamp::from_millis(millis),
        };
        let conversation = conversation();
        let agent = conversation.agent_id;
        let turn = Turn {
            conversation,
            is_first: true,
            question: message(Role::User, day - 1),
            reply: message(Role::Assistant, day),
            tokens: TokenCount { prompt: 7, completion: 5 },
            after: None,
            receipt: None,
            is_cut: false,
            lists_sources: false,
            is_small_talk: false,
        };
        let usage = turn.usage();
        assert_eq!((usage.day, usage.agent_id, usage.messages), (Day::from_number(1), agent, 1));
        assert_eq!(usage.tokens, turn.tokens);
        assert_eq!((turn.latency_ms(), turn.is_answered()), (1, false));
        assert!(Turn { is_small_talk: true, ..turn }.is_answered());
    }

    #[test]
    fn filters_are_split_at_the_first_colon_and_kept_once() {
        let read = |texts: &[&str]| super::parse_metadata_filters(texts.iter().copied());
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let filters = read(&["user:a:b", "plan:", "user:a:b"]).unwrap();
        assert_eq!(filters, [pair("user", "a:b"), pair("plan", "")]);
        let long_key = format!("{}:x", "k".repeat(41));
        let long_value = format!("k:{}", "v".repeat(501));
        for text in ["user", &long_key, &long_value] {
            assert_eq!(read(&[text]).unwrap_err().param, "metadata");
        }
        assert!(read(&["a:b"; 20]).is_ok() && read(&["a:b"; 21]).is_err());
    }

    #[test]
    fn metadata_has_20_keys_of_40_characters_and_values_of_500() {
        let pairs = |count: usize, key: usize, value: usize| {
            let pair = |number| (format!("{number:0>key$}"), "é".repeat(value));
            (0..count).map(pair).collect::<BTreeMap<_, _>>()
        };
        assert!(Metadata::parse(pairs(20, 40, 500)).is_ok());
        let param = |pairs| Metadata::parse(pairs).unwrap_err().param;
        assert_eq!(param(pairs(21, 2, 1)), "metadata");
        assert_eq!(param(pairs(1, 41, 1)), "metadata");
        assert_eq!(param(pairs(1, 2, 501)), "metadata.00");
    }

    #[test]
    fn only_replies_are_rated_and_have_receipts() {
        Role::Assistant.check_can_be_rated(2).unwrap();
        Role::Assistant.check_has_receipt(2).unwrap();
        for (refused, only) in [
            (Role::User.check_can_be_rated(1), "only replies can be rated"),
            (Role::User.check_has_receipt(1), "only replies have receipts"),
        ] {
            let Err(Error::InvalidOperation(message)) = refused else { panic!("{only}") };
            assert_eq!(message, format!("message 1 is the user's; {only}"));
        }
    }

    #[test]
    fn a_visitor_asks_for_a_person_once_and_leaves_a_lead_once() {
        let (first, later) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        let asked = conversation().request_handoff(first).unwrap();
        assert_eq!(asked.handoff_requested_at, Some(first));
        assert_eq!(asked.request_handoff(later), None);
        let lead = |email: &str| Lead::parse(email.to_owned(), None, None, None).unwrap();
        let left = conversation().capture_lead(lead("a@b")).unwrap();
        assert_eq!(left.clone().capture_lead(lead("a@b")), None);
        let other = left.capture_lead(lead("c@d")).unwrap();
        assert_eq!(other.lead, Some(lead("c@d")));
    }
}
