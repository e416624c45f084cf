//! `Idempotency-Key`: the same request with the same key has one effect and one answer.

use std::collections::BTreeSet;

use cicerone_tests::scenario::id;
use cicerone_tests::sse::Streamed;
use cicerone_tests::{Answer, Client};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::routes::{Names, ROUTES, shown_again};
use crate::world::{NO_SOURCE, account, client, server};

/// Identical requests at once.
const REQUESTS: usize = 64;
/// Rounds of identical requests; `cargo trial idempotency` runs more.
const ROUNDS: usize = 4;

pub(crate) async fn send(client: &Client, path: &str, body: &Value, key: &str) -> Answer {
    client.request("POST", path).json(body).idempotent(key).send().await
}

pub(crate) fn replayed(answer: &Answer) -> bool {
    match answer.header("idempotent-replayed") {
        None => false,
        Some(value) => {
            assert_eq!(value, "true");
            true
        }
    }
}

#[tokio::test]
async fn on_every_write_a_repetition_gets_the_answer_of_before() {
    let client = account();
    for route in ROUTES.iter().filter(|route| route.writes()) {
        let names = Names::of_new(&client).await;
        let key = route.name().replace(' ', "-");
        let first = route.request(&client, &names).idempotent(&key).send().await;
        assert!(first.status < 300, "{}: {}", route.name(), first.text());
        assert!(!replayed(&first), "{}", route.name());
        for _ in 0..2 {
            let again = route.request(&client, &names).idempotent(&key).send().await;
            assert!(replayed(&again), "{}: {}", route.name(), again.text());
            assert_eq!(again.status, first.status, "{}", route.name());
            assert_eq!(shown_again(&again), shown_again(&first), "{}", route.name());
            assert_eq!(again.header("content-type"), first.header("content-type"));
            assert_ne!(again.request_id(), first.request_id(), "the request id is new");
        }
    }
}

#[tokio::test]
async fn a_repetition_creates_nothing() {
    let client = account();
    let body = json!({ "name": "Guide" });
    let first = send(&client, "/v1/agents", &body, "one").await.expect(201);
    let again = send(&client, "/v1/agents", &body, "one").await.expect(201);
    assert_eq!(first, again);
    let page = client.get("/v1/agents").await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn requests_without_a_key_are_never_the_same() {
    let client = account();
    let body = json!({ "name": "Guide" });
    let first = id(&client.post("/v1/agents", body.clone()).await.expect(201));
    let second = id(&client.post("/v1/agents", body).await.expect(201));
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_key_cannot_be_used_for_another_request() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}");
    let change = |name: &str| json!({ "name": name });
    let key = format!("key-of-{agent}");
    let send = |method: &str, path: &str, body: &Value| {
        client.request(method, path).json(body).idempotent(&key).send()
    };
    send("PATCH", &path, &change("First")).await.expect(200);
    let other = [
        send("PATCH", &path, &change("Second")),
        send("POST", "/v1/agents", &change("First")),
        send("PATCH", &format!("{path}?x=1"), &change("First")),
        send("DELETE", &path, &change("First")),
    ];
    for answer in join_all(other).await {
        answer.refused(422, "idempotency_key_reused");
    }
    let found = client.get(&path).await.expect(200);
    assert_eq!(found["name"], "First");
}

#[tokio::test]
async fn keys_of_1_to_255_visible_characters_are_taken() {
    let body = json!({ "name": "Guide" });
    let unique = id(&client().post("/v1/agents", body.clone()).await.expect(201));
    let longest = format!("{unique}{}", "~".repeat(255 - unique.len()));
    send(&client(), "/v1/agents", &body, &longest).await.expect(201);
    send(&account(), "/v1/agents", &body, "!").await.expect(201);
}

#[tokio::test]
async fn other_keys_are_refused() {
    let body = json!({ "name": "Guide" });
    let keys = [
        "".to_owned(),
        "x".repeat(256),
        "two words".to_owned(),
        "tab\tbed".to_owned(),
        "schlüssel".to_owned(),
    ];
    for key in keys {
        let answer = send(&client(), "/v1/agents", &body, &key).await;
        assert_eq!(answer.status, 400, "`{key}` was answered {}", answer.text());
        answer.refuses(400, "invalid_parameter", "Idempotency-Key");
    }
}

