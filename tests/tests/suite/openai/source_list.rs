//! Lists of sources at the end of chat completions.

use cicerone_tests::Server;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use super::{chat, guide, response, text};
use crate::world::{client, program};

const PATH: &str = "/v1/chat/completions";

fn content(completion: &Value) -> &str {
    completion["choices"][0]["message"]["content"].as_str().unwrap()
}

/// The fragments of a stream, and its annotations.
fn deltas(stream: &str) -> (Vec<String>, Value) {
    let mut annotations = Value::Null;
    let mut fragments = Vec::new();
    for line in stream.lines().filter_map(|line| line.strip_prefix("data: {")) {
        let chunk: Value = serde_json::from_str(&format!("{{{line}")).unwrap();
        let delta = &chunk["choices"][0]["delta"];
        fragments.extend(delta["content"].as_str().map(str::to_owned));
        if !delta["annotations"].is_null() {
            annotations = delta["annotations"].clone();
        }
    }
    (fragments, annotations)
}

#[tokio::test]
async fn a_chat_completion_ends_with_its_sources_if_the_agent_wants_it() {
    let client = client();
    let (agent, _) = guide(&client).await;
    let plain = client.post(PATH, chat(&agent, json!({}))).await.expect(200);
    let path = format!("/v1/agents/{agent}");
    client.patch(&path, json!({ "source_list": true })).await.expect(200);
    let listed = client.post(PATH, chat(&agent, json!({}))).await.expect(200);
    let expected = format!("{}\n\n- Opening hours", content(&plain));
    assert_eq!(content(&listed), expected);

    let streamed = chat(&agent, json!({ "stream": true, "store": true }));
    let send =
        async || client.request("POST", PATH).idempotent("list").json(&streamed).send().await;
    for answer in [send().await, send().await] {
        let (fragments, _) = deltas(answer.text());
        assert_eq!(fragments.concat(), expected);
        assert_eq!(fragments.last().unwrap(), "\n\n- Opening hours", "the list is one delta");
    }
    // Other interfaces, and what is stored, do without it.
    let other = client.post("/v1/responses", response(&agent, json!({}))).await.expect(200);
    assert_eq!(text(&other), content(&plain));
    let list = client.list_all(&format!("{path}/conversations"), 10).await;
    let stored = client.get(&format!("/v1/conversations/{}", id(&list[0]))).await.expect(200);
    assert_eq!(stored["messages"][1]["content"], content(&plain));
    // A refusal has no sources.
    let other = chat(&agent, json!({ "messages": [super::user("Who won the cup of 1954?")] }));
    let refusal = client.post(PATH, other).await.expect(200);
    assert_eq!(refusal["sources_used"], json!([]));
    assert!(!content(&refusal).contains("\n\n- "), "{refusal}");
}

#[tokio::test]
async fn sources_with_an_address_are_links_and_titles_are_escaped() {
    let server =
        Server::of(&program()).env("CICERONE_PUBLIC_URL", "https://museum.example").start();
    let client = server.client();
    let body = json!({ "name": "Guide", "public_sources": true, "source_list": true });
    let agent = id(&client.post("/v1/agents", body).await.expect(201));
    client.text(&agent, "Hours [of] *all*\n\nThe museum opens at nine o'clock.").await;
    for is_streamed in [false, true] {
        let answer = client.post(PATH, chat(&agent, json!({ "stream": is_streamed }))).await;
        let (content, annotations) = if is_streamed {
            let (fragments, annotations) = deltas(answer.text());
            (fragments.concat(), annotations)
        } else {
            let whole = answer.expect(200);
            let annotations = whole["choices"][0]["message"]["annotations"].clone();
            (content(&whole).to_owned(), annotations)
        };
        let url = annotations[0]["url_citation"]["url"].as_str().unwrap();
        let list = format!("\n\n- [Hours \\[of\\] \\*all\\*]({url})");
        assert!(content.ends_with(&list), "{content}");
        let end = content.chars().count();
        assert_eq!(annotations[0]["url_citation"]["start_index"], end, "{annotations}");
    }
}
