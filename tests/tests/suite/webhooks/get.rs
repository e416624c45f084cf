//! `GET /v1/webhook_endpoints/{endpoint_id}`.

use super::{made, path, without_secret};
use crate::coverage::Covers;
use crate::world::{NO_ENDPOINT, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/webhook_endpoints/{endpoint_id}",
    cases: &[
        ("200", an_endpoint_is_shown_without_its_secret),
        ("404 resource_not_found", an_unknown_endpoint_is_not_found),
    ],
};

#[tokio::test]
async fn an_endpoint_is_shown_without_its_secret() {
    let client = account();
    let endpoint = made(&client).await;
    assert_eq!(client.get(&path(&endpoint)).await.expect(200), without_secret(&endpoint));
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    for id in [NO_ENDPOINT, "whep_1", "agent_0000000000"] {
        let answer = client().get(&format!("/v1/webhook_endpoints/{id}")).await;
        answer.refused(404, "resource_not_found");
    }
}
