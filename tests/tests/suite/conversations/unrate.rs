//! `DELETE /v1/conversations/{conversation_id}/messages/{n}/rating`.

use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::client;

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/conversations/{conversation_id}/messages/{n}/rating",
    cases: &[
        ("204", a_rating_is_removed),
        ("400 invalid_operation", a_message_of_the_user_has_no_rating),
        ("404 resource_not_found", a_reply_that_is_not_rated_has_none_to_remove),
    ],
};

#[tokio::test]
async fn a_rating_is_removed() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    let path = format!("/v1/conversations/{conversation}/messages/2/rating");
    client.put(&path, json!({ "value": "up" })).await.expect(200);
    client.delete(&path).await.expect_nothing();
    let whole = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    assert_eq!(whole["messages"][1]["rating"], Value::Null);
    assert_eq!(whole["ratings"], json!({ "up": 0, "down": 0 }));
    client.delete(&path).await.refused(404, "resource_not_found");
    client.put(&path, json!({ "value": "down" })).await.expect(200);
}

#[tokio::test]
async fn a_message_of_the_user_has_no_rating() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    let path = format!("/v1/conversations/{conversation}/messages/1/rating");
    client.delete(&path).await.refused(400, "invalid_operation");
}

#[tokio::test]
async fn a_reply_that_is_not_rated_has_none_to_remove() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    for n in ["2", "3", "0", "x"] {
        let path = format!("/v1/conversations/{conversation}/messages/{n}/rating");
        client.delete(&path).await.refused(404, "resource_not_found");
    }
}
