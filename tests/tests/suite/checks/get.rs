//! `GET /v1/agents/{agent_id}/checks`.

use serde_json::json;

use super::path;
use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/checks",
    cases: &[
        ("200", an_agent_has_no_checks_at_first),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn an_agent_has_no_checks_at_first() {
    let client = client();
    let agent = client.agent().await;
    let checks = client.get(&path(&agent)).await.expect(200);
    assert_eq!(checks, json!({ "checks": [], "last_run": null }));
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    client().get(&path(NO_AGENT)).await.refused(404, "resource_not_found");
}
