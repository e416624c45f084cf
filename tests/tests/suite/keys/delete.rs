//! `DELETE /v1/api_keys/{key_id}`.

use std::time::Duration;

use super::{made, path};
use crate::coverage::Covers;
use crate::world::{NO_KEY, account, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/api_keys/{key_id}",
    cases: &[
        ("204", a_deleted_key_stops_to_work_within_a_second),
        ("400 invalid_operation", a_key_cannot_delete_itself),
        ("404 resource_not_found", an_unknown_key_is_not_found),
    ],
};

#[tokio::test]
async fn a_deleted_key_stops_to_work_within_a_second() {
    let client = account();
    let (key, holder) = made(&client, &["agents:read"]).await;
    holder.get("/v1/agents").await.expect(200);
    client.delete(&path(&key)).await.expect_nothing();
    tokio::time::sleep(Duration::from_secs(1)).await;
    holder.get("/v1/agents").await.refused(401, "unauthorized");
    client.get(&path(&key)).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_key_cannot_delete_itself() {
    let client = account();
    let (key, holder) = made(&client, &["keys:write"]).await;
    holder.delete(&path(&key)).await.refused(400, "invalid_operation");
    client.get(&path(&key)).await.expect(200);
}

#[tokio::test]
async fn an_unknown_key_is_not_found() {
    client().delete(&format!("/v1/api_keys/{NO_KEY}")).await.refused(404, "resource_not_found");
}
