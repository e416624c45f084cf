//! `POST /v1/chat/completions`

mod events;
mod view;

use actix_web::http::{Method, StatusCode};
use cicerone_domain::conversation::{Channel, Metadata};
use cicerone_domain::services::{Handling, NewMessage};
use cicerone_domain::{Error, every};
use serde::Deserialize;
use utoipa::ToSchema;

use super::frame::{CompleteReply, Frame, Stored};
use super::parameters::{Named, Parameters, Rule, most_tokens};
use super::reply::{Asked, answer, subject};
use super::transcript::{Notation, Reader};
use super::{Unread, model};
use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::body::{Body, Current, read_fields};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, StoredResponse, keep};
use events::{ChatEvent, ChatEvents};
use view::ChatCompletion;

pub(super) use view::ChatContent;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::OpenAi, Method::POST, "/v1/chat/completions", handle)
        .named("createChatCompletion", "Create a chat completion")
        .details(
            "The agent that `model` names answers the user's last message, as in OpenAI's API. The client keeps the \
             history: earlier messages of the user and the assistant are taken into account, up to the newest 40 and \
             64 KiB. Nothing is stored unless `store` is true; the reply counts toward the quotas either way. \
             Messages of the roles `system` and `developer` are ignored, since the agent has a prompt of its own. \
             Parameters that are settings of the agent, such as `temperature`, are ignored, and so is `tools`. \
             Parameters for unsupported features are refused: `n` other than 1, `tool_choice` other than `none` and \
             `auto`, a `response_format` other than text, `logprobs`, `modalities` other than text, `audio`, \
             `prediction` and `web_search_options`. With `stream: true`, the reply is sent as Server-Sent Events that \
             end with `[DONE]`.",
        )
        .body::<CreateChatCompletion>()
        .keyed()
        .gives_or_streams::<ChatCompletion<'_>, ChatEvent>()
        .refuses(
            404,
            "The agent does not exist, or it or the conversation in the response stored for this idempotency key has \
             since been deleted.",
        )
        .refuses(409, "The agent is paused, or the same request is still being carried out.")
        .refuses(429, "Too many requests, or the account has reached a monthly quota.")
        .refuses(503, "The model did not reply, or the server is overloaded.")
}

/// The parameters that are not declared as fields.
const NAMES: &[Named] = &[
    ("stream_options", Rule::Any),
    ("metadata", Rule::Any),
    ("tool_choice", Rule::NoTool),
    ("function_call", Rule::NoTool),
    ("response_format", Rule::TextFormat),
    ("logprobs", Rule::False),
    ("top_logprobs", Rule::Zero),
    ("modalities", Rule::TextOnly),
    ("audio", Rule::Null),
    ("prediction", Rule::Null),
    ("web_search_options", Rule::Null),
];

#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "some fields declare what `Parameters` reads")]
#[schema(examples(json!({
    "model": "agent_8kd02JwQ1z",
    "messages": [{"role": "user", "content": "When are you open?"}],
})))]
struct CreateChatCompletion {
    /// The agent.
    #[schema(pattern = "^agent_[0-9A-Za-z]{10}$")]
    model: String,
    /// The last one must be the user's.
    #[schema(value_type = Vec<view::ChatMessage>, min_items = 1, max_items = 2048)]
    messages: Unread,
    /// Whether the reply is sent as Server-Sent Events; null for false.
    stream: Option<bool>,
    #[serde(default)]
    #[schema(value_type = Option<view::StreamOptions>)]
    stream_options: Unread,
    /// The maximum number of tokens in the reply. The agent's own maximum also applies.
    #[schema(minimum = 1)]
    max_completion_tokens: Option<i64>,
    /// The older name of `max_completion_tokens`. If both are given, the smaller one applies.
    #[schema(minimum = 1)]
    max_tokens: Option<i64>,
    /// The number of replies.
    #[schema(minimum = 1, maximum = 1)]
    n: Option<i64>,
    /// Whether question and reply are stored as a conversation; null for false.
    store: Option<bool>,
    /// Key/value pairs for the conversation; ignored unless `store` is true.
    #[serde(default)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    metadata: Unread,
    #[serde(skip)]
    #[schema(ignore)]
    parameters: Option<Parameters>,
}

/// A request that was read.
struct Checked {
    /// The message, or the refusal of a model that cannot exist.
    message: Result<NewMessage, Error>,
    is_streamed: bool,
    includes_usage: bool,
}

impl Body for CreateChatCompletion {
    type Checked = Checked;

    fn parse(text: &[u8], current: &Current<'_>) -> Result<Checked, Error> {
        let body: Self = read_fields(text)?;
        let reader = Reader { notation: Notation::Messages, now: current.now };
        let parameters = Some(Parameters::read(text, NAMES, reader)?);
        Self { parameters, ..body }.check(current)
    }

    fn check(self, _: &Current<'_>) -> Result<Checked, Error> {
        let Some(parameters) = self.parameters else {
            return Err(Error::internal("the parameters of a chat completion were not read"));
        };
        let is_kept = self.store.unwrap_or_default();
        let number = match self.n {
            None | Some(1) => Ok(()),
            Some(_) => Err(Error::invalid("n", "must be 1: an agent gives one reply")),
        };
        let (includes_usage, max_tokens, (), metadata, transcript) = every((
            parameters.flag("stream_options", "include_usage"),
            most_tokens(&[
                ("max_completion_tokens", self.max_completion_tokens),
                ("max_tokens", self.max_tokens),
            ]),
            number,
            if is_kept { parameters.metadata() } else { Ok(Metadata::default()) },
            parameters.transcript,
        ))?;
        let message = model(&self.model).map(|agent_id| NewMessage {
            agent_id,
            conversation_id: None,
            text: transcript.question,
            metadata,
            channel: Channel::OpenAi,
            request_id: None,
            handling: Handling {
                history: Some(transcript.history),
                is_kept,
                max_tokens,
                ..Handling::default()
            },
        });
        Ok(Checked { message, is_streamed: self.stream.unwrap_or_default(), includes_usage })
    }
}

async fn handle(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let (checked, key) = incoming.keyed_body::<CreateChatCompletion>(&app).await?;
    let Checked { message, is_streamed, includes_usage } = checked;
    let mut message = match message {
        Ok(message) => message,
        Err(unknown) => return Change::new(&app, &caller, key).refuse(unknown).await,
    };
    let entropy = app.entropy.as_ref();
    let mut frame = Frame::new("chatcmpl-", message.agent_id, app.clock.now(), entropy);
    if message.handling.is_kept {
        let conversation_id = app.conversations.new_id();
        message.handling.new_id = Some(conversation_id);
        frame.stored = Some(Stored::first(conversation_id));
    }
    let events = is_streamed.then(|| ChatEvents::new(frame.clone(), includes_usage));
    let asked = Asked { message, frame, continuation: None };
    answer(&caller, &app, &incoming, key, asked, events, whole).await
}

fn whole(reply: &CompleteReply) -> StoredResponse {
    keep(StatusCode::OK, &ChatCompletion::from(reply), Some(subject(reply)))
}
