//! `GET /v1/usage`, and the quotas of accounts.

use std::time::Duration;

use cicerone_tests::scenario::id;
use cicerone_tests::upstream::{Script, Upstream};
use cicerone_tests::{Client, Server};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{account, eventually, own_server, program};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/usage",
    cases: &[
        ("200", messages_are_counted_by_day_and_agent),
        ("400 invalid_parameter", a_bad_parameter_is_refused),
    ],
};

async fn usage(client: &Client, query: &str) -> Vec<Value> {
    client.list_all(&format!("/v1/usage{query}"), 2).await
}

fn today(agent: &Value) -> String {
    agent["created_at"].as_str().unwrap()[..10].to_owned()
}

#[tokio::test]
async fn messages_are_counted_by_day_and_agent() {
    let client = account();
    assert!(usage(&client, "").await.is_empty());
    let agent = client.post("/v1/agents", json!({ "name": "Guide" })).await.expect(201);
    let day = today(&agent);
    let agents = [id(&agent), client.agent().await, client.agent().await];
    for (count, agent) in (1..).zip(&agents) {
        for _ in 0..count {
            client.ask(agent, "When does it open?").await;
        }
    }
    // A refusal is not counted, and a replayed answer is counted once.
    client.post("/v1/conversations", json!({ "agent_id": agents[0], "message": "" })).await;
    let body = json!({ "agent_id": agents[0], "message": "Hello" });
    for _ in 0..3 {
        let request = client.request("POST", "/v1/conversations").json(&body).idempotent("one");
        request.send().await.expect(200);
    }
    let mut counted = usage(&client, "").await;
    assert_eq!(counted.len(), 3);
    counted.sort_by_key(|one| agents.iter().position(|id| *id == one["agent_id"]));
    for ((one, agent), messages) in counted.iter().zip(&agents).zip([2, 2, 3]) {
        assert_eq!(
            *one,
            json!({
                "day": day, "agent_id": agent, "messages": messages,
                "prompt_tokens": 0, "completion_tokens": 0,
            })
        );
    }
    let of_one = format!("?agent_id={}", agents[1]);
    assert_eq!(usage(&client, &of_one).await.len(), 1);
    for (query, count) in [
        (format!("?from={day}"), 3),
        (format!("?to={day}"), 3),
        ("?to=2020-01-01".to_owned(), 0),
        ("?from=2999-01-01".to_owned(), 0),
        ("?agent_id=agent_0000000000".to_owned(), 0),
    ] {
        assert_eq!(usage(&client, &query).await.len(), count, "{query}");
    }
    // Usage is kept after the agent is deleted, and a key that is restricted to agents sees the
    // usage of its own agents.
    let key = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [agents[0]] });
    let key = client.post("/v1/api_keys", key).await.expect(201);
    let restricted = client.with_key(key["key"].as_str().unwrap());
    assert_eq!(usage(&restricted, "").await.len(), 1);
    client.delete(&format!("/v1/agents/{}", agents[2])).await.expect_nothing();
    assert_eq!(usage(&client, "").await.len(), 3);
    assert!(usage(&account(), "").await.is_empty(), "accounts are isolated");
}

#[tokio::test]
async fn the_tokens_of_a_model_are_counted() {
    let upstream = Upstream::start([Script::whole("At nine o'clock.")]).await;
    let server = Server::of(&program()).env("OPENAI_BASE_URL", upstream.url()).start();
    let client = server.client();
    let agent = client.agent().await;
    client.ask(&agent, "When does it open?").await;
    let counted = usage(&client, "").await;
    assert_eq!(counted[0]["prompt_tokens"], 19, "as the upstream says");
    assert_eq!(counted[0]["completion_tokens"], 10);
}

