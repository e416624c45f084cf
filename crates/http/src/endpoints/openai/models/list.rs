//! `GET /v1/models`

use actix_web::http::Method;
use cicerone_domain::agent::AgentFilter;
use cicerone_domain::{AgentStatus, Error, PageRequest, Scope, limits};
use serde::Serialize;
use utoipa::ToSchema;

use super::ModelView;
use crate::auth::Authorized;
use crate::auth::permission::ConversationsWrite;
use crate::context::{App, Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::OpenAi, Method::GET, "/v1/models", handle)
        .named("listModels", "List agents as models")
        .details(
            "The active agents that the API key has access to, newest first, at most 1000. OpenAI's API has no \
             pages for this list.",
        )
        .gives::<ModelList>(200)
}

/// All models.
#[derive(Debug, Serialize, ToSchema)]
struct ModelList {
    #[schema(pattern = "^list$")]
    object: &'static str,
    data: Vec<ModelView>,
}

async fn handle(caller: Authorized<ConversationsWrite>, app: App, _: Incoming) -> Answer {
    caller.context().expect_answer(&app).await?;
    let data = models(&app, caller.scope()).await?;
    Ok(ok(&ModelList { object: "list", data }))
}

/// Reads the agents page by page: each may have a prompt of 16 KB, which the list does not show.
async fn models(app: &Shared, scope: &Scope) -> Result<Vec<ModelView>, Error> {
    let (_, size) = limits::PAGE_SIZE_RANGE;
    let filter = AgentFilter { status: Some(AgentStatus::Active), set: None };
    let mut models = Vec::new();
    let mut after = None;
    while models.len() < limits::LISTED_MODELS {
        let page = PageRequest { size, after };
        let page = app.agents.list(scope, filter.clone(), page).await?;
        models.extend(page.items.iter().map(ModelView::from));
        after = match page.next {
            Some(next) => Some(next),
            None => break,
        };
    }
    models.truncate(limits::LISTED_MODELS);
    Ok(models)
}
