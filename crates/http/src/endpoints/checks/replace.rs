//! `PUT /v1/agents/{agent_id}/checks`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::limits;

use super::AgentChecksView;
use super::body::{ReplaceChecks, parse};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{BAD_BODY, Endpoint, Tag};
use crate::response::{Answer, keep};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Agents, Method::PUT, "/v1/agents/{agent_id}/checks", handle)
        .named("replaceChecks", "Replace an agent's checks")
        .details(
            "Checks are questions whose replies you know. They are asked on request and after each training of a \
             source, and they count toward the quotas. Sending the same checks again changes nothing, so the \
             request can be repeated and takes no idempotency key.",
        )
        .object_body::<ReplaceChecks>()
        .gives::<AgentChecksView<'_>>(200)
        .refuses(400, BAD_BODY)
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let checks = parse(&incoming.json_text(&app, limits::CHECKS_BODY_BYTES).await?)?;
    let id = incoming.path_id();
    Change::new(&app, &caller, None)
        .answer(
            |checks| keep(StatusCode::OK, &AgentChecksView::from(checks), None),
            move |app, caller, _| async move {
                app.checks.replace(&caller.scope, id?, checks).await
            },
        )
        .await
}
