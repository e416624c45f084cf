//! The events of a reply to a visitor.

use actix_web_lab::sse;
use cicerone_domain::{Id, kind};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::OneOfBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::super::{SourceView, sources};
use super::Made;
use crate::context::RequestId;
use crate::error::{ErrorEvent, Problem};
use crate::events::{TokenEvent, event};
use crate::stream::script::{Script, named};

/// The data of the `done` event: the reply is complete and stored.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = VisitorDoneEvent)]
pub(super) struct KeptReply {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    /// The number of the reply in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    /// The sources that the reply is based on, best first; empty if the widget does not show them.
    sources: Vec<SourceView>,
}

impl From<Made> for KeptReply {
    fn from(made: Made) -> Self {
        Self {
            conversation_id: made.turn.conversation.id,
            n: made.turn.number(),
            sources: sources(&made.turn.reply.sources_used, made.shows_sources),
        }
    }
}

/// The events: Any number of `token` events, then `done` or `error`.
pub(super) struct VisitorTokens;

impl Script for VisitorTokens {
    type Stored = KeptReply;

    fn token(&mut self, text: &str) -> Vec<sse::Event> {
        vec![named("token", &TokenEvent { content: text })]
    }

    fn end(&mut self, kept: &KeptReply) -> Vec<sse::Event> {
        vec![named("done", kept)]
    }

    /// Replies to visitors are not stored to be streamed again.
    fn replay(&mut self, kept: &KeptReply) -> Vec<sse::Event> {
        self.end(kept)
    }

    fn fail(&mut self, problem: &Problem, request_id: RequestId) -> sse::Event {
        named("error", &problem.to_event(request_id))
    }
}

/// The schema of one event of a stream.
pub(super) enum VisitorEvent {}

impl PartialSchema for VisitorEvent {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .description(Some("Any number of `token` events, then `done` or `error`."))
            .item(event("token", "TokenEvent"))
            .item(event("done", "VisitorDoneEvent"))
            .item(event("error", "ErrorEvent"))
            .into()
    }
}

impl ToSchema for VisitorEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("TokenEvent".to_owned(), TokenEvent::schema()));
        schemas.push(("VisitorDoneEvent".to_owned(), KeptReply::schema()));
        schemas.push(("ErrorEvent".to_owned(), ErrorEvent::schema()));
        KeptReply::schemas(schemas);
    }
}
