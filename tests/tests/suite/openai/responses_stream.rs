//! `POST /v1/responses` with a reply as events.

use cicerone_tests::Server;
use cicerone_tests::sse::{self, Event};
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::{Value, json};

use super::{guide, response, text};
use crate::world::{account, program};

const PATH: &str = "/v1/responses";

/// The events, each named by its type and numbered.
pub(super) fn events(stream: &str) -> Vec<Event> {
    let events = sse::parse(stream);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event.data["type"], event.name.as_str(), "{event:?}");
        assert_eq!(event.data["sequence_number"], number, "{event:?}");
    }
    events
}

/// The data of an event without what all events have.
fn data(event: &Event) -> Value {
    let mut data = event.data.clone();
    let fields = data.as_object_mut().unwrap();
    fields.remove("type");
    fields.remove("sequence_number");
    data
}

#[tokio::test]
async fn a_response_is_created_added_to_and_completed() {
    let client = account();
    let (agent, _) = guide(&client).await;
    let whole = client.post(PATH, response(&agent, json!({}))).await.expect(200);
    let answer = client.post(PATH, response(&agent, json!({ "stream": true }))).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let mut events = events(answer.text());

    let completed = events.pop().unwrap();
    assert_eq!(completed.name, "response.completed");
    let done = &completed.data["response"];
    let item = done["output"][0].clone();
    let part = item["content"][0].clone();
    let mut expected = whole.clone();
    for (path, value) in
        [("/id", &done["id"]), ("/created_at", &done["created_at"]), ("/output/0/id", &item["id"])]
    {
        *expected.pointer_mut(path).unwrap() = value.clone();
    }
    assert_eq!(*done, expected);

    let mut begun = done.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    begun["sources_used"] = json!([]);
    let mut opened = item.clone();
    opened["status"] = json!("in_progress");
    opened["content"] = json!([]);
    let empty = json!({ "type": "output_text", "text": "", "annotations": [], "logprobs": [] });
    let of_text = |fields: Value| {
        super::merged(
            json!({ "item_id": item["id"], "output_index": 0, "content_index": 0 }),
            fields,
        )
    };
    for (name, expected) in [
        ("response.created", json!({ "response": begun })),
        ("response.in_progress", json!({ "response": begun })),
        ("response.output_item.added", json!({ "output_index": 0, "item": opened })),
        ("response.content_part.added", of_text(json!({ "part": empty }))),
    ] {
        let event = events.remove(0);
        assert_eq!((event.name.as_str(), data(&event)), (name, expected));
    }
    let added = json!({ "annotation_index": 0, "annotation": part["annotations"][0] });
    for (name, expected) in [
        ("response.output_item.done", json!({ "output_index": 0, "item": item })),
        ("response.content_part.done", of_text(json!({ "part": part }))),
        ("response.output_text.done", of_text(json!({ "text": part["text"], "logprobs": [] }))),
        ("response.output_text.annotation.added", of_text(added)),
    ] {
        let event = events.pop().unwrap();
        assert_eq!((event.name.as_str(), data(&event)), (name, expected));
    }
    let mut said = String::new();
    for event in events {
        assert_eq!(event.name, "response.output_text.delta");
        let delta = event.data["delta"].as_str().unwrap();
        assert_eq!(data(&event), of_text(json!({ "delta": delta, "logprobs": [] })));
        said.push_str(delta);
    }
    assert_eq!(said, text(&whole));
}

#[tokio::test]
async fn a_repetition_gets_the_same_response_in_one_delta() {
    let client = account();
    let (agent, _) = guide(&client).await;
    let body = response(&agent, json!({ "stream": true }));
    let send = || client.request("POST", PATH).json(&body).idempotent("again").send();
    let (first, again) = (send().await, send().await);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let (first, again) = (events(first.text()), events(again.text()));
    let response = |events: &[Event]| events.last().unwrap().data["response"].clone();
    assert_eq!(response(&again), response(&first));
    assert_eq!(again[0].data, first[0].data);
    let deltas = |events: &[Event]| -> Vec<String> {
        let deltas = events.iter().filter(|event| event.name == "response.output_text.delta");
        deltas.map(|event| event.data["delta"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(deltas(&again), [deltas(&first).concat()]);
}

#[tokio::test]
async fn a_failure_in_a_stream_is_an_error_event() {
    let upstream = Upstream::start([Script::stream().token("It opens")]).await;
    let server = Server::of(&program())
        .env("OPENAI_BASE_URL", upstream.url())
        .env("OPENAI_API_KEY", "sk-test")
        .start();
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let answer = client.post(PATH, response(&agent, json!({ "stream": true }))).await;
    let events = events(answer.text());
    let error = events.last().unwrap();
    assert_eq!(error.name, "error");
    assert_eq!(error.data["code"], "model_unavailable");
    assert_eq!(error.data["param"], Value::Null);
    assert_eq!(error.data["error"]["code"], "model_unavailable");
    assert_eq!(error.data["error"]["message"], error.data["message"]);
    assert_eq!(error.data["error"]["request_id"], answer.request_id());
    assert!(events.iter().all(|event| event.name != "response.completed"));
}
