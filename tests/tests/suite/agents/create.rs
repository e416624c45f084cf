//! `POST /v1/agents`.

use cicerone_tests::Server;
use cicerone_tests::answer::{is_id, is_timestamp};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, client, program};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/agents",
    cases: &[
        ("201", an_agent_with_a_name_alone_has_every_default),
        ("400 missing_required_field", an_agent_without_a_name_is_refused),
        ("400 invalid_parameter", a_bad_value_is_refused_with_the_name_of_its_field),
    ],
};

#[tokio::test]
async fn an_agent_with_a_name_alone_has_every_default() {
    let agent = client().post("/v1/agents", json!({ "name": "Guide" })).await.expect(201);
    assert!(is_id(agent["id"].as_str().unwrap(), "agent_"), "{agent}");
    assert!(is_timestamp(agent["created_at"].as_str().unwrap()), "{agent}");
    let expected = json!({
        "id": agent["id"],
        "name": "Guide",
        "model": "gpt-4o",
        "system_prompt": "",
        "temperature": 0.7,
        "max_tokens": 1024,
        "retention_days": null,
        "answer_floor": "balanced",
        "public_sources": false,
        "receipts": true,
        "source_list": false,
        "managed": null,
        "status": "active",
        "created_at": agent["created_at"],
        "updated_at": agent["created_at"],
    });
    assert_eq!(agent, expected);
}

#[tokio::test]
async fn an_account_has_at_most_as_many_agents_as_the_settings_say() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[quotas]\nagents = 2\n").unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    let (client, other) = (server.client(), server.account("other"));
    let agents = [client.agent().await, client.agent().await];
    let refused = client.post("/v1/agents", json!({ "name": "Third" })).await;
    let error = refused.refused(409, "conflict");
    assert!(error["message"].as_str().unwrap().contains("2 agents"), "{error}");
    other.agent().await;
    client.delete(&format!("/v1/agents/{}", agents[0])).await.expect_nothing();
    client.agent().await;
}

#[tokio::test]
async fn an_agent_keeps_every_field_as_given() {
    let body = json!({
        "name": "Führer durchs Haus", "model": "gpt-3.5-turbo", "system_prompt": "Sei knapp.",
        "temperature": 1.25, "max_tokens": 77, "retention_days": 30, "answer_floor": "cautious",
        "public_sources": true,
        "receipts": false, "source_list": true,
    });
    let agent = client().post("/v1/agents", body.clone()).await.expect(201);
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&agent[field], value, "{field}");
    }
    let found = client().get(&format!("/v1/agents/{}", agent["id"].as_str().unwrap())).await;
    assert_eq!(found.expect(200), agent);
}

#[tokio::test]
async fn each_model_of_the_specification_is_taken() {
    for model in ["gpt-4-turbo", "gpt-4o", "gpt-3.5-turbo"] {
        let body = json!({ "name": "Guide", "model": model });
        assert_eq!(client().post("/v1/agents", body).await.expect(201)["model"], model);
    }
}

#[tokio::test]
async fn optional_fields_that_are_null_take_their_defaults() {
    let body = json!({
        "name": "Guide", "model": null, "system_prompt": null, "temperature": null,
        "max_tokens": null, "answer_floor": null, "public_sources": null, "receipts": null,
        "source_list": null,
    });
    let agent = client().post("/v1/agents", body).await.expect(201);
    assert_eq!(agent["model"], "gpt-4o");
    assert_eq!(agent["system_prompt"], "");
    assert_eq!(agent["temperature"], 0.7);
    assert_eq!(agent["max_tokens"], 1024);
    assert_eq!(agent["answer_floor"], "balanced");
    assert_eq!(agent["public_sources"], false);
    assert_eq!(agent["receipts"], true);
    assert_eq!(agent["source_list"], false);
}

#[tokio::test]
async fn fields_that_the_service_does_not_know_are_ignored() {
    let body = json!({ "name": "Guide", "colour": "green", "id": "agent_0000000000" });
    let agent = client().post("/v1/agents", body).await.expect(201);
    assert_eq!(agent.get("colour"), None);
    assert_ne!(agent["id"], "agent_0000000000");
}

#[tokio::test]
async fn an_agent_without_a_name_is_refused() {
    for body in [json!({}), json!({ "name": null }), json!({ "model": "gpt-4o" })] {
        let answer = client().post("/v1/agents", body).await;
        answer.refuses(400, "missing_required_field", "name");
    }
}

