//! `PATCH /v1/agents/{agent_id}/gaps/{gap_id}`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::gap::{GapChange, GapState};
use cicerone_domain::idempotency::Subject;
use cicerone_domain::{Error, Id, kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::openapi::schema::name_of;
use crate::response::{Answer, keep};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::PATCH, "/v1/agents/{agent_id}/gaps/{gap_id}", handle)
        .named("updateGap", "Dismiss or reopen a gap")
        .details(
            "A dismissed gap stays dismissed when similar questions are asked. A gap that is opened again stays open \
             until the content of the agent changes.",
        )
        .body::<UpdateGap>()
        .keyed()
        .gives::<GapStateView>(200)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"status": "dismissed"})))]
struct UpdateGap {
    #[schema(schema_with = status)]
    status: String,
}

fn status() -> Object {
    name_of(GapChange::NAMES, "The new status.")
}

impl Body for UpdateGap {
    type Checked = GapChange;

    fn check(self, _: &Current<'_>) -> Result<GapChange, Error> {
        Ok(GapChange::parse(&self.status)?)
    }
}

/// A gap without its questions, which the API key may not be allowed to read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GapState)]
struct GapStateView {
    #[schema(value_type = String, pattern = "^gap_[0-9A-Za-z]{10}$")]
    id: Id<kind::Gap>,
    #[schema(pattern = "^(open|answered|dismissed)$")]
    status: &'static str,
    /// The source that received the pair that answers it; null if there is none or it has been deleted.
    #[schema(required, value_type = Option<String>, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Option<Id<kind::Source>>,
}

impl From<&GapState> for GapStateView {
    fn from(gap: &GapState) -> Self {
        Self { id: gap.id, status: gap.status.name(), source_id: gap.source_id }
    }
}

async fn handle(
    caller: Authorized<ConversationsWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let (change, key) = incoming.keyed_body::<UpdateGap>(&app).await?;
    let (agent, gap) = (incoming.path_id(), incoming.second_path_id());
    Change::new(&app, &caller, key)
        .answer(
            |gap: &GapState| {
                let subject = Subject::of_agent(gap.id, gap.agent_id);
                keep(StatusCode::OK, &GapStateView::from(gap), Some(subject))
            },
            move |app, caller, completion| async move {
                app.gaps.change(&caller.scope, agent?, gap?, change, completion).await
            },
        )
        .await
}
