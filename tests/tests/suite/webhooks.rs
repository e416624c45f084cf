//! `/v1/webhook_endpoints`, one file for each endpoint, and the requests that webhooks send.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deliveries;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod redeliver;
pub(crate) mod rotate_secret;
pub(crate) mod sent;
pub(crate) mod test;
pub(crate) mod update;

use std::time::{Duration, Instant};

use cicerone_tests::receiver::Receiver;
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::world::{NOWHERE, program};

/// The time limit for a delivery.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that may send to loopback, with these pauses between attempts, in seconds.
fn sending(pauses: &[u64]) -> Server {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, format!("[webhooks]\npauses_seconds = {pauses:?}\n")).unwrap();
    Server::of(&program())
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
        .env("CICERONE_CONFIG", file.display().to_string())
        .start_in(data)
}

/// Creates an endpoint at whose address nobody listens.
async fn made(client: &Client) -> Value {
    client.post("/v1/webhook_endpoints", json!({ "url": NOWHERE })).await.expect(201)
}

/// Creates an endpoint that sends to `receiver`.
async fn made_for(client: &Client, receiver: &Receiver) -> Value {
    let body = json!({ "url": receiver.url() });
    client.post("/v1/webhook_endpoints", body).await.expect(201)
}

fn path(endpoint: &Value) -> String {
    format!("/v1/webhook_endpoints/{}", endpoint["id"].as_str().unwrap())
}

/// An endpoint without its secret, in the form of all further answers.
fn without_secret(endpoint: &Value) -> Value {
    let mut endpoint = endpoint.clone();
    endpoint.as_object_mut().unwrap().remove("secret");
    endpoint
}

/// Waits until `is_so` is true for the only delivery of an endpoint, and returns the delivery.
async fn delivery(client: &Client, endpoint: &Value, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    let path = format!("{}/deliveries", path(endpoint));
    loop {
        let page = client.get(&path).await.expect(200);
        if let Some(found) = page["data"].as_array().unwrap().iter().find(|one| is_so(one)) {
            return found.clone();
        }
        assert!(Instant::now() < deadline, "no such delivery in time: {page}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