#[tokio::test]
async fn all_bad_fields_are_named_at_once() {
    let refused = async |body: Value, code: &str, params: &[&str]| {
        client().post("/v1/agents", body).await.refuses_all(400, code, params);
    };
    // First what is absent or of another type, in the order of the documented fields; then what has a bad value.
    let mixed = json!({ "max_tokens": "many", "temperature": [], "model": "gpt-9" });
    refused(mixed, "missing_required_field", &["name", "temperature", "max_tokens"]).await;
    let types = json!({ "name": 5, "receipts": "yes", "managed": { "set": 1 } });
    refused(types, "invalid_parameter", &["name", "receipts", "managed.set"]).await;
    let values = json!({
        "name": " ", "model": "gpt-9", "system_prompt": "x".repeat(4_001), "temperature": 3, "max_tokens": 0,
        "retention_days": 0, "answer_floor": "low", "managed": { "set": "a b", "key": "k", "hash": "f" },
    });
    let all = [
        "name",
        "model",
        "system_prompt",
        "temperature",
        "max_tokens",
        "retention_days",
        "answer_floor",
        "managed.set",
        "managed.hash",
    ];
    refused(values.clone(), "invalid_parameter", &all).await;
    let agent = client().post("/v1/agents", json!({ "name": "Guide" })).await.expect(201);
    let path = format!("/v1/agents/{}", agent["id"].as_str().unwrap());
    client().patch(&path, values).await.refuses_all(400, "invalid_parameter", &all);
    assert_eq!(client().get(&path).await.expect(200), agent, "nothing was changed");
}

#[tokio::test]
async fn a_bad_value_is_refused_with_the_name_of_its_field() {
    let bad = [
        ("name", json!("")),
        ("name", json!("  \n")),
        ("name", json!(7)),
        ("model", json!("gpt-9")),
        ("model", json!("")),
        ("model", json!(["gpt-4o"])),
        ("system_prompt", json!(1)),
        ("temperature", json!(-0.001)),
        ("temperature", json!(2.001)),
        ("temperature", json!("0.7")),
        ("max_tokens", json!(0)),
        ("retention_days", json!(0)),
        ("retention_days", json!(3_651)),
        ("retention_days", json!("30")),
        ("answer_floor", json!("low")),
        ("answer_floor", json!("")),
        ("answer_floor", json!(0.5)),
        ("public_sources", json!("yes")),
        ("receipts", json!(1)),
        ("source_list", json!("no")),
        ("max_tokens", json!(-1)),
        ("max_tokens", json!(4097)),
        ("max_tokens", json!(1.5)),
        ("max_tokens", json!("1024")),
        ("max_tokens", json!(18_446_744_073_709_551_615_u64)),
    ];
    for (field, value) in bad {
        let mut body = json!({ "name": "Guide" });
        body[field] = value;
        let answer = client().post("/v1/agents", body.clone()).await;
        assert_eq!(answer.status, 400, "{body} was answered {}", answer.text());
        answer.refuses(400, "invalid_parameter", field);
    }
}

#[tokio::test]
async fn a_missing_field_is_told_before_a_bad_one() {
    let answer = client().post("/v1/agents", json!({ "temperature": 9 })).await;
    answer.refuses(400, "missing_required_field", "name");
}

#[tokio::test]
async fn the_bounds_of_temperature_are_taken() {
    for temperature in [0.0, 2.0] {
        let body = json!({ "name": "Guide", "temperature": temperature });
        assert_eq!(client().post("/v1/agents", body).await.expect(201)["temperature"], temperature);
    }
}

#[tokio::test]
async fn whole_numbers_are_temperatures_too() {
    let body = json!({ "name": "Guide", "temperature": 1 });
    assert_eq!(client().post("/v1/agents", body).await.expect(201)["temperature"], 1.0);
}

#[tokio::test]
async fn the_bounds_of_max_tokens_are_taken() {
    for tokens in [1, 4096] {
        let body = json!({ "name": "Guide", "max_tokens": tokens });
        assert_eq!(client().post("/v1/agents", body).await.expect(201)["max_tokens"], tokens);
    }
}

#[tokio::test]
async fn a_name_of_100_characters_is_taken_and_one_of_101_is_not() {
    let name = CRAB.repeat(100);
    let agent = client().post("/v1/agents", json!({ "name": name })).await.expect(201);
    assert_eq!(agent["name"], name);
    let answer = client().post("/v1/agents", json!({ "name": CRAB.repeat(101) })).await;
    answer.refuses(400, "invalid_parameter", "name");
}

#[tokio::test]
async fn a_system_prompt_of_4000_characters_is_taken_and_one_of_4001_is_not() {
    let with = |count| json!({ "name": "Guide", "system_prompt": CRAB.repeat(count) });
    let agent = client().post("/v1/agents", with(4_000)).await.expect(201);
    assert_eq!(agent["system_prompt"], CRAB.repeat(4_000));
    let answer = client().post("/v1/agents", with(4_001)).await;
    answer.refuses(400, "invalid_parameter", "system_prompt");
}

#[tokio::test]
async fn text_comes_back_exactly_as_it_was_sent() {
    let name = "\u{200f}e\u{301} \"quoted\" \\ \u{1F469}\u{200D}\u{1F680} <b>&amp;";
    let agent = client().post("/v1/agents", json!({ "name": name })).await.expect(201);
    assert_eq!(agent["name"], Value::from(name));
}
