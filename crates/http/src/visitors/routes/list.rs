//! `GET /w/{token}/conversations`

use actix_web::http::Method;
use cicerone_domain::widget::VisitorConversation;
use cicerone_domain::{Id, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

use super::of_visitor;
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::{Answer, ok};
use crate::visitors::visit::Visit;

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(Method::GET, "/w/{token}/conversations", handle)
        .named("listVisitorConversations", "List the conversations of a visitor")
        .details("The 20 most recently updated conversations, latest first.")
        .gives::<ListView<'_>>(200)
}

/// The most recent conversations of a visitor.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorConversationList)]
struct ListView<'a> {
    #[schema(max_items = 20)]
    data: Vec<ItemView<'a>>,
}

/// A conversation of a visitor.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VisitorConversationItem)]
struct ItemView<'a> {
    #[schema(value_type = String, pattern = "^conv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Conversation>,
    /// The beginning of the first question.
    #[schema(max_length = 80)]
    title: &'a str,
    /// The number of its messages.
    messages: u64,
    /// The time of the last message.
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl<'a> From<&'a VisitorConversation> for ItemView<'a> {
    fn from(listed: &'a VisitorConversation) -> Self {
        Self {
            id: listed.id,
            title: &listed.title,
            messages: listed.messages,
            updated_at: listed.updated_at,
        }
    }
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let found = app.widgets.conversations(&visitor).await?;
    Ok(ok(&ListView { data: found.iter().map(ItemView::from).collect() }))
}
