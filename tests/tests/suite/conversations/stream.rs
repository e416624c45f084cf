//! `POST /v1/conversations` with a reply as Server-Sent Events.

use cicerone_tests::scenario::cited;
use cicerone_tests::sse::{self, Streamed};
use serde_json::json;

use crate::world::{NO_AGENT, NO_CONVERSATION, client, eventually};

const TEXT: &str = "Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.";
const QUESTION: &str = "When does the museum open?";

#[tokio::test]
async fn the_tokens_add_up_to_the_reply_that_is_stored() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, TEXT).await;
    let body = json!({ "agent_id": agent, "message": QUESTION, "stream": true });
    let streamed = client.stream(body).await;
    assert!(streamed.tokens.len() > 1, "{streamed:?}");
    assert!(streamed.tokens.iter().all(|token| !token.is_empty()), "{streamed:?}");
    assert!(streamed.text().contains("nine o'clock"), "{streamed:?}");
    let done = streamed.done();
    assert_eq!(cited(done), json!([{ "id": source, "title": "Opening hours" }]));
    assert_eq!(done["n"], 2);
    assert_eq!(done.as_object().unwrap().len(), 3, "{done}");
    let conversation = done["conversation_id"].as_str().unwrap();
    let whole = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    assert_eq!(whole["messages"][0]["content"], QUESTION);
    assert_eq!(whole["messages"][1]["content"], streamed.text());
    assert_eq!(whole["messages"][1]["sources_used"], done["sources_used"]);
}

#[tokio::test]
async fn a_stream_says_what_a_reply_in_one_piece_says() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let whole = client.ask(&agent, QUESTION).await;
    let body = json!({ "agent_id": agent, "message": QUESTION, "stream": true });
    let streamed = client.stream(body).await;
    assert_eq!(streamed.text(), whole["reply"]);
    assert_eq!(streamed.done()["sources_used"], whole["sources_used"]);
}

#[tokio::test]
async fn the_headers_keep_a_stream_a_stream() {
    let client = client();
    let agent = client.agent().await;
    let body = json!({ "agent_id": agent, "message": QUESTION, "stream": true });
    let request = client.request("POST", "/v1/conversations").json(&body);
    let answer = request.header("accept-encoding", "gzip, br").send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert!(matches!(answer.header("content-encoding"), None | Some("identity")));
    answer.request_id();
    Streamed::parse(answer.text()).done();
}

#[tokio::test]
async fn each_event_is_two_lines_and_a_blank_one() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "Zwölf \"Räume\"\n\nDas Museum hat zwölf \"Räume\" \\ und 🦀.").await;
    let body =
        json!({ "agent_id": agent, "message": "Wie viele Räume hat das Museum?", "stream": true });
    let answer = client.post("/v1/conversations", body).await;
    let stream = answer.text();
    let mut rebuilt = String::new();
    for event in sse::parse(stream) {
        rebuilt.push_str(&format!("event: {}\ndata: {}\n\n", event.name, event.data));
    }
    let comments = stream.split_inclusive("\n\n").filter(|block| block.starts_with(':'));
    let without: String =
        stream.split_inclusive("\n\n").filter(|block| !block.starts_with(':')).collect();
    assert!(comments.count() <= 1, "{stream}");
    assert_eq!(without.len(), rebuilt.len(), "{stream}");
    assert!(Streamed::parse(stream).text().contains("zwölf \"Räume\" \\ und 🦀"), "{stream}");
}

#[tokio::test]
async fn a_stream_continues_a_conversation() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let conversation = client.ask(&agent, QUESTION).await["id"].clone();
    let body = json!({
        "agent_id": agent, "conversation_id": conversation, "message": "And on Mondays?",
        "stream": true,
    });
    assert_eq!(client.stream(body).await.done()["conversation_id"], conversation);
    let path = format!("/v1/conversations/{}", conversation.as_str().unwrap());
    let whole = client.get(&path).await.expect(200);
    assert_eq!(whole["messages"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn what_can_be_refused_is_refused_in_plain_json() {
    let client = client();
    let (agent, other) = (client.agent().await, client.agent().await);
    let foreign = client.ask(&other, "Hello there").await["id"].clone();
    let paused = client.agent().await;
    client.patch(&format!("/v1/agents/{paused}"), json!({ "status": "paused" })).await.expect(200);
    let cases = [
        (400, "missing_required_field", json!({ "agent_id": agent })),
        (400, "invalid_parameter", json!({ "agent_id": agent, "message": "" })),
        (404, "resource_not_found", json!({ "agent_id": NO_AGENT, "message": "Hello" })),
        (
            404,
            "resource_not_found",
            json!({ "agent_id": agent, "message": "Hello", "conversation_id": NO_CONVERSATION }),
        ),
        (
            409,
            "conflict",
            json!({ "agent_id": agent, "message": "Hello", "conversation_id": foreign }),
        ),
        (409, "conflict", json!({ "agent_id": paused, "message": "Hello" })),
    ];
    for (status, code, mut body) in cases {
        body["stream"] = json!(true);
        client.post("/v1/conversations", body).await.refused(status, code);
    }
}

#[tokio::test]
async fn a_reply_whose_reader_went_away_is_stored_all_the_same() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    for _ in 0..10 {
        let body = json!({ "agent_id": agent, "message": QUESTION, "stream": true });
        let request = client.request("POST", "/v1/conversations").json(&body);
        let opened = request.open().await;
        assert_eq!(opened.status, 200);
        drop(opened);
    }
    let path = format!("/v1/agents/{agent}/conversations");
    eventually("all replies are stored", async || {
        client.get(&path).await.expect(200)["data"].as_array().unwrap().len() == 10
    })
    .await;
    for conversation in client.list_all(&path, 100).await {
        let path = format!("/v1/conversations/{}", conversation["id"].as_str().unwrap());
        let whole = client.get(&path).await.expect(200);
        let messages = whole["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2);
        assert!(messages[1]["content"].as_str().unwrap().contains("nine o'clock"), "{whole}");
    }
}
