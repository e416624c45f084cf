//! `GET /w/{token}/conversations/{conversation_id}`

use actix_web::http::Method;
use cicerone_domain::conversation::{PlacedMessage, Rating};
use cicerone_domain::limits::VISITOR_MESSAGES_BYTES;
use cicerone_domain::{Id, Role, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

use super::{SourceView, conversation_id, of_visitor, sources};
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::{Answer, ok};
use crate::visitors::visit::Visit;

pub(super) const PATH: &str = "/w/{token}/conversations/{conversation_id}";
/// The most bytes that making the answer takes: the messages, their sources, and the text of both.
const MAKING: usize = 4 * VISITOR_MESSAGES_BYTES;

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(Method::GET, PATH, handle)
        .named("showVisitorConversation", "Show a conversation to its visitor")
        .details("Includes the newest messages: at most 100, and at most 256 KiB.")
        .gives::<ConversationView<'_>>(200)
}

/// A conversation, as its visitor sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorConversation)]
struct ConversationView<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
    /// Whether the visitor has asked for a person.
    handoff_requested: bool,
    /// Oldest first.
    #[schema(max_items = 100)]
    messages: Vec<MessageView<'a>>,
}

/// A message, as its visitor sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorMessage)]
struct MessageView<'a> {
    /// The number of the message in the conversation, from 1.
    #[schema(minimum = 1)]
    n: u64,
    #[schema(value_type = String, pattern = "^(user|assistant)$")]
    role: Role,
    content: &'a str,
    /// The sources that the message is based on, best first; empty if the widget does not show them.
    sources: Vec<SourceView>,
    /// Whether the message was rated good; null if it is not rated.
    #[schema(required)]
    rating: Option<RatingView>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// The rating of a message, as the visitor sees it: without the comment, which may be by the owner's staff.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorRating)]
struct RatingView {
    #[schema(pattern = "^(up|down)$")]
    value: &'static str,
}

impl From<&Rating> for RatingView {
    fn from(rating: &Rating) -> Self {
        Self { value: rating.value.name() }
    }
}

impl<'a> MessageView<'a> {
    fn new(placed: &'a PlacedMessage, shows_sources: bool) -> Self {
        let message = &placed.message;
        Self {
            n: placed.number(),
            role: message.role,
            content: &message.content,
            sources: sources(&message.sources_used, shows_sources),
            rating: placed.rating.as_ref().map(RatingView::from),
            created_at: message.timestamp,
        }
    }
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let id = conversation_id(&incoming.request)?;
    visit.context.expect_bytes(&app, MAKING).await?;
    let (conversation, messages) = app.widgets.conversation(&visitor, id).await?;
    let shows_sources = visit.widget().look.show_sources;
    Ok(ok(&ConversationView {
        id,
        handoff_requested: conversation.handoff_requested_at.is_some(),
        messages: messages.iter().map(|placed| MessageView::new(placed, shows_sources)).collect(),
    }))
}
