//! `POST /w/{token}/visitors`

use actix_web::http::Method;
use cicerone_domain::widget::Identification;
use cicerone_domain::{Id, kind};
use serde::Serialize;
use utoipa::ToSchema;

use super::of_widget;
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::{Answer, ok};
use crate::visitors::Visitors;
use crate::visitors::visit::Visit;

pub(crate) fn endpoint() -> Endpoint {
    of_widget(Method::POST, "/w/{token}/visitors", handle)
        .named("beginVisitor", "Get the credential of a new visitor")
        .details(
            "The credential is a secret of the visitor's browser, required by all other operations of the widget. It \
             does not expire, and the server stores nothing for it. A body is ignored.",
        )
        .gives::<VisitorView>(200)
        .refuses(401, "The widget requires an identity that its site has signed.")
}

/// A new visitor.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewVisitor)]
struct VisitorView {
    #[schema(value_type = String, pattern = "^vis_[0-9A-Za-z]{10}$")]
    visitor_id: Id<kind::Visitor>,
    /// To be sent as `Authorization: Bearer …`.
    #[schema(pattern = "^vst_[0-9A-Za-z]{10}_[0-9A-Za-z_-]{22}$")]
    credential: String,
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    visit.widget().identity.admits(Identification::Anonymous)?;
    let credentials = &Visitors::of(&app)?.credentials;
    let (visitor_id, credential) = credentials.issue(visit.widget().agent_id, app.entropy.as_ref());
    Ok(ok(&VisitorView { visitor_id, credential }))
}
