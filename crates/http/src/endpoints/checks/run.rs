//! `POST /v1/agents/{agent_id}/checks/run`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::check::CheckRun;
use cicerone_domain::idempotency::Subject;

use super::CheckRunView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, keep};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::POST, "/v1/agents/{agent_id}/checks/run", handle)
        .named("runChecks", "Run an agent's checks")
        .details("The checks are asked in the background; the run shows the results so far.")
        .keyed()
        .gives::<CheckRunView<'_>>(202)
        .refuses(
            409,
            "Another run is in progress, the agent has no checks, or the same request is still being carried out.",
        )
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let id = incoming.path_id();
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .answer(
            |run: &CheckRun| {
                let subject = Subject::of_agent(run.id, run.agent_id);
                keep(StatusCode::ACCEPTED, &CheckRunView::from(run), Some(subject))
            },
            move |app, caller, completion| async move {
                app.checks.run(&caller.scope, id?, completion).await
            },
        )
        .await
}
