//! `PATCH /v1/widgets/{widget_id}`

use actix_web::http::Method;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::widget::{WidgetName, WidgetPatch};
use cicerone_domain::{Error, every};

use super::{TOO_MUCH, WidgetView, kept, widget_body};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::body::{Body, Current, not_null};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{BAD_BODY, Endpoint, Tag};
use crate::managed::TAKEN;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Widgets, Method::PATCH, "/v1/widgets/{widget_id}", handle)
        .named("updateWidget", "Update a widget")
        .details("Changes only the fields that are given. The same applies to the fields within `appearance` and \
            `limits`.")
        .body::<UpdateWidget>()
        .keyed()
        .gives::<WidgetView<'_>>(200)
        .refuses(400, BAD_BODY)
        .refuses(409, TAKEN)
        .refuses(422, TOO_MUCH)
}

widget_body! {
    #[schema(examples(json!({"is_active": false})))]
    struct UpdateWidget {
        #[serde(default, deserialize_with = "not_null")]
        #[schema(nullable = false)]
        name: Option<String>
    }
}

impl Body for UpdateWidget {
    type Checked = WidgetPatch;

    fn check(self, _: &Current<'_>) -> Result<WidgetPatch, Error> {
        let name = self.name.as_deref().map(WidgetName::parse).transpose();
        let (name, settings) = every((name, self.settings()))?;
        Ok(settings.named(name))
    }
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (patch, key) = incoming.keyed_body::<UpdateWidget>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .audited(AuditAction::WidgetUpdated, None)
        .answer(kept, move |app, caller, completion| async move {
            app.widgets.update(&caller.scope, id?, patch, completion).await
        })
        .await
}
