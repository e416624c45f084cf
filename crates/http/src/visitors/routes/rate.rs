//! `PUT /w/{token}/conversations/{conversation_id}/messages/{n}/rating`

use actix_web::http::Method;
use cicerone_domain::Scope;
use cicerone_domain::limits::VISITOR_BODY_BYTES;

use super::{TOO_MANY_WRITES, conversation_id, of_visitor};
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::endpoints::{RateBody, RatingView, message_number};
use crate::response::{Answer, ok};
use crate::visitors::visit::Visit;

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(
        Method::PUT,
        "/w/{token}/conversations/{conversation_id}/messages/{n}/rating",
        handle,
    )
    .named("rateMessageAsVisitor", "Rate a reply as its visitor")
    .details("Replaces an earlier rating.")
    .body::<RateBody>()
    .gives::<RatingView<'_>>(200)
    .refuses(400, "A field is missing or has a bad value, or the message is the visitor's.")
    .refuses(429, TOO_MANY_WRITES)
}

async fn handle(app: App, mut incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let rating = incoming.body_within::<RateBody>(&app, VISITOR_BODY_BYTES).await?;
    visit.count_feedback(&app, visitor.visitor.id)?;
    let id = conversation_id(&incoming.request)?;
    let number = message_number(&incoming.request)?;
    let work = {
        let app = app.clone();
        let scope = Scope::of_visitor(visitor);
        async move { app.conversations.rate(&scope, id, number, rating).await }
    };
    let rating = visit.feed_back(&app, work).await?;
    Ok(ok(&RatingView::from(&rating)))
}
