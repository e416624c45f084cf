//! `GET /v1/agents/{agent_id}/checks`

use actix_web::http::Method;

use super::AgentChecksView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::GET, "/v1/agents/{agent_id}/checks", handle)
        .named("getChecks", "Get an agent's checks")
        .gives::<AgentChecksView<'_>>(200)
}

async fn handle(caller: Authorized<AgentsRead>, app: App, incoming: Incoming) -> Answer {
    caller.context().expect_answer(&app).await?;
    let checks = app.checks.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&AgentChecksView::from(&checks)))
}
