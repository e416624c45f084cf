//! `DELETE /v1/files/{file_id}`.

use cicerone_tests::scenario::id;

use crate::coverage::Covers;
use crate::world::{NO_FILE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/files/{file_id}",
    cases: &[
        ("204", a_deleted_file_is_gone),
        ("404 resource_not_found", an_unknown_file_is_not_found),
        ("409 conflict", a_file_that_a_source_uses_cannot_be_deleted),
    ],
};

#[tokio::test]
async fn a_deleted_file_is_gone() {
    let file = id(&client().upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let path = format!("/v1/files/{file}");
    client().delete(&path).await.expect_nothing();
    client().get(&path).await.refused(404, "resource_not_found");
    client().delete(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_file_that_a_source_uses_cannot_be_deleted() {
    let client = client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    let path = format!("/v1/files/{file}");
    client.delete(&path).await.refused(409, "conflict");
    client.trained(&source).await;
    client.delete(&path).await.refused(409, "conflict");
    client.get(&path).await.expect(200);
}

#[tokio::test]
async fn an_unknown_file_is_not_found() {
    client().delete(&format!("/v1/files/{NO_FILE}")).await.refused(404, "resource_not_found");
}
