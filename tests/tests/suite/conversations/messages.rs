//! `GET /v1/conversations/{conversation_id}/messages`.

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_CONVERSATION, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/conversations/{conversation_id}/messages",
    cases: &[
        ("200", messages_are_listed_newest_first),
        ("400 invalid_parameter", a_cursor_of_another_conversation_is_refused),
        ("404 resource_not_found", an_unknown_conversation_is_not_found),
    ],
};

/// Creates a conversation with `turns` turns of this message, and returns its path.
async fn conversation(client: &Client, agent: &str, message: &str, turns: usize) -> String {
    let body = json!({ "agent_id": agent, "message": message });
    let first = id(&client.post("/v1/conversations", body).await.expect(200));
    for _ in 1..turns {
        let body = json!({ "agent_id": agent, "message": message, "conversation_id": first });
        client.post("/v1/conversations", body).await.expect(200);
    }
    format!("/v1/conversations/{first}")
}

#[tokio::test]
async fn messages_are_listed_newest_first() {
    let client = client();
    let agent = client.agent().await;
    let path = conversation(&client, &agent, "Hello there", 3).await;
    let whole = client.get(&path).await.expect(200);
    assert_eq!(whole["messages_cursor"], Value::Null);
    let mut expected = whole["messages"].as_array().unwrap().clone();
    assert_eq!(expected.len(), 6);
    expected.reverse();
    for size in [1, 4, 100] {
        let list = client.list_all(&format!("{path}/messages"), size).await;
        assert_eq!(list, expected, "page_size {size}");
    }
}

#[tokio::test]
async fn a_long_conversation_shows_its_newest_messages_and_the_cursor_of_the_others() {
    let client = client();
    let agent = client.agent().await;
    // In JSON, each of these characters takes six bytes, so 180 questions exceed 4 MiB.
    let path = conversation(&client, &agent, &"\u{1}".repeat(4_000), 180).await;
    let answer = client.get(&path).await;
    assert!(answer.body.len() < 4_200_000, "{} bytes", answer.body.len());
    let whole = answer.expect(200);
    let shown = whole["messages"].as_array().unwrap();
    assert!((300..360).contains(&shown.len()), "{} messages", shown.len());
    let cursor = whole["messages_cursor"].as_str().unwrap();
    let older = client.get(&format!("{path}/messages?page_size=100&cursor={cursor}")).await;
    let older = older.expect(200);
    assert_eq!(older["next_cursor"], Value::Null);
    let mut together = older["data"].as_array().unwrap().clone();
    together.reverse();
    together.extend(shown.iter().cloned());
    let mut all = client.list_all(&format!("{path}/messages"), 100).await;
    all.reverse();
    assert_eq!(together.len(), 360);
    assert!(together == all, "no gap and no repeat");
    client.delete(&path).await.expect_nothing();
}

#[tokio::test]
async fn a_cursor_of_another_conversation_is_refused() {
    let client = client();
    let agent = client.agent().await;
    let one = conversation(&client, &agent, "Hello there", 1).await;
    let other = conversation(&client, &agent, "Hello there", 1).await;
    let page = client.get(&format!("{one}/messages?page_size=1")).await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let path = format!("{other}/messages?cursor={cursor}");
    client.get(&path).await.refuses(400, "invalid_parameter", "cursor");
    let path = format!("{one}/messages?page_size=0");
    client.get(&path).await.refuses(400, "invalid_parameter", "page_size");
}

#[tokio::test]
async fn an_unknown_conversation_is_not_found() {
    let path = format!("/v1/conversations/{NO_CONVERSATION}/messages");
    client().get(&path).await.refused(404, "resource_not_found");
    client().get("/v1/conversations/7/messages").await.refused(404, "resource_not_found");
}
