//! `PUT /v1/conversations/{conversation_id}/messages/{n}/rating`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::Error;
use cicerone_domain::conversation::{NewRating, RatingValue};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use super::{RatingView, number};
use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::openapi::schema::name_of;
use crate::response::{Answer, keep};

pub(super) const PATH: &str = "/v1/conversations/{conversation_id}/messages/{n}/rating";

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Conversations, Method::PUT, PATH, handle)
        .named("rateMessage", "Rate a reply")
        .details(
            "Replaces an earlier rating. Sending the same rating again changes nothing, so the request can be \
             repeated and takes no idempotency key.",
        )
        .body::<Rate>()
        .gives::<RatingView<'_>>(200)
        .refuses(400, "A field is missing or has a bad value, or the message is the user's.")
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"value": "down", "comment": "The price is old."})))]
pub(crate) struct Rate {
    #[schema(schema_with = value)]
    value: String,
    /// A comment of the user; null or blank for none.
    #[schema(max_length = 1000, pattern = "^[^\\u0000]*$")]
    comment: Option<String>,
}

fn value() -> Object {
    name_of(RatingValue::ALL.map(RatingValue::name), "Whether the reply was good.")
}

impl Body for Rate {
    type Checked = NewRating;

    fn check(self, _: &Current<'_>) -> Result<NewRating, Error> {
        NewRating::parse(&self.value, self.comment)
    }
}

async fn handle(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let rating = incoming.body::<Rate>(&app).await?;
    let (id, number) = (incoming.path_id(), number(&incoming));
    Change::new(&app, &caller, None)
        .answer(
            |rating| keep(StatusCode::OK, &RatingView::from(rating), None),
            |app, caller, _| async move {
                app.conversations.rate(&caller.scope, id?, number?, rating).await
            },
        )
        .await
}