#[tokio::test]
async fn a_key_on_a_read_does_nothing() {
    let client = account();
    for _ in 0..2 {
        let answer = client.request("GET", "/v1/agents").idempotent("read").send().await;
        answer.expect(200);
        assert!(!replayed(&answer));
    }
    send(&client, "/v1/agents", &json!({ "name": "Guide" }), "read").await.expect(201);
}

#[tokio::test]
async fn a_refused_value_gives_the_key_back() {
    let client = account();
    send(&client, "/v1/agents", &json!({ "name": "" }), "one")
        .await
        .refused(400, "invalid_parameter");
    send(&client, "/v1/agents", &json!({}), "one").await.refused(400, "missing_required_field");
    let request = client.request("POST", "/v1/agents").raw("application/json", "{");
    request.idempotent("one").send().await.refused(400, "invalid_parameter");
    let created = send(&client, "/v1/agents", &json!({ "name": "Guide" }), "one").await;
    assert!(!replayed(&created));
    created.expect(201);
}

#[tokio::test]
async fn an_operation_that_does_not_fit_gives_the_key_back() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum.").await;
    let path = format!("/v1/sources/{source}/refresh");
    for _ in 0..2 {
        let answer = client.request("POST", &path).idempotent(&source).send().await;
        assert!(!replayed(&answer));
        answer.refused(400, "invalid_operation");
    }
}

#[tokio::test]
async fn a_missing_permission_or_key_gives_the_key_back() {
    let client = client();
    let reader = server().client_with(&["agents:read"]);
    let body = json!({ "name": "Guide" });
    let unique = client.agent().await;
    send(&reader, "/v1/agents", &body, &unique).await.refused(403, "forbidden");
    send(&client.anonymous(), "/v1/agents", &body, &unique).await.refused(401, "unauthorized");
    let created = send(&client, "/v1/agents", &body, &unique).await;
    assert!(!replayed(&created));
    created.expect(201);
}

#[tokio::test]
async fn what_was_carried_out_and_refused_is_kept() {
    let client = account();
    let (one, other) = (client.agent().await, client.agent().await);
    let conversation = client.ask(&one, "Hello there").await["id"].clone();
    let sources = format!("/v1/agents/{one}/sources");
    let cases = [
        (404, "/v1/agents/agent_0000000000/sources", json!({ "type": "text", "content": "x" })),
        (
            409,
            "/v1/conversations",
            json!({ "agent_id": other, "conversation_id": conversation, "message": "Hello" }),
        ),
        (422, &sources, json!({ "type": "text", "content": "" })),
        (422, &sources, json!({ "type": "qa", "content": "[]" })),
    ];
    for (number, (status, path, body)) in cases.iter().enumerate() {
        let key = format!("kept-{number}");
        let first = send(&client, path, body, &key).await;
        assert_eq!(first.status, *status, "{}", first.text());
        assert!(!replayed(&first));
        let again = send(&client, path, body, &key).await;
        assert!(replayed(&again), "{status}: {}", again.text());
        assert_eq!(again.status, *status);
        assert_eq!(again.json()["error"]["message"], first.json()["error"]["message"]);
    }
    let path = format!("/v1/sources/{NO_SOURCE}");
    for round in 0..2 {
        let answer = client.request("DELETE", &path).idempotent("kept-delete").send().await;
        answer.refused(404, "resource_not_found");
        assert_eq!(replayed(&answer), round == 1);
    }
}

