//! `POST /v1/widgets/{widget_id}/rotate_token`

use actix_web::http::Method;
use cicerone_domain::Error;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::widget::TokenKept;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{WidgetView, kept};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{BAD_BODY, Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/widgets/{widget_id}/rotate_token";
    Endpoint::new(Tag::Widgets, Method::POST, path, handle)
        .named("rotateWidgetToken", "Replace the token")
        .details("A token that was replaced earlier stops working, even if it was to be kept for longer.")
        .optional_body::<RotateToken>()
        .keyed()
        .gives::<WidgetView<'_>>(200)
        .refuses(400, BAD_BODY)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"keep_seconds": 3600})))]
struct RotateToken {
    /// How long the old token works; null for 0.
    #[schema(minimum = 0, maximum = 604_800)]
    keep_seconds: Option<i64>,
}

impl Body for RotateToken {
    type Checked = TokenKept;

    fn check(self, _: &Current<'_>) -> Result<TokenKept, Error> {
        Ok(TokenKept::parse(self.keep_seconds)?)
    }
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (kept_for, key) = incoming.keyed_optional_body::<RotateToken>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .audited(AuditAction::WidgetTokenRotated, None)
        .answer(kept, move |app, caller, completion| async move {
            app.widgets.rotate_token(&caller.scope, id?, kept_for, completion).await
        })
        .await
}
