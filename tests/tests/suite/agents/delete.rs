//! `DELETE /v1/agents/{agent_id}`.

use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/agents/{agent_id}",
    cases: &[
        ("204", a_deleted_agent_is_gone_with_all_that_it_had),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn a_deleted_agent_is_gone_with_all_that_it_had() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    let reply = client.ask(&agent, "When does the museum open?").await;
    let conversation = reply["id"].as_str().unwrap().to_owned();

    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();

    let gone = [
        format!("/v1/agents/{agent}"),
        format!("/v1/agents/{agent}/sources"),
        format!("/v1/agents/{agent}/conversations"),
        format!("/v1/sources/{source}"),
        format!("/v1/sources/{source}/documents"),
        format!("/v1/sources/{source}/passages"),
        format!("/v1/conversations/{conversation}"),
    ];
    for path in gone {
        client.get(&path).await.refused(404, "resource_not_found");
    }
    let body = json!({ "agent_id": agent, "message": "When does the museum open?" });
    client.post("/v1/conversations", body).await.refused(404, "resource_not_found");
    let body = json!({ "query": "museum" });
    let search = client.post(&format!("/v1/agents/{agent}/search"), body).await;
    search.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_deleted_agent_is_in_no_list() {
    let client = client();
    let agent = client.agent().await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    let page = client.get("/v1/agents?page_size=100").await.expect(200);
    assert!(page["data"].as_array().unwrap().iter().all(|item| item["id"] != agent.as_str()));
}

#[tokio::test]
async fn a_deleted_agent_takes_its_files_with_it() {
    let client = client();
    let agent = client.agent().await;
    let file = client.upload("a.txt", "The museum opens at nine.").await.expect(201);
    let file = file["id"].as_str().unwrap();
    let source = client.source(&agent, "file", file).await;
    client.trained(&source).await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    client.get(&format!("/v1/files/{file}")).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_second_deletion_is_not_found() {
    let client = client();
    let path = format!("/v1/agents/{}", client.agent().await);
    client.delete(&path).await.expect_nothing();
    client.delete(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_paused_agent_can_be_deleted() {
    let client = client();
    let path = format!("/v1/agents/{}", client.agent().await);
    client.patch(&path, json!({ "status": "paused" })).await.expect(200);
    client.delete(&path).await.expect_nothing();
}

#[tokio::test]
async fn an_agent_whose_source_is_being_processed_can_be_deleted() {
    let client = client();
    let agent = client.agent().await;
    let text = "The museum opens at nine. ".repeat(3_000);
    let source = client.source(&agent, "text", &text).await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    client.get(&format!("/v1/sources/{source}")).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    client().delete(&format!("/v1/agents/{NO_AGENT}")).await.refused(404, "resource_not_found");
}
