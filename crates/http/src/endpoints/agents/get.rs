//! `GET /v1/agents/{agent_id}`

use actix_web::http::Method;

use super::AgentView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::GET, "/v1/agents/{agent_id}", handle)
        .named("getAgent", "Retrieve an agent")
        .gives::<AgentView<'_>>(200)
}

async fn handle(caller: Authorized<AgentsRead>, app: App, incoming: Incoming) -> Answer {
    let agent = app.agents.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&AgentView::from(&agent)))
}