#[tokio::test]
async fn a_stream_is_replayed_as_events_of_the_same_text() {
    let client = account();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    let body =
        json!({ "agent_id": agent, "message": "When does the museum open?", "stream": true });
    let first = send(&client, "/v1/conversations", &body, "stream").await;
    let again = send(&client, "/v1/conversations", &body, "stream").await;
    assert!(!replayed(&first) && replayed(&again));
    assert_eq!(again.header("content-type"), Some("text/event-stream"));
    let (first, again) = (Streamed::parse(first.text()), Streamed::parse(again.text()));
    assert_eq!(again.text(), first.text());
    assert_eq!(again.done(), first.done());
    let page = client.get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    // The same message without streaming is another request.
    let mut piece = body.clone();
    piece["stream"] = json!(false);
    let answer = send(&client, "/v1/conversations", &piece, "stream").await;
    answer.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn an_upload_is_the_same_where_its_bytes_are() {
    let client = account();
    let upload = |bytes: &'static str| {
        let request = client.request("POST", "/v1/files").file("hours.txt", bytes.into());
        request.idempotent("upload").send()
    };
    let first = upload("The museum opens at nine.").await;
    let again = upload("The museum opens at nine.").await;
    assert!(replayed(&again));
    assert_eq!(first.expect(201), again.expect(201));
    upload("The museum opens at ten.").await.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn deleting_a_thing_erases_the_answers_that_contain_it() {
    let client = account();
    let agent = client.agent().await;
    let sources = format!("/v1/agents/{agent}/sources");
    let text = json!({ "type": "text", "content": "A secret of the museum." });
    let message = json!({ "agent_id": agent, "message": "Hello there" });
    let source = id(&send(&client, &sources, &text, "source").await.expect(201));
    let conversation =
        id(&send(&client, "/v1/conversations", &message, "message").await.expect(200));
    let cases = [
        (format!("/v1/sources/{source}"), sources, text, "source"),
        (
            format!("/v1/conversations/{conversation}"),
            "/v1/conversations".to_owned(),
            message,
            "message",
        ),
    ];
    for (path, created_at, body, key) in cases {
        client.delete(&path).await.expect_nothing();
        send(&client, &created_at, &body, key).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn deleting_an_agent_erases_the_answers_of_all_that_it_had() {
    let client = account();
    let body = json!({ "name": "Guide" });
    let agent = id(&send(&client, "/v1/agents", &body, "agent").await.expect(201));
    let message = json!({ "agent_id": agent, "message": "Hello there" });
    send(&client, "/v1/conversations", &message, "message").await.expect(200);
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    send(&client, "/v1/agents", &body, "agent").await.refused(404, "resource_not_found");
    send(&client, "/v1/conversations", &message, "message")
        .await
        .refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_deletion_is_replayed_as_a_deletion() {
    let client = account();
    let path = format!("/v1/agents/{}", client.agent().await);
    for round in 0..2 {
        let answer = client.request("DELETE", &path).idempotent("gone").send().await;
        answer.expect_nothing();
        assert_eq!(replayed(&answer), round == 1);
    }
}

/// Sends identical requests at the same time, checks that they agree, and returns the answers other
/// than 409.
async fn at_once(client: &Client, path: &str, body: &Value, key: &str) -> Vec<Answer> {
    let requests = (0..REQUESTS).map(|_| send(client, path, body, key));
    let mut answers = join_all(requests).await;
    answers.retain(|answer| {
        if answer.status == 409 {
            answer.refused(409, "conflict");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        answer.status != 409
    });
    let originals = answers.iter().filter(|answer| !replayed(answer)).count();
    assert_eq!(originals, 1, "one request is carried out");
    answers
}

#[tokio::test]
async fn of_identical_requests_at_once_one_creates() {
    let client = account();
    for round in 0..ROUNDS {
        let body = json!({ "name": format!("Guide {round}") });
        let answers = at_once(&client, "/v1/agents", &body, &format!("round-{round}")).await;
        let bodies: BTreeSet<_> = answers.iter().map(|answer| answer.text()).collect();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        let page = client.get("/v1/agents").await.expect(200);
        assert_eq!(page["data"].as_array().unwrap().len(), round + 1);
    }
}

#[tokio::test]
async fn of_identical_messages_at_once_one_is_answered() {
    let client = account();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    let path = format!("/v1/agents/{agent}/conversations");
    for round in 0..ROUNDS {
        let stream = round % 2 == 1;
        let body =
            json!({ "agent_id": agent, "message": "When does the museum open?", "stream": stream });
        let answers = at_once(&client, "/v1/conversations", &body, &format!("round-{round}")).await;
        let replies: BTreeSet<_> = answers
            .iter()
            .map(|answer| match stream {
                true => {
                    let streamed = Streamed::parse(answer.text());
                    format!("{} {}", streamed.text(), streamed.done())
                }
                false => answer.text().to_owned(),
            })
            .collect();
        assert_eq!(replies.len(), 1, "{replies:?}");
        let page = client.get(&path).await.expect(200);
        assert_eq!(page["data"].as_array().unwrap().len(), round + 1);
    }
}

#[tokio::test]
async fn of_identical_sources_and_uploads_at_once_one_is_added() {
    let client = account();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/sources");
    let body = json!({ "type": "text", "content": "The museum opens at nine." });
    at_once(&client, &path, &body, "source").await;
    let page = client.get(&path).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);

    // No more than the server accepts at the same time.
    let uploads = (0..24).map(|_| {
        let request = client.request("POST", "/v1/files").file("a.txt", b"The museum.".to_vec());
        request.idempotent("upload").send()
    });
    let answers = join_all(uploads).await;
    let created: BTreeSet<_> =
        answers.iter().filter(|answer| answer.status == 201).map(|answer| answer.text()).collect();
    assert_eq!(created.len(), 1, "{created:?}");
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 409)));
}

#[tokio::test]
async fn a_refusal_of_a_stream_is_repeated_as_it_was() {
    let client = client();
    let body = json!({ "agent_id": crate::world::NO_AGENT, "message": "Hello", "stream": true });
    let key = format!("stream-{}", client.agent().await);
    let first = send(&client, "/v1/conversations", &body, &key).await;
    first.refused(404, "resource_not_found");
    let again = send(&client, "/v1/conversations", &body, &key).await;
    again.refused(404, "resource_not_found");
    assert!(replayed(&again) && !replayed(&first));
    assert_eq!(
        (again.body.clone(), again.header("content-type")),
        (first.body.clone(), first.header("content-type"))
    );
}

#[tokio::test]
async fn two_keys_on_one_request_are_refused() {
    let request = client().request("POST", "/v1/agents").json(&json!({ "name": "Guide" }));
    let answer = request.idempotent("one").idempotent("two").send().await;
    answer.refuses(400, "invalid_parameter", "Idempotency-Key");
}

#[tokio::test]
async fn that_nothing_can_have_an_id_is_kept_like_any_refusal() {
    let client = client();
    let key = format!("nobody-{}", client.agent().await);
    let delete = |path: &'static str| client.request("DELETE", path).idempotent(&key).send();
    let first = delete("/v1/agents/nobody").await;
    first.refused(404, "resource_not_found");
    let again = delete("/v1/agents/nobody").await;
    assert!(replayed(&again));
    assert_eq!(again.body, first.body);
    delete("/v1/agents/somebody").await.refused(422, "idempotency_key_reused");
}

#[tokio::test]
async fn that_nothing_can_have_an_id_in_a_body_is_kept_too() {
    let client = client();
    let agent = client.agent().await;
    let message = |agent: &str| json!({ "agent_id": agent, "message": "Hello" });
    let elsewhere = json!({ "agent_id": agent, "conversation_id": "conv_1", "message": "Hello" });
    let completion = |is_streamed: bool| {
        let messages = json!([{ "role": "user", "content": "Hello" }]);
        json!({ "model": "gpt-4o", "messages": messages, "stream": is_streamed })
    };
    let response = |previous: Option<&str>| {
        let model = previous.map_or("gpt-4o", |_| agent.as_str());
        json!({ "model": model, "input": "Hello", "previous_response_id": previous })
    };
    for (number, (path, body)) in [
        ("/v1/conversations", message("zz")),
        ("/v1/conversations", elsewhere),
        ("/v1/chat/completions", completion(false)),
        ("/v1/chat/completions", completion(true)),
        ("/v1/responses", response(None)),
        ("/v1/responses", response(Some("resp_1"))),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("body-{number}-{agent}");
        let first = send(&client, path, &body, &key).await;
        first.refused(404, "resource_not_found");
        let again = send(&client, path, &body, &key).await;
        again.refused(404, "resource_not_found");
        assert!(replayed(&again) && !replayed(&first), "{body}");
        assert_eq!(again.body, first.body);
        let other = send(&client, "/v1/conversations", &message("zzz"), &key).await;
        other.refused(422, "idempotency_key_reused");
        let request = client.request("POST", path).json(&body).idempotent("a b");
        request.send().await.refuses(400, "invalid_parameter", "Idempotency-Key");
    }
}
