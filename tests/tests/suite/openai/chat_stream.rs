//! `POST /v1/chat/completions` with a reply as events.

use std::time::Duration;

use cicerone_tests::Server;
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::{Value, json};

use super::{chat, conversations, counted, guide, is_long_id};
use crate::world::{account, client, eventually, program};

const PATH: &str = "/v1/chat/completions";

/// The chunks of a stream that `[DONE]` ends, read as strictly as they are written.
pub(super) fn chunks(stream: &str) -> Vec<Value> {
    let body = stream.strip_suffix("data: [DONE]\n\n").unwrap_or_else(|| panic!("{stream}"));
    blocks(body)
}

/// The data of events without names.
fn blocks(body: &str) -> Vec<Value> {
    let blocks = body.split_inclusive("\n\n").filter(|block| !block.starts_with(':'));
    blocks
        .map(|block| {
            let data = block.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n"));
            serde_json::from_str(data.unwrap_or_else(|| panic!("{block:?}"))).unwrap()
        })
        .collect()
}

#[tokio::test]
async fn a_reply_is_a_role_fragments_citations_an_end_and_its_usage() {
    let client = account();
    let (agent, source) = guide(&client).await;
    let whole = client.post(PATH, chat(&agent, json!({}))).await.expect(200);
    for includes_usage in [false, true] {
        let options =
            json!({ "stream": true, "stream_options": { "include_usage": includes_usage } });
        let answer = client.post(PATH, chat(&agent, options)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
        let mut events = chunks(answer.text());
        let (id, created) = (events[0]["id"].clone(), events[0]["created"].clone());
        assert!(is_long_id(&id, "chatcmpl-"), "{id}");
        let frame = |delta: Value, finish: Value| {
            let choice =
                json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
            let mut chunk = json!({
                "id": id, "object": "chat.completion.chunk", "created": created, "model": agent,
                "choices": [choice],
            });
            if includes_usage {
                chunk["usage"] = Value::Null;
            }
            chunk
        };
        assert_eq!(
            events.remove(0),
            frame(json!({ "role": "assistant", "content": "" }), Value::Null)
        );
        if includes_usage {
            let usage = events.pop().unwrap();
            assert_eq!(usage["choices"], json!([]));
            let none = json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 });
            assert_eq!(usage["usage"], none);
        }
        assert_eq!(events.pop().unwrap(), frame(json!({}), json!("stop")));
        let cited = events.pop().unwrap();
        assert_eq!(cited["sources_used"][0]["id"], source.as_str());
        let annotations = &whole["choices"][0]["message"]["annotations"];
        let mut expected = frame(json!({ "annotations": annotations }), Value::Null);
        expected["sources_used"] = whole["sources_used"].clone();
        assert_eq!(cited, expected);
        let mut text = String::new();
        for event in events {
            let content = event["choices"][0]["delta"]["content"].as_str().unwrap().to_owned();
            assert_eq!(event, frame(json!({ "content": content }), Value::Null));
            text.push_str(&content);
        }
        assert_eq!(text, whole["choices"][0]["message"]["content"]);
    }
    assert_eq!(conversations(&client, &agent).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_reply_without_citations_has_no_event_for_them() {
    let client = client();
    let agent = client.agent().await;
    let answer = client.post(PATH, chat(&agent, json!({ "stream": true }))).await;
    let events = chunks(answer.text());
    assert!(events.iter().all(|event| event.get("sources_used").is_none()), "{events:?}");
    let deltas = events.iter().map(|event| &event["choices"][0]["delta"]);
    assert!(deltas.clone().all(|delta| delta.get("annotations").is_none()), "{events:?}");
}

/// A server whose replies come from `upstream`.
fn server(upstream: &Upstream) -> Server {
    Server::of(&program())
        .env("OPENAI_BASE_URL", upstream.url())
        .env("OPENAI_API_KEY", "sk-test")
        .start()
}

#[tokio::test]
async fn the_upstream_gets_the_history_the_bound_and_no_instructions_of_the_client() {
    let upstream = Upstream::start([Script::whole("At nine [1].")]).await;
    let server = server(&upstream);
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let body = json!({
        "model": agent, "max_tokens": 70, "max_completion_tokens": 50,
        "messages": [
            { "role": "system", "content": "PIRATE" },
            { "role": "user", "content": "Hello" },
            { "role": "assistant", "content": "Good day" },
            { "role": "developer", "content": "PIRATE" },
            { "role": "user", "content": "When does the museum open?" },
        ],
    });
    let reply = client.post(PATH, body).await.expect(200);
    assert_eq!(reply["choices"][0]["message"]["content"], "At nine.");
    let usage = json!({ "prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29 });
    assert_eq!(reply["usage"], usage);
    let received = upstream.received();
    let body = &received[0].body;
    assert!(!body.to_string().contains("PIRATE"), "{body}");
    let said: Vec<_> = body["messages"].as_array().unwrap().iter().collect();
    assert_eq!((&said[1]["content"], &said[2]["content"]), (&json!("Hello"), &json!("Good day")));
    let bound = body.get("max_completion_tokens").or(body.get("max_tokens")).unwrap();
    assert_eq!(*bound, json!(50), "{body}");
}

#[tokio::test]
async fn a_failure_in_a_stream_is_an_error_object_and_no_end() {
    let script = Script::stream().token("It opens");
    let upstream = Upstream::start([script.clone()]).await;
    let server = server(&upstream);
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let answer = client.post(PATH, chat(&agent, json!({ "stream": true }))).await;
    let mut events = blocks(answer.text());
    let error = events.pop().unwrap()["error"].clone();
    assert_eq!(
        (&error["code"], &error["type"]),
        (&json!("model_unavailable"), &json!("api_error"))
    );
    assert_eq!(error["request_id"], answer.request_id());
    assert_eq!(events[1]["choices"][0]["delta"]["content"], "It opens");
    assert!(!answer.text().contains("[DONE]"));
    assert_eq!(counted(&client).await, 0);
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_is_counted_and_nothing_is_stored() {
    let pause = Duration::from_millis(300);
    let script = Script::stream().token("It opens").pause(pause).token(" at nine.").finish("stop");
    let upstream = Upstream::start([script.done()]).await;
    let server = server(&upstream);
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let body = chat(&agent, json!({ "stream": true }));
    let mut opened = client.request("POST", PATH).json(&body).idempotent("left").open().await;
    opened.until("It opens").await;
    drop(opened);
    eventually("the reply is counted", async || counted(&client).await == 1).await;
    assert_eq!(conversations(&client, &agent).await, [] as [Value; 0]);
    let again = client.request("POST", PATH).json(&body).idempotent("left").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let events = chunks(again.text());
    assert_eq!(events[1]["choices"][0]["delta"]["content"], "It opens at nine.");
    assert_eq!(upstream.received().len(), 1);
}

#[tokio::test]
async fn an_agent_that_is_deleted_meanwhile_gets_no_end() {
    let pause = Duration::from_millis(500);
    let script = Script::stream().token("It opens").pause(pause).token(" at nine.").finish("stop");
    let upstream = Upstream::start([script.done()]).await;
    let server = server(&upstream);
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let body = chat(&agent, json!({ "stream": true }));
    let mut opened = client.request("POST", PATH).json(&body).open().await;
    opened.until("It opens").await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    let rest = opened.until("error").await;
    assert!(rest.contains("resource_not_found") && !rest.contains("[DONE]"), "{rest}");
}
