//! `POST /v1/responses`

pub(super) mod continued;
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
use super::reply::{Asked, Continuation, answer, subject};
use super::transcript::{Notation, Reader};
use super::{Unread, model};
use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::body::{Body, Current, read_fields};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, StoredResponse, keep};
use continued::Continued;
use events::{ResponseEvent, ResponseEvents};
use view::{ResponseView, Status};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::OpenAi, Method::POST, "/v1/responses", handle)
        .named("createResponse", "Create a response")
        .details(
            "Answers the last message of the user in `input`, as OpenAI's API does, with the agent that `model` \
             names. Unlike in OpenAI's API, nothing is stored unless `store` is true, or the response continues a \
             stored one with `previous_response_id` or `conversation`; a later request cannot retrieve a response. \
             The client keeps the history: earlier messages of the user and the assistant are taken into account, up \
             to the newest 40 and 64 KiB. If a stored conversation is continued, its own messages are the history \
             instead. `instructions` and messages of the roles `system` and `developer` are ignored, since the agent \
             has a prompt of its own. Parameters that are settings of the agent, such as `temperature`, are ignored, \
             and so is `tools`. Parameters for unsupported features are refused: `tool_choice` other than `none` and \
             `auto`, a `text.format` other than text, `top_logprobs`, `background` and `prompt`. With `stream: true`, \
             the reply is sent as Server-Sent Events, from `response.created` to `response.completed`, or to \
             `response.incomplete` if the token limit ended the reply.",
        )
        .body::<CreateResponse>()
        .keyed()
        .gives_or_streams::<ResponseView<'_>, ResponseEvent>()
        .refuses(
            404,
            "The agent, the previous response or the conversation does not exist, or the agent or the conversation in \
             the response stored for this idempotency key has since been deleted.",
        )
        .refuses(
            409,
            "The agent is paused, the conversation belongs to another agent or has been continued since the previous \
             response, or the same request is still being carried out.",
        )
        .refuses(429, "Too many requests, or the account has reached a monthly quota.")
        .refuses(503, "The model did not reply, or the server is overloaded.")
}

/// The parameters that are not declared as fields.
const NAMES: &[Named] = &[
    ("metadata", Rule::Any),
    ("conversation", Rule::Any),
    ("tool_choice", Rule::NoTool),
    ("text", Rule::TextSettings),
    ("top_logprobs", Rule::Zero),
    ("background", Rule::False),
    ("prompt", Rule::Null),
];

#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "some fields declare what `Parameters` reads")]
#[schema(examples(json!({"model": "agent_8kd02JwQ1z", "input": "When are you open?"})))]
struct CreateResponse {
    /// The agent.
    #[schema(pattern = "^agent_[0-9A-Za-z]{10}$")]
    model: String,
    /// The user's text, or messages of which the last one must be the user's.
    #[schema(value_type = view::Input)]
    input: Unread,
    /// Whether the reply is sent as Server-Sent Events; null for false.
    stream: Option<bool>,
    /// The maximum number of tokens in the reply. The agent's own maximum also applies.
    #[schema(minimum = 1)]
    max_output_tokens: Option<i64>,
    /// Whether question and reply are stored as a conversation. Null means true if a stored conversation is continued,
    /// and false otherwise.
    store: Option<bool>,
    /// Key/value pairs for a new conversation; ignored if a conversation is continued or nothing is stored.
    #[serde(default)]
    #[schema(value_type = Option<std::collections::BTreeMap<String, String>>)]
    metadata: Unread,
    /// The stored response to continue.
    #[schema(pattern = "^resp_[0-9A-Za-z]{10}_[0-9]{1,15}$")]
    previous_response_id: Option<String>,
    /// The conversation to continue; not together with `previous_response_id`.
    #[serde(default)]
    #[schema(value_type = Option<view::ConversationParam>)]
    conversation: Unread,
    #[serde(skip)]
    #[schema(ignore)]
    parameters: Option<Parameters>,
}

/// A request that was read.
struct Checked {
    /// The message and what it continues, or the refusal of a name of something that cannot exist.
    message: Result<(NewMessage, Option<Continued>), Error>,
    is_streamed: bool,
    previous_response_id: Option<String>,
}

impl Body for CreateResponse {
    type Checked = Checked;

    fn parse(text: &[u8], current: &Current<'_>) -> Result<Checked, Error> {
        let body: Self = read_fields(text)?;
        let reader = Reader { notation: Notation::Input, now: current.now };
        let parameters = Some(Parameters::read(text, NAMES, reader)?);
        Self { parameters, ..body }.check(current)
    }

    fn check(self, _: &Current<'_>) -> Result<Checked, Error> {
        let Some(parameters) = self.parameters else {
            return Err(Error::internal("the parameters of a response were not read"));
        };
        let conversation = continued::conversation(parameters.field("conversation"))?;
        if conversation.is_some() && self.previous_response_id.is_some() {
            let message = "must not be given together with `previous_response_id`";
            return Err(Error::invalid("conversation", message));
        }
        let continues = conversation.is_some() || self.previous_response_id.is_some();
        let is_kept = self.store.unwrap_or(continues);
        let begins = is_kept && !continues;
        let previous = self.previous_response_id.as_deref();
        let (max_tokens, metadata, transcript) = every((
            most_tokens(&[("max_output_tokens", self.max_output_tokens)]),
            if begins { parameters.metadata() } else { Ok(Metadata::default()) },
            parameters.transcript,
        ))?;
        let named = model(&self.model)
            .and_then(|agent| Ok((agent, Continued::parse(previous, conversation.as_deref())?)));
        let message = named.map(|(agent_id, continued)| {
            let message = NewMessage {
                agent_id,
                conversation_id: continued.map(Continued::conversation_id),
                text: transcript.question,
                metadata,
                channel: Channel::OpenAi,
                request_id: None,
                handling: Handling {
                    history: (!continues).then_some(transcript.history),
                    is_kept,
                    max_tokens,
                    ..Handling::default()
                },
            };
            (message, continued)
        });
        let is_streamed = self.stream.unwrap_or_default();
        let previous_response_id = self.previous_response_id;
        Ok(Checked { message, is_streamed, previous_response_id })
    }
}

async fn handle(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let (checked, key) = incoming.keyed_body::<CreateResponse>(&app).await?;
    let Checked { message, is_streamed, previous_response_id } = checked;
    let (mut message, continued) = match message {
        Ok(named) => named,
        Err(unknown) => return Change::new(&app, &caller, key).refuse(unknown).await,
    };
    let entropy = app.entropy.as_ref();
    let mut frame = Frame::new("resp_", message.agent_id, app.clock.now(), entropy);
    frame.max_output_tokens = message.handling.max_tokens.map(|most| most.get());
    frame.previous_response_id = previous_response_id;
    let continuation = continued.map(Continuation::new);
    if message.handling.is_kept && continuation.is_none() {
        let stored = Stored::first(app.conversations.new_id());
        message.handling.new_id = Some(stored.conversation_id);
        frame.id = continued::response_id(stored);
        frame.stored = Some(stored);
    }
    let placed = continuation.as_ref().map(Continuation::placed);
    let events = is_streamed.then(|| ResponseEvents::new(frame.clone(), placed));
    let asked = Asked { message, frame, continuation };
    answer(&caller, &app, &incoming, key, asked, events, whole).await
}

fn whole(reply: &CompleteReply) -> StoredResponse {
    let view = ResponseView::new(&reply.frame, Status::Completed(reply));
    keep(StatusCode::OK, &view, Some(subject(reply)))
}
