//! Repeated requests with different keys: only keys that can see everything in a stored answer
//! receive it again.

use anyhow::Context as _;
use cicerone_tests::client::Client;
use serde_json::{Value, json};

use super::arena::Field;
use super::keys::key;
use super::report::Report;

/// The permissions of keys for agents.
const PERMISSIONS: [&str; 4] =
    ["sources:write", "conversations:write", "agents:read", "keys:write"];

pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let server = field.server()?.start();
    let owner = server.account("owner");
    let (first, second) = (owner.agent().await, owner.agent().await);
    let of_first = holder(&owner, &json!([first])).await?;
    let of_both = holder(&owner, &json!([first, second])).await?;
    let mut report = Report::default();

    // A request that a narrow key was refused is not refused for the full key.
    let path = format!("/v1/agents/{second}/sources");
    let body = json!({ "type": "text", "content": "The museum opens at nine." });
    let narrow = send(&of_first, &path, &body, "one").await?;
    let full = send(&owner, &path, &body, "one").await?;
    report.attempted(format!("a narrow key's {narrow} and then the full key: {full}"));
    report.check(narrow == 404, format!("a narrow key was answered {narrow}"));
    report.check(matches!(full, 201 | 422), format!("the full key was answered {full}"));

    // An answer to a key for two agents is not replayed to a key for one.
    let question = json!({ "agent_id": second, "message": "When does the museum open?" });
    let new_key = json!({
        "name": "Key", "permissions": ["agents:read"], "agent_ids": [first, second],
    });
    for (path, body, made) in [("/v1/conversations", question, 200), ("/v1/api_keys", new_key, 201)]
    {
        let wide = send(&of_both, path, &body, path).await?;
        let narrow = send(&of_first, path, &body, path).await?;
        report.attempted(format!("`{path}`: a wider key's {wide} and then a narrow key: {narrow}"));
        report.check(wide == made, format!("a key of two agents was answered {wide}"));
        report.check(
            matches!(narrow, 403 | 404 | 422),
            format!("a narrow key was answered {narrow} at `{path}`"),
        );
    }

    // A secret that is no longer used for signing is not shown again.
    let body = json!({ "url": "http://127.9.9.9:9/" });
    let path = "/v1/webhook_endpoints";
    let made = owner.request("POST", path).json(&body).idempotent("three").send().await.expect(201);
    let id = made["id"].as_str().context("an endpoint's id")?;
    owner.post_nothing(&format!("{path}/{id}/rotate_secret")).await.expect(200);
    let again = owner.request("POST", path).json(&body).idempotent("three").send().await;
    let is_told = again.text().contains("whsec_");
    report.attempted(format!("creating an endpoint again after a rotation: {}", again.status));
    report.check(!is_told && again.status == 404, "a rotated secret is shown again");
    Ok(report)
}

/// A client with a new key for these agents.
async fn holder(owner: &Client, agents: &Value) -> anyhow::Result<Client> {
    let (_, answer) = key(owner, &PERMISSIONS, agents).await?;
    Ok(owner.with_key(answer["key"].as_str().context("a key")?))
}

async fn send(client: &Client, path: &str, body: &Value, name: &str) -> anyhow::Result<u16> {
    let request = client.request("POST", path).json(body).idempotent(name);
    Ok(request.try_send().await?.status)
}
