//! `PATCH /v1/agents/{agent_id}`.

use cicerone_tests::Client;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, client, past};

pub(crate) const COVERS: Covers = Covers {
    route: "PATCH /v1/agents/{agent_id}",
    cases: &[
        ("200", only_the_fields_that_are_given_change),
        ("400 invalid_parameter", a_bad_value_is_refused_and_changes_nothing),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

async fn agent(client: &Client) -> (Value, String) {
    let body = json!({
        "name": "Guide", "model": "gpt-4-turbo", "system_prompt": "Be brief.",
        "temperature": 0.1, "max_tokens": 9,
    });
    let agent = client.post("/v1/agents", body).await.expect(201);
    let path = format!("/v1/agents/{}", agent["id"].as_str().unwrap());
    (agent, path)
}

#[tokio::test]
async fn only_the_fields_that_are_given_change() {
    let client = client();
    let changes = [
        ("name", json!("Docent")),
        ("model", json!("gpt-3.5-turbo")),
        ("system_prompt", json!("Be long.")),
        ("temperature", json!(2.0)),
        ("max_tokens", json!(4096)),
        ("retention_days", json!(3_650)),
        ("retention_days", json!(null)),
        ("answer_floor", json!("eager")),
        ("answer_floor", json!("cautious")),
        ("public_sources", json!(true)),
        ("public_sources", json!(false)),
        ("source_list", json!(true)),
        ("source_list", json!(false)),
        ("receipts", json!(false)),
        ("receipts", json!(true)),
        ("status", json!("paused")),
    ];
    let (mut expected, path) = agent(&client).await;
    for (field, value) in changes {
        let mut body = json!({});
        body[field] = value.clone();
        let changed = client.patch(&path, body).await.expect(200);
        expected[field] = value;
        assert!(changed["updated_at"].as_str() >= expected["updated_at"].as_str());
        expected["updated_at"] = changed["updated_at"].clone();
        assert_eq!(changed, expected);
        assert_eq!(client.get(&path).await.expect(200), expected);
    }
}

#[tokio::test]
async fn a_change_moves_updated_at_and_leaves_created_at() {
    let client = client();
    let (before, path) = agent(&client).await;
    past(&before["updated_at"]).await;
    let after = client.patch(&path, json!({ "name": "Docent" })).await.expect(200);
    assert!(after["updated_at"].as_str() > before["updated_at"].as_str());
    assert_eq!(after["created_at"], before["created_at"]);
}

#[tokio::test]
async fn a_change_of_nothing_is_taken_and_leaves_updated_at() {
    let client = client();
    let (before, path) = agent(&client).await;
    past(&before["updated_at"]).await;
    for body in [json!({}), json!({ "colour": "red" }), json!({ "name": "Guide" })] {
        assert_eq!(client.patch(&path, body).await.expect(200), before);
    }
    assert_eq!(client.get(&path).await.expect(200), before);
}

#[tokio::test]
async fn a_field_set_to_null_goes_back_to_its_default() {
    let client = client();
    let (_, path) = agent(&client).await;
    let body =
        json!({ "model": null, "system_prompt": null, "temperature": null, "max_tokens": null });
    let after = client.patch(&path, body).await.expect(200);
    assert_eq!(after["model"], "gpt-4o");
    assert_eq!(after["system_prompt"], "");
    assert_eq!(after["temperature"], 0.7);
    assert_eq!(after["max_tokens"], 1024);
    assert_eq!(after["name"], "Guide");
}

#[tokio::test]
async fn a_name_or_status_of_null_is_refused() {
    let client = client();
    let (_, path) = agent(&client).await;
    for field in ["name", "status"] {
        let mut body = json!({});
        body[field] = Value::Null;
        client.patch(&path, body).await.refuses(400, "invalid_parameter", field);
    }
}

#[tokio::test]
async fn a_paused_agent_can_be_resumed() {
    let client = client();
    let (_, path) = agent(&client).await;
    let paused = client.patch(&path, json!({ "status": "paused" })).await.expect(200);
    assert_eq!(paused["status"], "paused");
    let resumed = client.patch(&path, json!({ "status": "active" })).await.expect(200);
    assert_eq!(resumed["status"], "active");
}

#[tokio::test]
async fn a_status_may_be_set_to_what_it_is() {
    let client = client();
    let (_, path) = agent(&client).await;
    for status in ["active", "paused", "paused"] {
        client.patch(&path, json!({ "status": status })).await.expect(200);
    }
}

#[tokio::test]
async fn a_bad_value_is_refused_and_changes_nothing() {
    let client = client();
    let (before, path) = agent(&client).await;
    let bad = [
        ("status", json!("deleted")),
        ("status", json!("gone")),
        ("status", json!(1)),
        ("name", json!("")),
        ("name", json!(CRAB.repeat(101))),
        ("model", json!("gpt-9")),
        ("system_prompt", json!(CRAB.repeat(4_001))),
        ("temperature", json!(2.1)),
        ("temperature", json!("hot")),
        ("max_tokens", json!(0)),
        ("retention_days", json!(0)),
        ("answer_floor", json!("EAGER")),
        ("max_tokens", json!(4097)),
    ];
    for (field, value) in bad {
        // The valid field next to the bad one must not be applied.
        let mut body = json!({ "name": "Docent", "temperature": 1.0 });
        body[field] = value;
        client.patch(&path, body).await.refuses(400, "invalid_parameter", field);
    }
    assert_eq!(client.get(&path).await.expect(200), before);
}

#[tokio::test]
async fn the_limits_are_those_of_creation() {
    let client = client();
    let (_, path) = agent(&client).await;
    let body = json!({ "name": CRAB.repeat(100), "system_prompt": CRAB.repeat(4_000) });
    let after = client.patch(&path, body.clone()).await.expect(200);
    assert_eq!(after["name"], body["name"]);
    assert_eq!(after["system_prompt"], body["system_prompt"]);
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let path = format!("/v1/agents/{NO_AGENT}");
    client().patch(&path, json!({ "name": "Docent" })).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn values_are_checked_before_existence() {
    let path = format!("/v1/agents/{NO_AGENT}");
    let answer = client().patch(&path, json!({ "temperature": 3 })).await;
    answer.refuses(400, "invalid_parameter", "temperature");
}
