//! The events of a streamed reply, and the reply as it is stored to be streamed again.

use actix_web_lab::sse;
use cicerone_domain::conversation::Turn;
use cicerone_domain::{Citation, Id, kind};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{Object, ObjectBuilder, OneOfBuilder};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::context::RequestId;
use crate::endpoints::{CitationView, citations};
use crate::error::{ErrorEvent, Problem};
use crate::openapi::schema::string;
use crate::response::JSON;
use crate::stream::script::{Script, named};

/// The data of a `token` event: the next fragment of the reply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenEvent<'a> {
    pub(crate) content: &'a str,
}

/// The data of the `done` event: the reply is complete and stored.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DoneEvent<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    sources_used: Vec<CitationView<'a>>,
    /// The number of the reply in the conversation, from 1; null for a repeated request whose reply an earlier version of
    /// the server stored.
    #[schema(required, minimum = 1)]
    n: Option<u64>,
}

/// The events of `POST /v1/conversations`: Any number of `token` events, then `done` or `error`.
pub(crate) struct Tokens;

impl Script for Tokens {
    type Stored = KeptReply;

    fn token(&mut self, text: &str) -> Vec<sse::Event> {
        vec![named("token", &TokenEvent { content: text })]
    }

    fn end(&mut self, kept: &KeptReply) -> Vec<sse::Event> {
        vec![named("done", &DoneEvent::from(kept))]
    }

    fn replay(&mut self, kept: &KeptReply) -> Vec<sse::Event> {
        let text = Some(&kept.reply).filter(|text| !text.is_empty());
        let tokens = text.map(|text| self.token(text)).unwrap_or_default();
        tokens.into_iter().chain(self.end(kept)).collect()
    }

    fn fail(&mut self, problem: &Problem, request_id: RequestId) -> sse::Event {
        named("error", &problem.to_event(request_id))
    }
}

/// The schema of one event of a stream. It is written by hand because the data of an event is a
/// string that contains JSON, which a derive cannot express.
pub(crate) enum Event {}

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .description(Some("Any number of `token` events, then `done` or `error`."))
            .item(event("token", "TokenEvent"))
            .item(event("done", "DoneEvent"))
            .item(event("error", "ErrorEvent"))
            .into()
    }
}

impl ToSchema for Event {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("TokenEvent".to_owned(), TokenEvent::schema()));
        schemas.push(("DoneEvent".to_owned(), DoneEvent::schema()));
        schemas.push(("ErrorEvent".to_owned(), ErrorEvent::schema()));
        DoneEvent::schemas(schemas);
    }
}

pub(crate) fn event(name: &str, schema: &str) -> Object {
    let data =
        string().content_media_type(JSON).content_schema(Some(Ref::from_schema_name(schema)));
    // Without a title: some generators derive the name `TokenEvent` from `token` and `event`, which
    // is taken.
    ObjectBuilder::new()
        .property("event", string().enum_values(Some([name])))
        .property("data", data)
        .required("event")
        .required("data")
        .build()
}

/// A streamed reply in the form in which it is stored for a repetition of its request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptReply {
    /// The whole text.
    reply: String,
    conversation_id: Id<kind::Conversation>,
    sources_used: Vec<Citation>,
    #[serde(default)]
    n: Option<u64>,
}

impl From<&Turn> for KeptReply {
    fn from(turn: &Turn) -> Self {
        Self {
            reply: turn.reply.content.clone(),
            conversation_id: turn.conversation.id,
            sources_used: turn.reply.sources_used.clone(),
            n: Some(turn.number()),
        }
    }
}

impl<'a> From<&'a KeptReply> for DoneEvent<'a> {
    fn from(kept: &'a KeptReply) -> Self {
        let sources_used = citations(&kept.sources_used);
        Self { conversation_id: kept.conversation_id, sources_used, n: kept.n }
    }
}
