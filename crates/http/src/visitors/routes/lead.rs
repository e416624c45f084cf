//! `PUT /w/{token}/conversations/{conversation_id}/lead`

use actix_web::HttpResponse;
use actix_web::http::Method;
use cicerone_domain::Error;
use cicerone_domain::limits::VISITOR_BODY_BYTES;
use cicerone_domain::text::is_blank;
use cicerone_domain::widget::Lead;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TOO_MANY_WRITES, conversation_id, of_visitor};
use crate::body::{Body, Current};
use crate::context::{App, Incoming};
use crate::endpoint::Endpoint;
use crate::response::Answer;
use crate::visitors::visit::Visit;

pub(crate) fn endpoint() -> Endpoint {
    of_visitor(Method::PUT, "/w/{token}/conversations/{conversation_id}/lead", handle)
        .named("leaveLead", "Leave contact details")
        .details("Replaces contact details that were left earlier.")
        .body::<LeaveLead>()
        .gives_nothing()
        .refuses(409, "The widget has no `lead`.")
        .refuses(429, TOO_MANY_WRITES)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"email": "zoe@museum.example", "message": "Please send me the prices."})))]
struct LeaveLead {
    #[schema(format = "email", max_length = 254, pattern = "^[^@\\s\\u0000]+@[^@\\s\\u0000]+$")]
    email: String,
    #[schema(max_length = 100, pattern = "^[^\\u0000]*$")]
    name: Option<String>,
    #[schema(max_length = 40, pattern = "^[^\\u0000]*$")]
    phone: Option<String>,
    #[schema(max_length = 1000, pattern = "^[^\\u0000]*$")]
    message: Option<String>,
}

impl Body for LeaveLead {
    type Checked = Lead;

    fn check(self, _: &Current<'_>) -> Result<Lead, Error> {
        // An empty field counts as not filled in.
        let [name, phone, message] =
            [self.name, self.phone, self.message].map(|text| text.filter(|text| !is_blank(text)));
        Lead::parse(self.email, name, phone, message)
    }
}

async fn handle(app: App, mut incoming: Incoming) -> Answer {
    let visit = Visit::of(&app, &incoming.request).await?;
    let visitor = visit.visitor(&app, &incoming.request)?;
    let lead = incoming.body_within::<LeaveLead>(&app, VISITOR_BODY_BYTES).await?;
    visit.count_feedback(&app, visitor.visitor.id)?;
    let id = conversation_id(&incoming.request)?;
    let work = {
        let (app, found) = (app.clone(), visit.found());
        async move { app.widgets.put_lead(&found.open.widget, &visitor, id, lead).await }
    };
    visit.feed_back(&app, work).await?;
    Ok(HttpResponse::NoContent().finish())
}
