//! `DELETE /v1/sources/{source_id}`.

use cicerone_tests::scenario::id;
use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_SOURCE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/sources/{source_id}",
    cases: &[
        ("204", a_deleted_source_is_gone_and_answers_no_more),
        ("404 resource_not_found", an_unknown_source_is_not_found),
    ],
};

#[tokio::test]
async fn a_deleted_source_is_gone_and_answers_no_more() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine o'clock.").await;
    let kept = client.text(&agent, "The garden closes at seven o'clock.").await;
    let path = format!("/v1/sources/{source}");
    client.delete(&path).await.expect_nothing();
    client.get(&path).await.refused(404, "resource_not_found");
    client.get(&format!("{path}/documents")).await.refused(404, "resource_not_found");
    client.get(&format!("{path}/passages")).await.refused(404, "resource_not_found");
    let page = client.get(&format!("/v1/agents/{agent}/sources")).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    let reply = client.ask(&agent, "When does the museum open?").await;
    assert!(!reply["reply"].as_str().unwrap().contains("nine"), "{reply}");
    let reply = client.ask(&agent, "When does the garden close?").await;
    assert_eq!(reply["sources_used"][0]["id"], kept.as_str());
    let search = json!({ "query": "museum nine", "limit": 50 });
    let found = client.post(&format!("/v1/agents/{agent}/search"), search).await.expect(200);
    let hits = found["data"].as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["source_id"] == kept.as_str()), "{found}");
}

#[tokio::test]
async fn deleting_a_source_removes_its_file_once_no_other_uses_it() {
    let client = client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let one = client.source(&agent, "file", &file).await;
    let other = client.source(&agent, "file", &file).await;
    client.trained(&one).await;
    client.trained(&other).await;
    let path = format!("/v1/files/{file}");
    client.delete(&format!("/v1/sources/{one}")).await.expect_nothing();
    client.get(&path).await.expect(200);
    client.delete(&format!("/v1/sources/{other}")).await.expect_nothing();
    client.get(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_source_that_is_being_processed_can_be_deleted() {
    let client = client();
    let agent = client.agent().await;
    let text = "The museum opens at nine. ".repeat(3_000);
    let source = client.source(&agent, "text", &text).await;
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    // When a later source is trained, the worker has finished with this one; nothing of it is
    // visible.
    client.text(&agent, "The garden closes at seven.").await;
    client.get(&format!("/v1/sources/{source}")).await.refused(404, "resource_not_found");
    let search = json!({ "query": "museum", "limit": 50 });
    let found = client.post(&format!("/v1/agents/{agent}/search"), search).await.expect(200);
    assert_eq!(found["data"], json!([]));
}

#[tokio::test]
async fn a_second_deletion_is_not_found() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/sources/{}", client.text(&agent, "The museum.").await);
    client.delete(&path).await.expect_nothing();
    client.delete(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    client().delete(&format!("/v1/sources/{NO_SOURCE}")).await.refused(404, "resource_not_found");
}
