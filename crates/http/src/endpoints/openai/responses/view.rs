//! The wire form of a response.

use cicerone_domain::{Id, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::openai::annotations::{ResponseAnnotation, in_response};
use crate::endpoints::openai::chat::ChatContent;
use crate::endpoints::openai::frame::{CompleteReply, Frame};
use crate::endpoints::{CitationView, citations};

/// The input of the user.
#[derive(ToSchema)]
#[schema(as = ResponseInput)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(super) enum Input {
    Text(InputText),
    Items(Vec<InputItem>),
}

/// A question.
#[derive(ToSchema)]
#[schema(as = ResponseInputText, min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(super) struct InputText(String);

/// A message, or an item that is ignored.
#[derive(ToSchema)]
#[schema(as = ResponseInputItem)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(super) enum InputItem {
    Message(InputMessage),
    Ignored(IgnoredItem),
}

/// A message. Further fields are ignored.
#[derive(ToSchema)]
#[schema(as = ResponseInputMessage)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(super) struct InputMessage {
    #[schema(pattern = "^message$")]
    r#type: Option<String>,
    /// Messages of `system` and `developer` are ignored.
    #[schema(pattern = "^(user|assistant|system|developer)$")]
    role: String,
    /// A text, or parts that are texts.
    content: Option<ChatContent>,
}

/// An item that does not affect the reply. Further fields are ignored.
#[derive(ToSchema)]
#[schema(as = ResponseInputIgnored)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(super) struct IgnoredItem {
    #[schema(pattern = "^(reasoning|item_reference)$")]
    r#type: String,
}

/// The conversation to continue: its id, or an object with its id.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is read by hand; this declares its schema")]
pub(super) enum ConversationParam {
    Id(String),
    Object(ConversationOfResponse),
}

/// The conversation that a response belongs to.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ConversationOfResponse {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
}

/// How far a response is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Status<'a> {
    InProgress,
    Completed(&'a CompleteReply),
}

/// A reply. Fields of OpenAI's API that have no meaning here are constant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Response)]
pub(super) struct ResponseView<'a> {
    /// If the reply is stored, `previous_response_id` continues it.
    #[schema(pattern = "^resp_([0-9A-Za-z]{20}|[0-9A-Za-z]{10}_[0-9]+)$")]
    id: &'a str,
    #[schema(pattern = "^response$")]
    object: &'static str,
    /// Seconds since 1970.
    created_at: i64,
    /// `incomplete` if the token limit ended the reply.
    #[schema(pattern = "^(in_progress|completed|incomplete)$")]
    status: &'static str,
    background: bool,
    #[schema(value_type = Option<String>, required = true)]
    error: (),
    /// Why the reply is incomplete; null unless it is.
    #[schema(required = true)]
    incomplete_details: Option<IncompleteDetails>,
    #[schema(value_type = Option<String>, required = true)]
    instructions: (),
    #[schema(required = true)]
    max_output_tokens: Option<u32>,
    /// The id of the agent that replies.
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    model: Id<kind::Agent>,
    /// The reply; empty while it is in progress.
    #[schema(max_items = 1)]
    output: Vec<OutputMessage<'a>>,
    parallel_tool_calls: bool,
    #[schema(required = true)]
    previous_response_id: Option<&'a str>,
    reasoning: Reasoning,
    /// Whether question and reply are stored.
    store: bool,
    /// Always null; the agent decides.
    #[schema(value_type = Option<f64>, required = true)]
    temperature: (),
    text: TextSettings,
    #[schema(pattern = "^auto$")]
    tool_choice: &'static str,
    /// Empty.
    #[schema(value_type = Vec<String>, max_items = 0)]
    tools: [(); 0],
    /// Always null; the agent decides.
    #[schema(value_type = Option<f64>, required = true)]
    top_p: (),
    #[schema(pattern = "^disabled$")]
    truncation: &'static str,
    /// Null while the reply is in progress.
    #[schema(required = true)]
    usage: Option<ResponseUsage>,
    #[schema(value_type = Option<String>, required = true)]
    user: (),
    metadata: Empty,
    /// The conversation in which the reply is stored, or null.
    #[schema(required = true)]
    conversation: Option<ConversationOfResponse>,
    /// The sources that the reply is based on, best first.
    sources_used: Vec<CitationView<'a>>,
}

/// Why a reply is incomplete.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseIncompleteDetails)]
pub(super) struct IncompleteDetails {
    #[schema(pattern = "^max_output_tokens$")]
    reason: &'static str,
}

