//! `DELETE /v1/webhook_endpoints/{endpoint_id}`.

use super::{made, path};
use crate::coverage::Covers;
use crate::world::{NO_ENDPOINT, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/webhook_endpoints/{endpoint_id}",
    cases: &[
        ("204", a_deleted_endpoint_is_gone_with_its_deliveries),
        ("404 resource_not_found", an_unknown_endpoint_is_not_found),
    ],
};

#[tokio::test]
async fn a_deleted_endpoint_is_gone_with_its_deliveries() {
    let client = account();
    let endpoint = made(&client).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    client.delete(&path(&endpoint)).await.expect_nothing();
    client.get(&path(&endpoint)).await.refused(404, "resource_not_found");
    let deliveries = format!("{}/deliveries", path(&endpoint));
    client.get(&deliveries).await.refused(404, "resource_not_found");
    client.delete(&path(&endpoint)).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let path = format!("/v1/webhook_endpoints/{NO_ENDPOINT}");
    client().delete(&path).await.refused(404, "resource_not_found");
}
