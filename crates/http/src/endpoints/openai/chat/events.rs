//! A chat completion as events without names, which `[DONE]` ends.

use actix_web_lab::sse;
use cicerone_domain::{Id, kind};
use serde::Serialize;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::view::{ChatUsage, finish_reason};
use crate::context::RequestId;
use crate::endpoints::openai::annotations::{ChatAnnotation, in_chat};
use crate::endpoints::openai::frame::{CompleteReply, Frame};
use crate::endpoints::{CitationView, citations};
use crate::error::Problem;
use crate::openapi::schema::string;
use crate::response::JSON;
use crate::stream::script::{Script, unnamed};

/// The data of the last event.
const DONE: &str = "[DONE]";

/// A part of a reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatCompletionChunk)]
struct Chunk<'a> {
    /// The same in all chunks of a reply.
    #[schema(pattern = "^chatcmpl-[0-9A-Za-z]{20}$")]
    id: &'a str,
    #[schema(pattern = "^chat\\.completion\\.chunk$")]
    object: &'static str,
    /// Seconds since 1970.
    created: i64,
    /// The id of the agent that replies.
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    model: Id<kind::Agent>,
    /// One; empty in the chunk with the usage.
    choices: Vec<ChunkChoice<'a>>,
    /// Absent without `include_usage`; null in all chunks except the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ChatUsage>)]
    usage: Option<Option<ChatUsage>>,
    /// The sources that the reply is based on, best first, in one chunk after the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sources_used: Option<Vec<CitationView<'a>>>,
    /// The conversation in which the reply is stored, in the chunk that has `sources_used`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    conversation_id: Option<Id<kind::Conversation>>,
    /// The number of the reply in its conversation, in the chunk that has `conversation_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    n: Option<u64>,
}

/// A part of the reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatChunkChoice)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    /// Always null.
    #[schema(value_type = Option<String>, required = true)]
    logprobs: (),
    /// Null in all chunks except the last one.
    #[schema(required = true, pattern = "^(stop|length)$")]
    finish_reason: Option<&'static str>,
}

/// What a chunk adds to the reply.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = ChatDelta)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^assistant$")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    annotations: Option<Vec<ChatAnnotation<'a>>>,
}

/// The schema of one event. It is written by hand because the data of an event is a string that contains JSON, which a
/// derive cannot express.
pub(super) enum ChatEvent {}

impl PartialSchema for ChatEvent {
    fn schema() -> RefOr<Schema> {
        let json = |schema: &str| {
            string().content_media_type(JSON).content_schema(Some(Ref::from_schema_name(schema)))
        };
        let data = AnyOfBuilder::new()
            .item(json("ChatCompletionChunk"))
            .item(json("Error"))
            .item(string().enum_values(Some([DONE])));
        let about = "Chunks, then `[DONE]`. If the reply fails after the stream has begun, an object with `error` is \
                     the last one.";
        ObjectBuilder::new().description(Some(about)).property("data", data).required("data").into()
    }
}

impl ToSchema for ChatEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("ChatCompletionChunk".to_owned(), Chunk::schema()));
        Chunk::schemas(schemas);
    }
}

/// Writes the events of a chat completion.
pub(super) struct ChatEvents {
    frame: Frame,
    includes_usage: bool,
    has_begun: bool,
}

impl ChatEvents {
    pub(super) fn new(frame: Frame, includes_usage: bool) -> Self {
        Self { frame, includes_usage, has_begun: false }
    }

    fn chunk<'a>(&'a self, choices: Vec<ChunkChoice<'a>>) -> Chunk<'a> {
        Chunk {
            id: &self.frame.id,
            object: "chat.completion.chunk",
            created: self.frame.created,
            model: self.frame.model,
            choices,
            usage: self.includes_usage.then_some(None),
            sources_used: None,
            conversation_id: None,
            n: None,
        }
    }

    fn delta(&self, delta: Delta<'_>, finish_reason: Option<&'static str>) -> sse::Event {
        unnamed(&self.chunk(vec![ChunkChoice { index: 0, delta, logprobs: (), finish_reason }]))
    }

    /// The first event, if it was not sent.
    fn begin(&mut self) -> Option<sse::Event> {
        if std::mem::replace(&mut self.has_begun, true) {
            return None;
        }
        let delta = Delta { role: Some("assistant"), content: Some(""), ..Delta::default() };
        Some(self.delta(delta, None))
    }

    /// The citations, and where the reply is stored. Nothing if there is neither.
    fn citations(&self, reply: &CompleteReply) -> Option<sse::Event> {
        let stored = self.frame.stored;
        if reply.citations.is_empty() && stored.is_none() {
            return None;
        }
        let annotations = Some(in_chat(&reply.citations, &reply.text_with_sources()));
        let delta = Delta { annotations, ..Delta::default() };
        let choice = ChunkChoice { index: 0, delta, logprobs: (), finish_reason: None };
        Some(unnamed(&Chunk {
            sources_used: Some(citations(&reply.citations)),
            conversation_id: stored.map(|stored| stored.conversation_id),
            n: stored.map(|stored| stored.n),
            ..self.chunk(vec![choice])
        }))
    }

    fn usage(&self, reply: &CompleteReply) -> Option<sse::Event> {
        let usage = Some(Some(ChatUsage::from(reply)));
        self.includes_usage.then(|| unnamed(&Chunk { usage, ..self.chunk(Vec::new()) }))
    }
}

impl Script for ChatEvents {
    type Stored = CompleteReply;

    fn token(&mut self, text: &str) -> Vec<sse::Event> {
        let begin = self.begin();
        let token = self.delta(Delta { content: Some(text), ..Delta::default() }, None);
        begin.into_iter().chain([token]).collect()
    }

    fn end(&mut self, reply: &CompleteReply) -> Vec<sse::Event> {
        let begin = self.begin();
        let list = reply
            .source_list()
            .map(|list| self.delta(Delta { content: Some(&list), ..Delta::default() }, None));
        let finish = self.delta(Delta::default(), Some(finish_reason(reply)));
        let done = sse::Data::new(DONE).into();
        let events =
            [begin, list, self.citations(reply), Some(finish), self.usage(reply), Some(done)];
        events.into_iter().flatten().collect()
    }

    fn replay(&mut self, reply: &CompleteReply) -> Vec<sse::Event> {
        self.frame = reply.frame.clone();
        let text = Some(&reply.text).filter(|text| !text.is_empty());
        let tokens = text.map(|text| self.token(text)).unwrap_or_default();
        tokens.into_iter().chain(self.end(reply)).collect()
    }

    fn fail(&mut self, problem: &Problem, request_id: RequestId) -> sse::Event {
        unnamed(&problem.to_error(request_id))
    }
}
