//! `/v1/api_keys`, one file for each endpoint.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod update;

use cicerone_tests::Client;
use serde_json::{Value, json};

/// Creates a key with these permissions: the resource, and a client that uses it.
async fn made(client: &Client, permissions: &[&str]) -> (Value, Client) {
    made_with(client, json!({ "name": "Key", "permissions": permissions })).await
}

/// Creates a key from this body.
async fn made_with(client: &Client, body: Value) -> (Value, Client) {
    let key = client.post("/v1/api_keys", body).await.expect(201);
    let holder = client.with_key(key["key"].as_str().unwrap());
    (key, holder)
}

fn path(key: &Value) -> String {
    format!("/v1/api_keys/{}", key["id"].as_str().unwrap())
}

/// A key without its secret, in the form of all further answers.
fn without_secret(key: &Value) -> Value {
    let mut key = key.clone();
    key.as_object_mut().unwrap().remove("key");
    key
}
