//! `GET /v1/agents`

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::{Agent, AgentStatus, Error, Page, PageRequest, every};

use super::AgentView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::managed;
use crate::openapi::parameters::one_of;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Agents>(Tag::Agents, "/v1/agents")
        .named("listAgents", "List agents")
        .details("Newest first.")
        .query([
            one_of("status", &["active", "paused"], "Return only agents with this status."),
            managed::parameter(),
        ])
}

struct Agents;

impl List for Agents {
    type Permission = AgentsRead;
    type Item = Agent;
    type View<'a> = AgentView<'a>;
    type Filter = AgentFilter;
    const NAME: &'static str = "agents";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        let status = query.one_of("status", AgentStatus::from_name, "active, paused");
        let (status, set) = every((status, managed::filter(query)))?;
        Ok(AgentFilter { status, set })
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<AgentsRead>,
        _: &Incoming,
        filter: AgentFilter,
        page: PageRequest,
    ) -> Result<Page<Agent>, Error> {
        app.agents.list(caller.scope(), filter, page).await
    }
}
