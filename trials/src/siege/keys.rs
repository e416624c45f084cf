//! Keys that try to exceed their permissions.

use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::arena::Field;
use super::report::Report;

/// The most keys of an account.
const MOST_KEYS: usize = 1_000;
/// Rounds in which a deleted key tries to create another one.
const ROUNDS: usize = 30;
/// The rate limit of a key, the number of keys of one account that are used, and the account's
/// limit as a multiple of the key's.
const RATE: usize = 60;
const KEYS: usize = 60;
const TIMES: usize = 10;
/// The longest time for all requests: the limit recovers in the meantime.
const PATIENCE: Duration = Duration::from_secs(30);

/// A narrow key tries to change the root key, deleted keys are used, and very many keys are
/// created.
pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let mut server = field.server()?.start();
    let mut report = Report::default();
    against_the_root_key(&mut server, &mut report).await?;
    let survivors = after_deletion(&server).await?;
    report.attempted(format!("a deleted key created {survivors} keys in {ROUNDS} rounds"));
    report.check(survivors == 0, format!("a deleted key created {survivors} keys"));
    let client = server.account("collector");
    let mut status = 201;
    let mut count = 1;
    while status == 201 && count <= MOST_KEYS {
        status = key(&client, &["agents:read"], &Value::Null).await?.0;
        count += usize::from(status == 201);
    }
    report.attempted(format!("an account created {count} keys, the next was answered {status}"));
    report.check(count <= MOST_KEYS && status == 409, "an account's keys are not bounded");
    Ok(report)
}

/// A key that may only manage keys tries to change and delete the root key.
async fn against_the_root_key(server: &mut Server, report: &mut Report) -> anyhow::Result<()> {
    let root = server.client();
    let list = root.get("/v1/api_keys").await.expect(200);
    let id = list["data"][0]["id"].as_str().context("a root key")?.to_owned();
    let path = format!("/v1/api_keys/{id}");
    let narrow = server.client_with(&["keys:read", "keys:write"]);
    let changes = [
        ("narrowed", narrow.patch(&path, json!({ "permissions": ["keys:read"] })).await.status),
        (
            "ended",
            narrow.patch(&path, json!({ "expires_at": "2099-01-01T00:00:00.000Z" })).await.status,
        ),
        ("deleted", narrow.delete(&path).await.status),
    ];
    for (what, status) in changes {
        report.attempted(format!("the root key is {what} by another key: {status}"));
        report.check(matches!(status, 403 | 404), format!("the root key is {what}: {status}"));
    }
    // A holder of the root key may narrow it; the next start restores its permissions.
    let status =
        root.patch(&path, json!({ "permissions": ["agents:read", "keys:write"] })).await.status;
    server.restart();
    let after = server.client().get("/v1/api_keys").await.status;
    report
        .attempted(format!("narrowed by itself: {status}; it lists keys after a restart: {after}"));
    report.check(after == 200, format!("the root key is answered {after} after a restart"));
    Ok(())
}

/// Deletes keys and uses them within the second for which they are cached. Returns how many keys
/// they created.
async fn after_deletion(server: &Server) -> anyhow::Result<usize> {
    let owner = server.account("owner");
    let mut made = 0;
    for _ in 0..ROUNDS {
        let (_, answer) = key(&owner, &["*"], &Value::Null).await?;
        let secret = answer["key"].as_str().context("a key")?;
        let path = format!("/v1/api_keys/{}", answer["id"].as_str().context("an id")?);
        let holder = owner.with_key(secret);
        holder.get("/v1/agents").await.expect(200);
        owner.delete(&path).await.expect_nothing();
        made += usize::from(key(&holder, &["*"], &Value::Null).await?.0 == 201);
    }
    Ok(made)
}

/// Creates a key. Returns the status and the body.
pub(super) async fn key(
    client: &Client,
    permissions: &[&str],
    agents: &Value,
) -> anyhow::Result<(u16, Value)> {
    let body = json!({ "name": "Key", "permissions": permissions, "agent_ids": agents });
    let answer = client.request("POST", "/v1/api_keys").json(&body).try_send().await?;
    Ok((answer.status, answer.json()))
}

/// Sixty keys of one account at the same time: together they have ten times the limit of one.
pub(super) async fn rate(field: Field) -> anyhow::Result<Report> {
    let server = field.server()?.start();
    let owner = server.account("owner");
    let mut holders = Vec::new();
    for _ in 0..KEYS {
        let (_, answer) = key(&owner, &["*"], &Value::Null).await?;
        holders.push(answer["key"].as_str().context("a key")?.to_owned());
    }
    let other = server.account("other").key().context("a key")?.to_owned();
    // The limit is set only now, so that creating the keys does not count.
    let mut server = server;
    server.set_env("CICERONE_RATE_LIMIT_PER_MINUTE", &RATE.to_string());
    server.restart();
    let begun = std::time::Instant::now();
    let mut callers = JoinSet::new();
    for secret in holders {
        let client = Client::new(server.address(), Some(&secret));
        callers.spawn(async move {
            let mut passed = 0;
            for _ in 0..RATE {
                passed += usize::from(client.get("/v1/agents").await.status == 200);
            }
            passed
        });
    }
    let passed: usize = callers.join_all().await.into_iter().sum();
    let took = begun.elapsed();
    let mut report = Report::default();
    report.attempted(format!(
        "{KEYS} keys of one account at {RATE} requests a minute each: {passed} of {} passed in \
         {took:.1?}",
        KEYS * RATE
    ));
    report.check(took <= PATIENCE, format!("the requests took {took:.1?}"));
    let given_back = TIMES * RATE * (took.as_secs() as usize + 1) / 60;
    report.check(
        passed <= TIMES * RATE + given_back,
        format!("{passed} passed, more than {TIMES} times what one key may"),
    );
    let status = Client::new(server.address(), Some(&other)).get("/v1/agents").await.status;
    report.check(status == 200, format!("another account was answered {status}"));
    Ok(report)
}
