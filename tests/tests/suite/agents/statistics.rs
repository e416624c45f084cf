//! `GET /v1/agents/{agent_id}/statistics`.

use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/statistics",
    cases: &[
        ("200", a_day_counts_what_became_of_its_messages),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn a_day_counts_what_became_of_its_messages() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/statistics");
    assert_eq!(client.get(&path).await.expect(200)["data"], json!([]));
    client.text(&agent, "The museum opens at nine.").await;
    let answered = id(&client.ask(&agent, "When does the museum open?").await);
    let refused = id(&client.ask(&agent, "Which volcano erupted in Iceland?").await);
    let next =
        json!({ "agent_id": agent, "conversation_id": answered, "message": "When does it open?" });
    client.post("/v1/conversations", next).await.expect(200);
    let rating = |conversation: &str| format!("/v1/conversations/{conversation}/messages/2/rating");
    client.put(&rating(&answered), json!({ "value": "down" })).await.expect(200);
    client.put(&rating(&answered), json!({ "value": "up" })).await.expect(200);
    client.put(&rating(&refused), json!({ "value": "down" })).await.expect(200);
    client.delete(&rating(&refused)).await.expect_nothing();
    client.put(&rating(&refused), json!({ "value": "down" })).await.expect(200);
    // Deleted objects are still counted.
    client.delete(&format!("/v1/conversations/{refused}")).await.expect_nothing();

    let page = client.get(&path).await.expect(200);
    let days = page["data"].as_array().unwrap();
    // The test may run over midnight.
    let sum = |field: &str| days.iter().map(|day| day[field].as_u64().unwrap()).sum::<u64>();
    for (field, expected) in [
        ("messages", 3),
        ("conversations", 2),
        ("answered", 2),
        ("unanswered", 1),
        ("rated_up", 1),
        ("rated_down", 1),
    ] {
        assert_eq!(sum(field), expected, "{field} of {page}");
    }
    let latency = &days[0]["latency"];
    for field in ["mean_ms", "p50_ms", "p95_ms"] {
        assert!(latency[field].as_u64().is_some(), "{field} of {page}");
    }
    let day = days[0]["day"].as_str().unwrap();
    let listed = async |query: &str| client.list_all(&format!("{path}?{query}"), 1).await;
    assert_eq!(listed(&format!("from={day}&to={day}")).await, [days[0].clone()]);
    assert_eq!(listed("to=2020-01-01").await, Vec::<Value>::new());
    assert_eq!(listed("from=2999-01-01").await, Vec::<Value>::new());
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let agent = client.agent().await;
    for (name, value) in
        [("from", "yesterday"), ("to", "2026-02-30"), ("page_size", "0"), ("cursor", "x")]
    {
        let answer = client.get(&format!("/v1/agents/{agent}/statistics?{name}={value}")).await;
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    for agent in [NO_AGENT, "7"] {
        let answer = client().get(&format!("/v1/agents/{agent}/statistics")).await;
        answer.refused(404, "resource_not_found");
    }
}
