//! `POST /v1/widgets/{widget_id}/rotate_secret`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::Error;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::widget::SecretKept;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{IssuedWidgetView, kept_with_secret};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/widgets/{widget_id}/rotate_secret";
    Endpoint::new(Tag::Widgets, Method::POST, path, handle)
        .named("rotateWidgetSecret", "Replace the identity secret")
        .details(
            "The response contains the new `identity_secret`. For `keep_seconds`, identities signed with the previous \
             secret are also accepted. Secrets that were replaced earlier expire no later than that: 0 ends all of \
             them.",
        )
        .optional_body::<RotateSecret>()
        .keyed()
        .gives::<IssuedWidgetView<'_>>(200)
        .refuses(
            409,
            "The widget already has ten valid secrets, or the same request is still being carried out.",
        )
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"keep_seconds": 0})))]
struct RotateSecret {
    /// How long replaced secrets are accepted; null for 24 hours.
    #[schema(minimum = 0, maximum = 86_400)]
    keep_seconds: Option<i64>,
}

impl Body for RotateSecret {
    type Checked = SecretKept;

    fn check(self, _: &Current<'_>) -> Result<SecretKept, Error> {
        Ok(SecretKept::parse(self.keep_seconds)?)
    }
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (kept_for, key) = incoming.keyed_optional_body::<RotateSecret>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .audited(AuditAction::WidgetSecretRotated, None)
        .answer(
            |issued| kept_with_secret(StatusCode::OK, issued),
            move |app, caller, completion| async move {
                app.widgets.rotate_secret(&caller.scope, id?, kept_for, completion).await
            },
        )
        .await
}
