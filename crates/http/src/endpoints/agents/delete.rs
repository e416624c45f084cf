//! `DELETE /v1/agents/{agent_id}`

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use crate::auth::Caller;
use crate::auth::permission::AgentsWrite;
use crate::context::App;
use crate::deletion::Deletion;
use crate::endpoint::{Endpoint, Tag};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::deletion::<DeleteAgent>(Tag::Agents, "/v1/agents/{agent_id}")
        .named("deleteAgent", "Delete an agent")
        .details("Permanently deletes the agent, its sources and its conversations.")
}

struct DeleteAgent;

impl Deletion for DeleteAgent {
    type Permission = AgentsWrite;
    type Kind = kind::Agent;
    const ACTION: AuditAction = AuditAction::AgentDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::Agent>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.agents.delete(&caller.scope, id, completion).await
    }
}
