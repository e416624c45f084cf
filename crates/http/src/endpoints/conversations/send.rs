//! `POST /v1/conversations`

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::{Method, StatusCode};
use cicerone_domain::conversation::{Channel, Metadata, Turn};
use cicerone_domain::id::Kind;
use cicerone_domain::idempotency::{Completion, Subject};
use cicerone_domain::ports::TokenSink;
use cicerone_domain::services::{Handling, NewMessage};
use cicerone_domain::{Error, Id, MessageText, Timestamp, every, kind, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

use super::{CitationView, citations};
use crate::auth::permission::ConversationsWrite;
use crate::auth::{Authorized, Caller};
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::events::{Event, KeptReply, Tokens};
use crate::openapi::schema::string;
use crate::response::{Answer, StoredResponse, keep};
use crate::stages::StageTimes;
use crate::stream::stream_reply;
use crate::turn;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Conversations, Method::POST, "/v1/conversations", handle)
        .named("sendMessage", "Send a message")
        .details(
            "Without `conversation_id`, a new conversation begins. With `stream: true`, the reply is sent as \
             Server-Sent Events: `token` events, whose `content` values together are the reply, then `done`. If the \
             reply fails after the stream has begun, an `error` event ends the stream. A comment line is sent every \
             10 s if there is nothing else to send.",
        )
        .body::<SendMessage>()
        .keyed()
        .gives_or_streams::<ReplyView<'_>, Event>()
        .refuses(
            404,
            "The agent or conversation does not exist, or the conversation in the response stored \
             for this idempotency key has since been deleted.",
        )
        .refuses(
            409,
            "The conversation belongs to another agent, the agent is paused, or the same request \
             is still being carried out.",
        )
        .refuses(429, "Too many requests, or the account has reached a monthly quota.")
        .refuses(503, "The model did not reply, or the server is overloaded.")
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"agent_id": "agent_8kd02JwQ1z", "message": "When are you open?"})))]
struct SendMessage {
    #[schema(pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: String,
    /// The user's text.
    #[schema(min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    message: String,
    /// The conversation to continue. Without it, a new one begins.
    #[schema(pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Option<String>,
    #[schema(schema_with = metadata)]
    metadata: Option<BTreeMap<String, String>>,
    /// Whether the reply is sent as Server-Sent Events; null for false.
    stream: Option<bool>,
}

/// The schema of `metadata`: a derive has no attributes for the number of properties and for their names.
fn metadata() -> Object {
    let text = |most: usize| string().max_length(Some(most)).pattern(Some("^[^\\u0000]*$"));
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .description(Some(
            "Key/value pairs for a new conversation; ignored if a conversation is continued.",
        ))
        .max_properties(Some(limits::METADATA_KEYS))
        .property_names(Some(text(limits::METADATA_KEY_CHARS).build()))
        .additional_properties(Some(text(limits::METADATA_VALUE_CHARS)))
        .build()
}

impl Body for SendMessage {
    /// The message, or what it names and cannot exist, and whether its reply is to be streamed.
    type Checked = (Result<NewMessage, Error>, bool);

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        let (text, metadata) = every((
            MessageText::parse(self.message),
            Metadata::parse(self.metadata.unwrap_or_default()),
        ))?;
        let ids = named(&self.agent_id)
            .and_then(|agent| Ok((agent, self.conversation_id.as_deref().map(named).transpose()?)));
        let message = ids.map(|(agent_id, conversation_id)| NewMessage {
            agent_id,
            conversation_id,
            text,
            metadata,
            channel: Channel::Api,
            request_id: None,
            handling: Handling::default(),
        });
        Ok((message, self.stream.unwrap_or_default()))
    }
}

/// The resource that a text names. Text that is not an id of that kind gets the same refusal as the
/// id of a resource that does not exist.
fn named<K: Kind>(text: &str) -> Result<Id<K>, Error> {
    text.parse().map_err(|_| Error::not_found(K::NAME, text))
}

