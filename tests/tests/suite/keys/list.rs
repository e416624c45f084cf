//! `GET /v1/api_keys`.

use cicerone_tests::scenario::ids;
use serde_json::{Value, json};

use super::{made, made_with, without_secret};
use crate::coverage::Covers;
use crate::world::{account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/api_keys",
    cases: &[
        ("200", keys_are_listed_newest_first_without_secrets),
        ("400 invalid_parameter", a_page_size_beyond_its_bounds_is_refused),
    ],
};

#[tokio::test]
async fn keys_are_listed_newest_first_without_secrets() {
    let client = account();
    let before = client.get("/v1/api_keys").await.expect(200)["data"].as_array().unwrap().len();
    let mut created = Vec::new();
    for _ in 0..3 {
        created.insert(0, without_secret(&made(&client, &["agents:read"]).await.0));
    }
    let page = client.get("/v1/api_keys").await;
    assert!(!page.text().contains("\"key\""));
    let page = page.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), before + 3);
    assert_eq!(page["data"].as_array().unwrap()[..3], created);
}

#[tokio::test]
async fn pages_have_neither_gap_nor_repeat_also_within_agents() {
    let client = account();
    let agent = client.agent().await;
    let within = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [agent] });
    let (first, reader) = made_with(&client, within.clone()).await;
    let mut created = vec![first["id"].as_str().unwrap().to_owned()];
    for _ in 0..5 {
        made(&client, &["*"]).await;
        let (key, _) = made_with(&client, within.clone()).await;
        created.insert(0, key["id"].as_str().unwrap().to_owned());
    }
    for size in [1, 2, 6, 100] {
        assert_eq!(ids(&reader.list_all("/v1/api_keys", size).await), created, "page_size {size}");
    }
    let all: Vec<Value> = client.list_all("/v1/api_keys", 3).await;
    assert!(all.len() > 11, "{all:?}");
}

#[tokio::test]
async fn a_page_size_beyond_its_bounds_is_refused() {
    for size in ["0", "101", "many"] {
        let answer = client().get(&format!("/v1/api_keys?page_size={size}")).await;
        answer.refuses(400, "invalid_parameter", "page_size");
    }
}