#[tokio::test]
async fn a_bad_parameter_is_refused() {
    let client = account();
    for query in ["page_size=0", "cursor=none", "from=today", "to=2026-02-30", "agent_id=x"] {
        let answer = client.get(&format!("/v1/usage?{query}")).await;
        let (param, _) = query.split_once('=').unwrap();
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn beyond_its_quota_an_account_is_refused_until_it_is_raised() {
    let server = own_server();
    let client = server.account("small");
    let agent = client.agent().await;
    // Before the first message: from then on the server reads the quotas of the account once a second.
    server.succeed(&["account", "limit", "small", "--messages", "3"]);
    client.ask(&agent, "Hello there").await;
    let shown = server.succeed(&["account", "limit", "small"]);
    assert!(shown.contains("messages a month: 3, 1 used"), "{shown}");
    let body = json!({ "agent_id": agent, "message": "Hello there" });
    let asked = (0..10).map(|_| client.post("/v1/conversations", body.clone()));
    let answers = join_all(asked).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 2);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        let error = refused.refused(429, "quota_exceeded");
        assert!(error["message"].as_str().unwrap().contains("3 messages"), "{error}");
        let wait = error["retry_after"].as_u64().unwrap();
        assert!((1..=31 * 24 * 60 * 60).contains(&wait), "until the month ends: {error}");
    }
    let streamed = json!({ "agent_id": agent, "message": "Hello", "stream": true });
    client.post("/v1/conversations", streamed).await.refused(429, "quota_exceeded");
    // Everything else works, and other accounts have their own quotas.
    client.get(&format!("/v1/agents/{agent}")).await.expect(200);
    let other = server.client();
    let theirs = other.agent().await;
    for _ in 0..5 {
        other.ask(&theirs, "Hello there").await;
    }
    server.succeed(&["account", "limit", "small", "--messages", "unlimited"]);
    eventually("the raised quota applies", async || {
        client.post("/v1/conversations", body.clone()).await.status == 200
    })
    .await;
    let shown = server.succeed(&["account", "limit", "small"]);
    assert!(shown.contains("messages a month: unlimited, 4 used"), "{shown}");
}

#[tokio::test]
async fn the_settings_say_what_accounts_may_use_that_have_no_quota() {
    let upstream = Upstream::start([Script::whole("At nine."), Script::whole("At nine.")]).await;
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[quotas]\ntokens_per_month = 30\n").unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.display().to_string())
        .env("OPENAI_BASE_URL", upstream.url())
        .start_in(data);
    let client = server.client();
    let agent = client.agent().await;
    client.ask(&agent, "Hello there").await;
    client.ask(&agent, "Hello there").await;
    let body = json!({ "agent_id": agent, "message": "Hello there" });
    let error = client.post("/v1/conversations", body).await.refused(429, "quota_exceeded");
    assert!(error["message"].as_str().unwrap().contains("30 model tokens"), "{error}");
}

/// The bytes that an account stores, according to `account limit`.
fn kept(server: &Server, account: &str) -> u64 {
    let shown = server.succeed(&["account", "limit", account]);
    let line = shown.lines().find(|line| line.starts_with("bytes kept: ")).unwrap();
    let number = line.rsplit(", ").next().unwrap().strip_suffix(" used").unwrap();
    number.parse().unwrap()
}

#[tokio::test]
async fn beyond_the_bytes_that_an_account_may_keep_nothing_is_added_to_it() {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[quotas]\nbytes = 40000\n").unwrap();
    let server =
        Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data);
    let (client, other) = (server.client(), server.account("other"));
    let agent = client.agent().await;
    let sources = format!("/v1/agents/{agent}/sources");
    let text = |bytes: usize| json!({ "type": "text", "content": "word ".repeat(bytes / 5) });

    // The 10,000 bytes are stored three times: as the source, as a document and as passages.
    let first = client.text(&agent, &"word ".repeat(2_000)).await;
    let used = kept(&server, "default");
    assert!((30_000..39_000).contains(&used), "{used}");
    let refused = client.post(&sources, text(15_000)).await;
    let error = refused.refused(429, "quota_exceeded");
    assert!(error["message"].as_str().unwrap().contains("40000 bytes"), "{error}");
    let upload = client.upload("long.txt", "word ".repeat(3_000)).await;
    upload.refused(429, "quota_exceeded");
    // The quota is exceeded only during processing: the source shows that, and only its content is
    // stored.
    let second = id(&client.post(&sources, text(1_000)).await.expect(201));
    client.trained(&second).await;
    client.delete(&format!("/v1/sources/{first}")).await.expect_nothing();
    let large = id(&client.post(&sources, text(20_000)).await.expect(201));
    let failed = client.failed(&large).await;
    assert!(failed["error_message"].as_str().unwrap().contains("40000 bytes"), "{failed}");
    let used = kept(&server, "default");
    assert!((20_000..30_000).contains(&used), "{used}");
    client.post(&sources, text(20_000)).await.refused(429, "quota_exceeded");

    // Another account has its own quota, and deleting frees space.
    let theirs = other.agent().await;
    other.text(&theirs, &"word ".repeat(2_000)).await;
    client.delete(&format!("/v1/sources/{large}")).await.expect_nothing();
    client.upload("long.txt", "word ".repeat(3_000)).await.expect(201);
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    assert_eq!(kept(&server, "default"), 15_000, "the file that no source uses");
    server.succeed(&["account", "limit", "default", "--bytes", "none"]);
    let agent = client.agent().await;
    client.text(&agent, &"word ".repeat(15_000)).await;
    server.succeed(&["account", "limit", "default", "--bytes", "100"]);
    let sources = format!("/v1/agents/{agent}/sources");
    client.post(&sources, text(5)).await.refused(429, "quota_exceeded");
    other.text(&theirs, "Open at nine.").await;
}