async fn handle(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let ((message, is_streamed), key) = incoming.keyed_body::<SendMessage>(&app).await?;
    let change = Change::new(&app, &caller, key);
    let mut message = match message {
        Ok(message) => message,
        Err(unknown) => return change.refuse(unknown).await,
    };
    message.request_id = Some(caller.request_id());
    let times = StageTimes::new(caller.context().authenticated_in.get());
    let clock = times.clone();
    let outcome = if is_streamed {
        let (sink, tokens) = TokenSink::channel();
        let task = change.spawn(streamed, |app, caller, completion| async move {
            reply(&app, &caller, completion, message, Some(sink), &clock).await
        });
        let (heartbeat, ending) = (app.settings.heartbeat, app.ending.clone());
        let request = &incoming.request;
        stream_reply(request, caller.request_id(), Tokens, tokens, task, heartbeat, ending).await
    } else {
        let work = |app: App, caller: Arc<Caller>, completion| async move {
            reply(&app, &caller, completion, message, None, &clock).await
        };
        change.answer(replied, work).await
    };
    let mut response = turn::at_its_time(&app, &caller, outcome).await?;
    if app.settings.server_timing {
        times.write(&mut response);
    }
    Ok(response)
}

/// Replies, and records the stages of the reply.
async fn reply(
    app: &App,
    caller: &Caller,
    completion: Option<Completion<Turn>>,
    message: NewMessage,
    tokens: Option<TokenSink>,
    times: &StageTimes,
) -> Result<Turn, Error> {
    let accepted = app.conversations.accept(&caller.scope, message, times.stages()).await?;
    let turn = turn::answer(app, accepted, tokens, completion).await?;
    times.record();
    Ok(turn)
}

fn replied(turn: &Turn) -> StoredResponse {
    keep(StatusCode::OK, &ReplyView::from(turn), Some(subject(turn)))
}

/// The stored form of a reply that is streamed again for a repeated request.
fn streamed(turn: &Turn) -> StoredResponse {
    let kept = keep(StatusCode::OK, &KeptReply::from(turn), Some(subject(turn)));
    StoredResponse { content_type: Some("text/event-stream".to_owned()), ..kept }
}

fn subject(turn: &Turn) -> Subject {
    let conversation = &turn.conversation;
    Subject::of_agent(conversation.id, conversation.agent_id)
}

/// A complete reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reply)]
struct ReplyView<'a> {
    /// The conversation's id.
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// The agent's answer.
    reply: &'a str,
    /// The sources that the reply is based on, best first.
    sources_used: Vec<CitationView<'a>>,
    /// The same as `id`. A message with this id continues the conversation.
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    /// The number of the reply in the conversation, from 1. It names the message in other requests.
    #[schema(minimum = 1)]
    n: u64,
    /// When the conversation began.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl<'a> From<&'a Turn> for ReplyView<'a> {
    fn from(turn: &'a Turn) -> Self {
        let conversation = &turn.conversation;
        Self {
            id: conversation.id,
            agent_id: conversation.agent_id,
            reply: &turn.reply.content,
            sources_used: citations(&turn.reply.sources_used),
            conversation_id: conversation.id,
            n: turn.number(),
            created_at: conversation.created_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SendMessage;
    use crate::body::{Body as _, Current};
    use cicerone_domain::{Error, Timestamp};

    fn read(json: &str) -> Result<bool, Error> {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        let (message, is_streamed) = SendMessage::parse(json.as_bytes(), &current)?;
        message.map(|_| is_streamed)
    }

    #[test]
    fn missing_fields_come_first_then_bad_values_then_what_does_not_exist() {
        assert!(matches!(read(r#"{"message": 5}"#), Err(Error::Missing { .. })));
        let bad_value = r#"{"agent_id": "nobody", "message": " "}"#;
        assert!(matches!(read(bad_value), Err(Error::Invalid(_))));
        let unknown = r#"{"agent_id": "nobody", "message": "Hello"}"#;
        assert!(matches!(read(unknown), Err(Error::NotFound { .. })));
    }

    #[test]
    fn null_optional_fields_are_absent() {
        let json = r#"{"agent_id": "agent_0123456789", "message": "Hello",
            "conversation_id": null, "metadata": null, "stream": null}"#;
        assert!(!read(json).unwrap());
    }
}
