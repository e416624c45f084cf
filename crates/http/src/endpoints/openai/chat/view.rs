//! The wire form of a chat completion.

use cicerone_domain::{Id, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::openai::annotations::{ChatAnnotation, in_chat};
use crate::endpoints::openai::frame::CompleteReply;
use crate::endpoints::{CitationView, citations};

/// A message that a client sends. Further fields are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(in crate::endpoints) struct ChatMessage {
    /// Messages of `system` and `developer` are ignored.
    #[schema(pattern = "^(user|assistant|system|developer)$")]
    role: String,
    /// A text, or parts that are texts; null only in messages of the assistant.
    content: Option<ChatContent>,
}

/// The content of a message: a text, or parts that are texts.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(in crate::endpoints) enum ChatContent {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A part of a message's content. Only text is accepted.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(in crate::endpoints) enum ContentPart {
    Text(TextPart),
    Refusal(RefusalPart),
}

/// A part that is text.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(in crate::endpoints) struct TextPart {
    #[schema(pattern = "^(text|input_text|output_text)$")]
    r#type: String,
    text: String,
}

/// A refusal that an assistant sent instead of a reply.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(in crate::endpoints) struct RefusalPart {
    #[schema(pattern = "^refusal$")]
    r#type: String,
    refusal: String,
}

/// What a stream contains.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(in crate::endpoints) struct StreamOptions {
    /// Whether the last event before `[DONE]` contains the token usage; null for false.
    include_usage: Option<bool>,
}

/// A complete reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatCompletion)]
pub(super) struct ChatCompletion<'a> {
    #[schema(pattern = "^chatcmpl-[0-9A-Za-z]{20}$")]
    id: &'a str,
    #[schema(pattern = "^chat\\.completion$")]
    object: &'static str,
    /// Seconds since 1970.
    created: i64,
    /// The id of the agent that replied.
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    model: Id<kind::Agent>,
    #[schema(value_type = Vec<ChatChoice<'_>>, min_items = 1, max_items = 1)]
    choices: [ChatChoice<'a>; 1],
    usage: ChatUsage,
    /// The sources that the reply is based on, best first; `annotations` contain only those with an address.
    sources_used: Vec<CitationView<'a>>,
    /// The conversation in which the reply is stored; null without `store`.
    #[schema(value_type = Option<String>, required = true, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Option<Id<kind::Conversation>>,
    /// The number of the reply in its conversation; null without `store`.
    #[schema(required = true)]
    n: Option<u64>,
}

/// The reply.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChatChoice<'a> {
    index: u32,
    message: ChatReply<'a>,
    /// Always null.
    #[schema(value_type = Option<String>, required = true)]
    logprobs: (),
    /// `length` if the token limit ended the reply.
    #[schema(pattern = "^(stop|length)$")]
    finish_reason: &'static str,
}

/// The message of the reply.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChatReply<'a> {
    #[schema(pattern = "^assistant$")]
    role: &'static str,
    /// The text; with a list of the sources at its end if the agent has `source_list`.
    content: String,
    /// Always null.
    #[schema(value_type = Option<String>, required = true)]
    refusal: (),
    annotations: Vec<ChatAnnotation<'a>>,
}

/// The tokens that the model used; the embedded answerer uses none.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(super) struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

/// Why the reply ended.
pub(super) const fn finish_reason(reply: &CompleteReply) -> &'static str {
    if reply.is_cut { "length" } else { "stop" }
}

impl From<&CompleteReply> for ChatUsage {
    fn from(reply: &CompleteReply) -> Self {
        Self {
            prompt_tokens: reply.prompt_tokens,
            completion_tokens: reply.completion_tokens,
            total_tokens: reply.prompt_tokens.saturating_add(reply.completion_tokens),
        }
    }
}

impl<'a> From<&'a CompleteReply> for ChatCompletion<'a> {
    fn from(reply: &'a CompleteReply) -> Self {
        let frame = &reply.frame;
        let content = reply.text_with_sources();
        let annotations = in_chat(&reply.citations, &content);
        let message = ChatReply { role: "assistant", content, refusal: (), annotations };
        let finish_reason = finish_reason(reply);
        Self {
            id: &frame.id,
            object: "chat.completion",
            created: frame.created,
            model: frame.model,
            choices: [ChatChoice { index: 0, message, logprobs: (), finish_reason }],
            usage: ChatUsage::from(reply),
            sources_used: citations(&reply.citations),
            conversation_id: frame.stored.map(|stored| stored.conversation_id),
            n: frame.stored.map(|stored| stored.n),
        }
    }
}
