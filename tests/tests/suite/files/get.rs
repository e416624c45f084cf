//! `GET /v1/files/{file_id}`.

use crate::coverage::Covers;
use crate::world::{NO_FILE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/files/{file_id}",
    cases: &[
        ("200", a_file_is_found_by_its_id),
        ("404 resource_not_found", an_unknown_file_is_not_found),
    ],
};

#[tokio::test]
async fn a_file_is_found_by_its_id() {
    let file = client().upload("hours.txt", "The museum opens at nine.").await.expect(201);
    let path = format!("/v1/files/{}", file["id"].as_str().unwrap());
    assert_eq!(client().get(&path).await.expect(200), file);
}

#[tokio::test]
async fn an_unknown_file_is_not_found() {
    client().get(&format!("/v1/files/{NO_FILE}")).await.refused(404, "resource_not_found");
    client().get("/v1/files/hours.txt").await.refused(404, "resource_not_found");
}
