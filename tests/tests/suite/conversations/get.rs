//! `GET /v1/conversations/{conversation_id}`.

use cicerone_tests::answer::is_timestamp;
use cicerone_tests::scenario::cited;
use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_CONVERSATION, client, past};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/conversations/{conversation_id}",
    cases: &[
        ("200", a_conversation_shows_its_messages_in_order),
        ("404 resource_not_found", an_unknown_conversation_is_not_found),
    ],
};

#[tokio::test]
async fn a_conversation_shows_its_messages_in_order() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "Hours\n\nThe museum opens at nine o'clock.").await;
    let body = json!({
        "agent_id": agent, "message": "When does the museum open?", "metadata": { "user": "7" },
    });
    let sent = client.post("/v1/conversations", body).await.expect(200);
    let id = sent["id"].as_str().unwrap();
    let whole = client.get(&format!("/v1/conversations/{id}")).await.expect(200);
    assert_eq!(whole["id"], id);
    assert_eq!(whole["agent_id"], agent.as_str());
    assert_eq!(whole["metadata"], json!({ "user": "7" }));
    assert_eq!(whole["created_at"], sent["created_at"]);
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["role"], "user");
    assert_eq!(messages[0]["content"], "When does the museum open?");
    assert_eq!(messages[0].get("sources_used"), None, "only on assistant messages");
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(messages[1]["content"], sent["reply"]);
    assert_eq!(cited(&messages[1]), json!([{ "id": source, "title": "Hours" }]));
    for message in messages {
        assert!(is_timestamp(message["timestamp"].as_str().unwrap()), "{message}");
        assert_eq!(message.get("id"), None);
    }
    assert!(messages[0]["timestamp"].as_str() <= messages[1]["timestamp"].as_str());
    assert_eq!(whole["updated_at"], messages[1]["timestamp"]);
}

#[tokio::test]
async fn a_reply_without_sources_has_an_empty_list() {
    let client = client();
    let agent = client.agent().await;
    let sent = client.ask(&agent, "When does the museum open?").await;
    let path = format!("/v1/conversations/{}", sent["id"].as_str().unwrap());
    assert_eq!(client.get(&path).await.expect(200)["messages"][1]["sources_used"], json!([]));
}

#[tokio::test]
async fn updated_at_advances_with_each_message_and_created_at_stays() {
    let client = client();
    let agent = client.agent().await;
    let sent = client.ask(&agent, "Hello there").await;
    let path = format!("/v1/conversations/{}", sent["id"].as_str().unwrap());
    let before = client.get(&path).await.expect(200);
    past(&before["updated_at"]).await;
    let body = json!({ "agent_id": agent, "conversation_id": sent["id"], "message": "Hello" });
    let again = client.post("/v1/conversations", body).await.expect(200);
    let after = client.get(&path).await.expect(200);
    assert!(after["updated_at"].as_str() > before["updated_at"].as_str());
    assert_eq!(after["created_at"], before["created_at"]);
    assert_eq!(again["created_at"], before["created_at"], "the conversation's");
}

#[tokio::test]
async fn a_citation_keeps_its_title_after_its_source_was_deleted() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "Hours\n\nThe museum opens at nine o'clock.").await;
    let sent = client.ask(&agent, "When does the museum open?").await;
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    let path = format!("/v1/conversations/{}", sent["id"].as_str().unwrap());
    let whole = client.get(&path).await.expect(200);
    assert_eq!(cited(&whole["messages"][1]), json!([{ "id": source, "title": "Hours" }]));
}

#[tokio::test]
async fn an_unknown_conversation_is_not_found() {
    let path = format!("/v1/conversations/{NO_CONVERSATION}");
    client().get(&path).await.refused(404, "resource_not_found");
    client().get("/v1/conversations/7").await.refused(404, "resource_not_found");
}
