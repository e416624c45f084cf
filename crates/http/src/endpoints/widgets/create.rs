//! `POST /v1/agents/{agent_id}/widgets`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::services::NewWidget;
use cicerone_domain::widget::{WidgetName, WidgetPatch};
use cicerone_domain::{Error, every};

use super::{IssuedWidgetView, kept_with_secret, widget_body};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{BAD_BODY, Endpoint, Tag};
use crate::managed::TAKEN;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Widgets, Method::POST, "/v1/agents/{agent_id}/widgets", handle)
        .named("createWidget", "Create a widget")
        .details(
            "The response contains the `identity_secret` with which the owner's site signs the identities of its users.",
        )
        .body::<CreateWidget>()
        .keyed()
        .gives::<IssuedWidgetView<'_>>(201)
        .refuses(400, BAD_BODY)
        .refuses(409, TAKEN)
        .refuses(422, "The agent has 20 widgets, or the widget would take more than 32 KiB.")
}

widget_body! {
    #[schema(examples(json!({"name": "Shop", "origins": ["https://shop.example"]})))]
    struct CreateWidget {
        name: String
    }
}

impl Body for CreateWidget {
    type Checked = (WidgetName, WidgetPatch);

    fn check(self, _: &Current<'_>) -> Result<Self::Checked, Error> {
        every((WidgetName::parse(self.name.as_str()), self.settings()))
    }
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let ((name, patch), key) = incoming.keyed_body::<CreateWidget>(&app).await?;
    let agent = incoming.path_id();
    Change::new(&app, &caller, key)
        .audited(AuditAction::WidgetCreated, None)
        .answer(
            |issued| kept_with_secret(StatusCode::CREATED, issued),
            move |app, caller, completion| async move {
                let new = NewWidget { agent_id: agent?, name, patch };
                app.widgets.create(&caller.scope, new, completion).await
            },
        )
        .await
}
