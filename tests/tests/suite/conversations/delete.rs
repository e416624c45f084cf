//! `DELETE /v1/conversations/{conversation_id}`.

use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_CONVERSATION, client};

pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/conversations/{conversation_id}",
    cases: &[
        ("204", a_deleted_conversation_is_gone),
        ("404 resource_not_found", an_unknown_conversation_is_not_found),
    ],
};

#[tokio::test]
async fn a_deleted_conversation_is_gone() {
    let client = client();
    let agent = client.agent().await;
    let conversation = client.ask(&agent, "Hello there").await["id"].clone();
    let path = format!("/v1/conversations/{}", conversation.as_str().unwrap());
    client.delete(&path).await.expect_nothing();
    client.get(&path).await.refused(404, "resource_not_found");
    client.delete(&path).await.refused(404, "resource_not_found");
    let page = client.get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    assert_eq!(page["data"], json!([]));
    let body = json!({ "agent_id": agent, "conversation_id": conversation, "message": "Hello" });
    client.post("/v1/conversations", body).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn the_other_conversations_of_the_agent_stay() {
    let client = client();
    let agent = client.agent().await;
    let kept = client.ask(&agent, "Hello there").await["id"].clone();
    let gone = client.ask(&agent, "Hello there").await["id"].clone();
    let path = format!("/v1/conversations/{}", gone.as_str().unwrap());
    client.delete(&path).await.expect_nothing();
    let path = format!("/v1/conversations/{}", kept.as_str().unwrap());
    client.get(&path).await.expect(200);
}

#[tokio::test]
async fn an_unknown_conversation_is_not_found() {
    let path = format!("/v1/conversations/{NO_CONVERSATION}");
    client().delete(&path).await.refused(404, "resource_not_found");
}
