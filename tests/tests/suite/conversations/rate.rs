//! `PUT /v1/conversations/{conversation_id}/messages/{n}/rating`.

use cicerone_tests::Client;
use cicerone_tests::answer::is_timestamp;
use cicerone_tests::scenario::id;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, NO_CONVERSATION, client, past};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "PUT /v1/conversations/{conversation_id}/messages/{n}/rating",
    cases: &[
        ("200", a_rating_is_kept_and_shown_with_its_message),
        ("400 missing_required_field", a_rating_without_a_value_is_refused),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("400 invalid_operation", a_message_of_the_user_is_not_rated),
        ("404 resource_not_found", what_does_not_exist_is_not_found),
    ],
};

/// A conversation with one reply.
async fn conversation(client: &Client) -> String {
    let agent = client.agent().await;
    id(&client.ask(&agent, "Hello there").await)
}

fn path(conversation: &str, n: u32) -> String {
    format!("/v1/conversations/{conversation}/messages/{n}/rating")
}

async fn counts(client: &Client, conversation: &str) -> Value {
    client.get(&format!("/v1/conversations/{conversation}")).await.expect(200)["ratings"].clone()
}

#[tokio::test]
async fn a_rating_is_kept_and_shown_with_its_message() {
    let client = client();
    let conversation = conversation(&client).await;
    let whole = async || client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    let before = whole().await;
    assert_eq!(before["messages"][1]["rating"], Value::Null);
    assert_eq!(before["messages"][0].get("rating"), None, "users are not rated");
    let comment = "Der Preis ist alt. 🦀";
    let given = json!({ "value": "down", "comment": comment });
    let rated = client.put(&path(&conversation, 2), given).await.expect(200);
    assert_eq!((&rated["value"], &rated["comment"]), (&json!("down"), &json!(comment)));
    assert!(is_timestamp(rated["rated_at"].as_str().unwrap()), "{rated}");
    let after = whole().await;
    assert_eq!(after["messages"][1]["rating"], rated);
    assert_eq!((&after["messages"][0]["n"], &after["messages"][1]["n"]), (&json!(1), &json!(2)));
    assert_eq!(after["updated_at"], before["updated_at"], "the time of the last message stays");
    assert_eq!(after["ratings"], json!({ "up": 0, "down": 1 }));
    assert_eq!(after["message_count"], 2);
    let listed = client.list_all(&format!("/v1/conversations/{conversation}/messages"), 1).await;
    assert_eq!(listed[0]["rating"], rated);
}

#[tokio::test]
async fn the_same_rating_changes_nothing_and_another_replaces_it() {
    let client = client();
    let conversation = conversation(&client).await;
    let rate = async |body: Value| client.put(&path(&conversation, 2), body).await.expect(200);
    let first = rate(json!({ "value": "up", "comment": "Fine" })).await;
    past(&first["rated_at"]).await;
    assert_eq!(rate(json!({ "value": "up", "comment": "Fine" })).await, first);
    for blank in [json!(null), json!(""), json!(" \n")] {
        let rated = rate(json!({ "value": "up", "comment": blank })).await;
        assert_eq!(rated["comment"], Value::Null);
        assert_ne!(rated["rated_at"], first["rated_at"]);
        assert_eq!(counts(&client, &conversation).await, json!({ "up": 1, "down": 0 }));
    }
    rate(json!({ "value": "down" })).await;
    assert_eq!(counts(&client, &conversation).await, json!({ "up": 0, "down": 1 }));
}

#[tokio::test]
async fn ratings_at_once_count_once() {
    let client = client();
    let conversation = conversation(&client).await;
    let path = path(&conversation, 2);
    let body = |number| json!({ "value": if number % 2 == 0 { "up" } else { "down" } });
    let all = (0..50).map(|number| client.put(&path, body(number)));
    for answer in join_all(all).await {
        answer.expect(200);
    }
    let counts = counts(&client, &conversation).await;
    assert_eq!(counts["up"].as_u64().unwrap() + counts["down"].as_u64().unwrap(), 1, "{counts}");
}

#[tokio::test]
async fn conversations_are_listed_by_ratings_and_answers() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let answered = id(&client.ask(&agent, "When does the museum open?").await);
    let refused = id(&client.ask(&agent, "Which volcano erupted in Iceland?").await);
    client.put(&path(&answered, 2), json!({ "value": "up" })).await.expect(200);
    client.put(&path(&refused, 2), json!({ "value": "down" })).await.expect(200);
    let list = format!("/v1/agents/{agent}/conversations");
    for (query, expected) in [
        ("rating=up", vec![&answered]),
        ("rating=down", vec![&refused]),
        ("unanswered=true", vec![&refused]),
        ("unanswered=true&rating=up", vec![]),
        ("channel=api", vec![&refused, &answered]),
        ("channel=api&rating=up", vec![&answered]),
        ("channel=mcp", vec![]),
    ] {
        let found = client.list_all(&format!("{list}?{query}"), 1).await;
        let found: Vec<String> = found.iter().map(id).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let shown = client.list_all(&list, 10).await;
    assert_eq!(shown[0]["unanswered_count"], 1);
    assert_eq!((&shown[1]["unanswered_count"], &shown[1]["channel"]), (&json!(0), &json!("api")));
    for (name, value) in [("rating", "good"), ("unanswered", "false"), ("channel", "mail")] {
        let answer = client.get(&format!("{list}?{name}={value}")).await;
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn a_rating_without_a_value_is_refused() {
    let client = client();
    let conversation = conversation(&client).await;
    for body in [json!({}), json!({ "value": null, "comment": "Fine" })] {
        let answer = client.put(&path(&conversation, 2), body).await;
        answer.refuses(400, "missing_required_field", "value");
    }
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let conversation = conversation(&client).await;
    let most = CRAB.repeat(1_000);
    let fine = json!({ "value": "up", "comment": most });
    client.put(&path(&conversation, 2), fine).await.expect(200);
    for (body, param) in [
        (json!({ "value": "good" }), "value"),
        (json!({ "value": 1 }), "value"),
        (json!({ "value": "up", "comment": format!("{most}x") }), "comment"),
        (json!({ "value": "up", "comment": "a\u{0}b" }), "comment"),
        (json!({ "value": "up", "comment": 1 }), "comment"),
    ] {
        let answer = client.put(&path(&conversation, 2), body).await;
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn a_message_of_the_user_is_not_rated() {
    let client = client();
    let conversation = conversation(&client).await;
    let answer = client.put(&path(&conversation, 1), json!({ "value": "up" })).await;
    answer.refused(400, "invalid_operation");
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let client = client();
    let conversation = conversation(&client).await;
    let up = json!({ "value": "up" });
    for n in
        ["0", "02", "3", "4", "x", "-2", "+2", "2.0", "99999999999999999999", "9223372036854775808"]
    {
        let path = format!("/v1/conversations/{conversation}/messages/{n}/rating");
        client.put(&path, up.clone()).await.refused(404, "resource_not_found");
    }
    for other in [NO_CONVERSATION, "7"] {
        client.put(&path(other, 2), up.clone()).await.refused(404, "resource_not_found");
    }
}
