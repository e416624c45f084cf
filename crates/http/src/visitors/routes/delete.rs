//! `DELETE /w/{token}/conversations/{conversation_id}`

use actix_web::HttpResponse;
use actix_web::http::Method;
use cicerone_domain::Scope;

use super::get::PATH;
use super::{conversation_id, of_visitor};
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::Answer;
use crate::visitors::visit::{Visit, carried_out};

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(Method::DELETE, PATH, handle)
        .named("deleteVisitorConversation", "Delete a conversation as its visitor")
        .gives_nothing()
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let id = conversation_id(&incoming.request)?;
    let work = {
        let app = app.clone();
        async move { Ok(app.conversations.delete(&Scope::of_visitor(visitor), id, None).await?) }
    };
    carried_out(&app, visit.request_id(), work).await?;
    Ok(HttpResponse::NoContent().finish())
}
