//! Replies of an upstream through the server: they always end with `done` or an error, and a
//! conversation never contains half an exchange.

use std::time::Duration;

use cicerone_tests::sse::Streamed;
use cicerone_tests::upstream::{Script, Upstream, chunk};
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::world::{awaited, program};

const TEXT: &str = "Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.";

/// A server with replies from `upstream`, with short time limits.
fn server(upstream: &Upstream) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    let text = "[models.upstreams.openai]\nmax_retries = 0\nfirst_token_seconds = 1\n\
                between_tokens_seconds = 0.5\ntotal_seconds = 5\nbreaker_failures = 1000\n";
    std::fs::write(&file, text).unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .env("OPENAI_BASE_URL", upstream.url())
        .env("OPENAI_API_KEY", "sk-verysecret")
        // The proxy settings of the environment must be ignored.
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("http_proxy", "http://127.0.0.1:1")
        .start();
    (server, folder)
}

fn fails(streamed: &Streamed, script: &Script) {
    assert_eq!(streamed.last.name, "error", "{script:?}");
    assert_eq!(streamed.last.data["code"], "model_unavailable", "{script:?}");
}

async fn conversations(client: &Client, agent: &str) -> Vec<Value> {
    client.list_all(&format!("/v1/agents/{agent}/conversations"), 100).await
}

fn question(agent: &str, is_streamed: bool) -> Value {
    json!({ "agent_id": agent, "message": "When does it open?", "stream": is_streamed })
}

/// All faults before the first token, and all faults after it.
fn faults() -> (Vec<Script>, Vec<Script>) {
    let started = || Script::stream().token("It opens");
    let mut half = format!("data: {}", chunk(&json!({"content": "né"}), None)).into_bytes();
    half.truncate(half.iter().position(|byte| *byte == 0xC3).unwrap() + 1);
    let error = json!({"error": {"message": "overloaded", "type": "server_error"}});
    let before = vec![
        Script::hang_up(),
        Script::default().stall(),
        Script::stream().stall(),
        Script::stream(),
        Script::error("429 Too Many Requests", "retry-after: 1\r\n", "slow down sk-verysecret"),
        Script::error("500 Internal Server Error", "", "broken"),
        Script::answer("200 OK", "text/html", "", "<html></html>"),
        Script::stream().event(&error),
    ];
    let within = vec![
        started(),
        started().stall(),
        started().bytes(half),
        started().bytes("data: {\"choices\"\n\n"),
        started().event(&error),
        started().bytes("HTTP/1.1 500 Internal Server Error\r\n\r\n"),
        started().pause(Duration::from_millis(50)).finish("error"),
    ];
    (before, within)
}

#[tokio::test]
async fn a_stream_ends_in_done_or_error_and_nothing_half_is_stored() {
    let upstream = Upstream::start([Script::hang_up()]).await;
    let (server, _folder) = server(&upstream);
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let (before, within) = faults();
    for script in before {
        upstream.follow([script.clone()]);
        let answer = client.post("/v1/conversations", question(&agent, true)).await;
        // The headers of a stream may already have been sent when the upstream fails.
        if answer.status == 200 {
            fails(&Streamed::parse(answer.text()), &script);
        } else {
            answer.refused(503, "model_unavailable");
        }
        assert!(!answer.text().contains("slow down"), "{}", answer.text());
        assert!(conversations(&client, &agent).await.is_empty(), "{script:?}");
    }
    for script in within {
        upstream.follow([script.clone()]);
        let streamed = client.stream(question(&agent, true)).await;
        assert_eq!(streamed.text(), "It opens", "{script:?}");
        fails(&streamed, &script);
        assert!(conversations(&client, &agent).await.is_empty(), "{script:?}");
    }
    assert!(!server.stderr().contains("verysecret"), "no key is logged");
}

#[tokio::test]
async fn a_reply_in_one_piece_fails_as_unavailable() {
    let upstream = Upstream::start([Script::hang_up()]).await;
    let (server, _folder) = server(&upstream);
    let client = server.client();
    let agent = client.agent().await;
    for script in faults().0 {
        upstream.follow([script.clone()]);
        let answer = client.post("/v1/conversations", question(&agent, false)).await;
        answer.refused(503, "model_unavailable");
        assert!(!answer.text().contains("slow down"), "{}", answer.text());
    }
    assert!(conversations(&client, &agent).await.is_empty());
}

#[tokio::test]
async fn citations_become_the_sources_of_the_reply() {
    let reply = ["It opens", " at nine", " [", "1]", "."];
    let upstream = Upstream::start([Script::tokens(&reply)]).await;
    let (server, _folder) = server(&upstream);
    let client = server.client();
    let agent = client.agent().await;
    let source = client.text(&agent, TEXT).await;
    let streamed = client.stream(question(&agent, true)).await;
    assert_eq!(streamed.text(), "It opens at nine.");
    assert_eq!(streamed.done()["sources_used"][0]["id"], source.as_str());
    let conversation = streamed.done()["conversation_id"].as_str().unwrap();

    upstream.follow([Script::whole("On Mondays [1].")]);
    let body = json!({
        "agent_id": agent, "message": "And when is it closed?", "conversation_id": conversation,
    });
    let answer = client.post("/v1/conversations", body).await.expect(200);
    assert_eq!(answer["reply"], "On Mondays.");
    let whole = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    assert_eq!(whole["messages"].as_array().unwrap().len(), 4);
    assert_eq!(whole["messages"][1]["content"], "It opens at nine.");

    let received = upstream.received();
    let sent: Vec<&str> = received[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(sent[1..3], ["When does it open?", "It opens at nine."]);
    assert!(received[0].head.contains("authorization: bearer sk-verysecret"));
}

#[tokio::test]
async fn a_client_that_goes_away_loses_nothing() {
    let pause = Duration::from_millis(300);
    let script = Script::stream().token("It opens").pause(pause).token(" at nine.").finish("stop");
    let upstream = Upstream::start([script.done()]).await;
    let (server, _folder) = server(&upstream);
    let client = server.client();
    let agent = client.agent().await;
    let request = client.request("POST", "/v1/conversations").json(&question(&agent, true));
    let mut opened = request.open().await;
    opened.until("It opens").await;
    drop(opened);
    let stored = awaited("the reply is stored without its reader", async || {
        let stored = conversations(&client, &agent).await;
        if stored.is_empty() { Err("no conversation".to_owned()) } else { Ok(stored) }
    })
    .await;
    let id = stored[0]["id"].as_str().unwrap();
    let whole = client.get(&format!("/v1/conversations/{id}")).await.expect(200);
    assert_eq!(whole["messages"][1]["content"], "It opens at nine.");
}