/// An object without fields.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Empty {}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseReasoning)]
pub(super) struct Reasoning {
    #[schema(value_type = Option<String>, required = true)]
    effort: (),
    #[schema(value_type = Option<String>, required = true)]
    summary: (),
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseTextSettings)]
pub(super) struct TextSettings {
    format: TextFormat,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseTextFormat)]
pub(super) struct TextFormat {
    #[schema(pattern = "^text$")]
    r#type: &'static str,
}

/// The message of the reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseOutputMessage)]
pub(super) struct OutputMessage<'a> {
    #[schema(pattern = "^message$")]
    r#type: &'static str,
    #[schema(pattern = "^msg_[0-9A-Za-z]{20}$")]
    id: &'a str,
    #[schema(pattern = "^(in_progress|completed|incomplete)$")]
    status: &'static str,
    #[schema(pattern = "^assistant$")]
    role: &'static str,
    #[schema(max_items = 1)]
    content: Vec<OutputText<'a>>,
}

/// The text of the reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ResponseOutputText)]
pub(super) struct OutputText<'a> {
    #[schema(pattern = "^output_text$")]
    r#type: &'static str,
    text: &'a str,
    annotations: Vec<ResponseAnnotation<'a>>,
    /// Empty.
    #[schema(value_type = Vec<String>, max_items = 0)]
    logprobs: [(); 0],
}

/// The tokens that the model used; the embedded answerer uses none.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ResponseUsage {
    input_tokens: u64,
    input_tokens_details: InputTokensDetails,
    output_tokens: u64,
    output_tokens_details: OutputTokensDetails,
    total_tokens: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct InputTokensDetails {
    cached_tokens: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OutputTokensDetails {
    reasoning_tokens: u64,
}

impl<'a> OutputText<'a> {
    /// The text before its first fragment.
    pub(super) const fn empty() -> Self {
        Self { r#type: "output_text", text: "", annotations: Vec::new(), logprobs: [] }
    }

    pub(super) fn of(reply: &'a CompleteReply) -> Self {
        let annotations = in_response(&reply.citations, &reply.text);
        Self { r#type: "output_text", text: &reply.text, annotations, logprobs: [] }
    }
}

impl<'a> OutputMessage<'a> {
    pub(super) fn new(frame: &'a Frame, status: Status<'a>) -> Self {
        let content = match status {
            Status::InProgress => Vec::new(),
            Status::Completed(reply) => vec![OutputText::of(reply)],
        };
        let (id, status) = (&frame.message_id, status.name());
        Self { r#type: "message", id, status, role: "assistant", content }
    }
}

impl Status<'_> {
    const fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed(reply) if reply.is_cut => "incomplete",
            Self::Completed(_) => "completed",
        }
    }
}

impl From<&CompleteReply> for ResponseUsage {
    fn from(reply: &CompleteReply) -> Self {
        Self {
            input_tokens: reply.prompt_tokens,
            input_tokens_details: InputTokensDetails { cached_tokens: 0 },
            output_tokens: reply.completion_tokens,
            output_tokens_details: OutputTokensDetails { reasoning_tokens: 0 },
            total_tokens: reply.prompt_tokens.saturating_add(reply.completion_tokens),
        }
    }
}

impl<'a> ResponseView<'a> {
    pub(super) fn new(frame: &'a Frame, status: Status<'a>) -> Self {
        let reply = if let Status::Completed(reply) = status { Some(reply) } else { None };
        let conversation =
            frame.stored.map(|stored| ConversationOfResponse { id: stored.conversation_id });
        Self {
            id: &frame.id,
            object: "response",
            created_at: frame.created,
            status: status.name(),
            background: false,
            error: (),
            incomplete_details: reply
                .filter(|reply| reply.is_cut)
                .map(|_| IncompleteDetails { reason: "max_output_tokens" }),
            instructions: (),
            max_output_tokens: frame.max_output_tokens,
            model: frame.model,
            output: reply.iter().map(|_| OutputMessage::new(frame, status)).collect(),
            parallel_tool_calls: false,
            previous_response_id: frame.previous_response_id.as_deref(),
            reasoning: Reasoning { effort: (), summary: () },
            store: frame.stored.is_some(),
            temperature: (),
            text: TextSettings { format: TextFormat { r#type: "text" } },
            tool_choice: "auto",
            tools: [],
            top_p: (),
            truncation: "disabled",
            usage: reply.map(ResponseUsage::from),
            user: (),
            metadata: Empty {},
            conversation,
            sources_used: reply.map(|reply| citations(&reply.citations)).unwrap_or_default(),
        }
    }
}
