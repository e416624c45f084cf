//! `POST /w/{token}/messages`

mod events;

use std::sync::Arc;

use actix_web::http::{Method, StatusCode};
use cicerone_domain::conversation::{Channel, Metadata, Turn};
use cicerone_domain::limits::VISITOR_BODY_BYTES;
use cicerone_domain::ports::TokenSink;
use cicerone_domain::services::{Handling, NewMessage};
use cicerone_domain::{Error, Id, MessageText, Scope, Timestamp, every, kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{SourceView, for_visitor, of_visitor, parse_conversation, sources};
use crate::body::{Body, Current};
use crate::change::Executed;
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::error::RequestError;
use crate::response::{Answer, keep, ok};
use crate::stages::StageTimes;
use crate::stream::stream_reply;
use crate::turn;
use crate::visitors::bounds::InProgress;
use crate::visitors::visit::{Visit, carried_out, reported, token};
use crate::visitors::{Bound, Found};
use events::{KeptReply, VisitorEvent, VisitorTokens};

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(Method::POST, "/w/{token}/messages", handle)
        .named("sendVisitorMessage", "Send a message as a visitor")
        .details(
            "Without `conversation_id`, a new conversation begins. With `stream: true`, the reply is sent as \
             Server-Sent Events, as for `POST /v1/conversations`. `Idempotency-Key` is ignored.",
        )
        .body::<SendAsVisitor>()
        .gives_or_streams::<ReplyView, VisitorEvent>()
        .refuses(409, "The agent takes no new conversations.")
        .refuses(
            429,
            "Too many requests or messages from one address or of one visitor, too many replies in progress, or the widget or \
             its account has reached a quota.",
        )
        .refuses(503, "The model did not reply, or the server is overloaded.")
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"message": "When are you open?"})))]
struct SendAsVisitor {
    /// The visitor's text.
    #[schema(min_length = 1, max_length = 4000, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    message: String,
    /// The conversation to continue. Without it, a new one begins.
    #[schema(pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Option<String>,
    /// Whether the reply is sent as Server-Sent Events; null for false.
    stream: Option<bool>,
}

/// A message of a visitor.
struct Sent {
    text: MessageText,
    conversation: Option<Id<kind::Conversation>>,
    is_streamed: bool,
}

impl Body for SendAsVisitor {
    type Checked = Sent;

    fn check(self, _: &Current<'_>) -> Result<Sent, Error> {
        let (text, conversation) = every((
            MessageText::parse(self.message),
            self.conversation_id.as_deref().map(parse_conversation).transpose(),
        ))?;
        Ok(Sent { text, conversation, is_streamed: self.stream.unwrap_or_default() })
    }
}

async fn handle(app: App, mut incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let sent = incoming.body_within::<SendAsVisitor>(&app, VISITOR_BODY_BYTES).await?;
    visit.count(&app, visitor.visitor.id)?;
    let in_progress = visit.reply(&app)?;
    let times = StageTimes::new(visit.context.authenticated_in.get());
    let message = NewMessage {
        agent_id: visit.widget().agent_id,
        conversation_id: sent.conversation,
        text: sent.text,
        metadata: Metadata::default(),
        channel: Channel::Widget,
        request_id: Some(visit.request_id()),
        handling: Handling::default(),
    };
    let reply = Reply {
        scope: Scope::of_visitor(visitor),
        message,
        found: visit.found(),
        token: token(&incoming.request).to_owned(),
        times,
        in_progress,
    };
    let id = visit.request_id();
    if !sent.is_streamed {
        let work = reply.make(app.clone(), None);
        return Ok(ok(&carried_out(&app, id, async { work.await.map(ReplyView::from) }).await?));
    }
    let (sink, tokens) = TokenSink::channel();
    let work = reply.make(app.clone(), Some(sink));
    let work = async {
        let kept = keep(StatusCode::OK, &KeptReply::from(work.await?), None);
        Ok(Executed { response: kept, is_replay: false })
    };
    let task = app.runtime.spawn(reported(id, work));
    let (heartbeat, ending) = (app.settings.heartbeat, app.ending.clone());
    stream_reply(&incoming.request, id, VisitorTokens, tokens, task, heartbeat, ending).await
}

/// A reply that is about to be generated.
struct Reply {
    scope: Scope,
    message: NewMessage,
    found: Arc<Found>,
    /// The widget's, as the visitor knows it.
    token: String,
    times: StageTimes,
    in_progress: InProgress,
}

/// A reply that was stored.
struct Made {
    turn: Turn,
    shows_sources: bool,
}

impl Reply {
    async fn make(self, app: App, tokens: Option<TokenSink>) -> Result<Made, RequestError> {
        let widget = &self.found.open.widget;
        let for_visitor = |error| for_visitor(error, &self.token);
        let stages = self.times.stages();
        let accepted = app.conversations.accept(&self.scope, self.message, stages).await;
        let accepted = accepted.map_err(for_visitor)?;
        // Only accepted messages are counted, so that refused ones do not use up the daily limit.
        if !app.widgets.count_message(widget).await.map_err(for_visitor)? {
            return Err(Bound::of_day(app.clock.now()).into());
        }
        let turn = turn::answer(&app, accepted, tokens, None).await.map_err(for_visitor)?;
        self.times.record();
        drop(self.in_progress);
        Ok(Made { turn, shows_sources: widget.look.show_sources })
    }
}

/// A complete reply.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorReply)]
struct ReplyView {
    /// A message with this id continues the conversation.
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    conversation_id: Id<kind::Conversation>,
    /// The number of the reply in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    /// The agent's answer.
    reply: String,
    /// The sources that the reply is based on, best first; empty if the widget does not show them.
    sources: Vec<SourceView>,
    /// When the reply was written.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<Made> for ReplyView {
    fn from(made: Made) -> Self {
        let Made { turn, shows_sources } = made;
        Self {
            conversation_id: turn.conversation.id,
            n: turn.number(),
            sources: sources(&turn.reply.sources_used, shows_sources),
            created_at: turn.reply.timestamp,
            reply: turn.reply.content,
        }
    }
}
