//! `PUT /w/{token}/conversations/{conversation_id}/handoff`

use actix_web::HttpResponse;
use actix_web::http::Method;
use cicerone_domain::Error;
use cicerone_domain::limits::VISITOR_BODY_BYTES;
use cicerone_domain::text::is_blank;
use cicerone_domain::widget::HandoffMessage;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TOO_MANY_WRITES, conversation_id, of_visitor};
use crate::body::{Body, Current};
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::Answer;
use crate::visitors::visit::Visit;

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(Method::PUT, "/w/{token}/conversations/{conversation_id}/handoff", handle)
        .named("requestHandoff", "Ask for a person")
        .details("Has no effect if the visitor has already asked.")
        .body::<RequestHandoff>()
        .gives_nothing()
        .refuses(409, "The widget has no `handoff`.")
        .refuses(429, TOO_MANY_WRITES)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"message": "Please call me back."})))]
struct RequestHandoff {
    /// A message from the visitor; null or blank for none.
    #[schema(max_length = 1000, pattern = "^[^\\u0000]*$")]
    message: Option<String>,
}

impl Body for RequestHandoff {
    type Checked = Option<HandoffMessage>;

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        let given = self.message.filter(|text| !is_blank(text));
        Ok(given.map(HandoffMessage::parse).transpose()?)
    }
}

async fn handle(app: App, mut incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let message = incoming.body_within::<RequestHandoff>(&app, VISITOR_BODY_BYTES).await?;
    visit.count_feedback(&app, visitor.visitor.id)?;
    let id = conversation_id(&incoming.request)?;
    let work = {
        let (app, found) = (app.clone(), visit.found());
        async move { app.widgets.request_handoff(&found.open.widget, &visitor, id, message).await }
    };
    visit.feed_back(&app, work).await?;
    Ok(HttpResponse::NoContent().finish())
}
