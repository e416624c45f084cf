//! `POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret`.

use super::{made, path, without_secret};
use crate::coverage::Covers;
use crate::world::{NO_ENDPOINT, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret",
    cases: &[
        ("200", a_new_secret_is_shown),
        ("404 resource_not_found", an_unknown_endpoint_is_not_found),
        ("409 conflict", ten_secrets_at_once_are_the_most),
    ],
};

#[tokio::test]
async fn a_new_secret_is_shown() {
    let client = account();
    let endpoint = made(&client).await;
    let rotated = client.post_nothing(&format!("{}/rotate_secret", path(&endpoint))).await;
    let rotated = rotated.expect(200);
    assert_ne!(rotated["secret"], endpoint["secret"]);
    assert!(rotated["secret"].as_str().unwrap().starts_with("whsec_"));
    let shown = client.get(&path(&endpoint)).await.expect(200);
    assert_eq!(without_secret(&rotated), shown);
    assert_eq!(shown["created_at"], endpoint["created_at"]);
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let path = format!("/v1/webhook_endpoints/{NO_ENDPOINT}/rotate_secret");
    client().post_nothing(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn ten_secrets_at_once_are_the_most() {
    let client = account();
    let endpoint = made(&client).await;
    let rotate = format!("{}/rotate_secret", path(&endpoint));
    for _ in 0..9 {
        client.post_nothing(&rotate).await.expect(200);
    }
    client.post_nothing(&rotate).await.refused(409, "conflict");
}