#[tokio::test]
async fn a_limit_of_an_unknown_account_or_that_is_no_number_is_refused() {
    let server = own_server();
    for arguments in [
        ["account", "limit", "nobody", "--messages", "3"],
        ["account", "limit", "default", "--messages", "-3"],
        ["account", "limit", "default", "--tokens", "many"],
        ["account", "limit", "default", "--bytes", "-1"],
    ] {
        let output = server.command(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// A conversation of a new agent, and a server whose model pauses in the middle of each later reply.
async fn beside_a_slow_model() -> (Server, Upstream, Client, [String; 2]) {
    let upstream = Upstream::start([Script::whole("At nine o'clock.")]).await;
    let server = Server::of(&program()).env("OPENAI_BASE_URL", upstream.url()).start();
    let client = server.account("small");
    let agent = client.agent().await;
    let body = json!({ "model": agent, "input": "When does it open?", "store": true });
    let stored = client.post("/v1/responses", body).await.expect(200);
    let slow = Script::stream().token("At nine").pause(Duration::from_secs(2)).token(" o'clock.");
    upstream.follow([slow.finish("stop").done()]);
    let response = stored["id"].as_str().unwrap().to_owned();
    (server, upstream, client, [agent, response])
}

#[tokio::test]
async fn replies_that_cannot_be_stored_are_counted() {
    let (_server, upstream, client, [agent, response]) = beside_a_slow_model().await;
    let body = json!({
        "model": agent, "input": "And then?", "previous_response_id": response, "stream": true,
    });
    let answers = join_all((0..4).map(|_| client.post("/v1/responses", body.clone()))).await;
    let completed = answers.iter().filter(|answer| answer.text().contains("response.completed"));
    assert_eq!(completed.count(), 1, "the others were overtaken");
    let asked = upstream.received().len();
    assert!(asked > 2, "{asked} replies of the model");
    let [used] = usage(&client, "").await.try_into().unwrap();
    assert_eq!(used["messages"], asked);
}

#[tokio::test]
async fn replies_whose_conversation_or_agent_is_deleted_meanwhile_are_counted() {
    for (kept, deleted) in [(true, "conversations"), (true, "agents"), (false, "agents")] {
        let (_server, upstream, client, [agent, response]) = beside_a_slow_model().await;
        let place = response.strip_prefix("resp_").and_then(|place| place.strip_suffix("_2"));
        let conversation = format!("conv_{}", place.unwrap());
        let body = json!({
            "model": agent, "input": "And then?", "previous_response_id": response,
            "store": kept, "stream": true,
        });
        let mut stream = client.request("POST", "/v1/responses").json(&body).open().await;
        stream.until("At nine").await;
        let id = if deleted == "agents" { &agent } else { &conversation };
        client.delete(&format!("/v1/{deleted}/{id}")).await.expect_nothing();
        let rest = stream.until("event: error").await;
        assert!(rest.contains(" o'clock."), "{rest}");
        assert_eq!(upstream.received().len(), 2);
        let [used] = usage(&client, "").await.try_into().unwrap();
        assert_eq!(used["messages"], 2, "{deleted}, stored: {kept}");
    }
}
