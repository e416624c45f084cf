//! The requests that endpoints receive: payloads, signatures and repetitions. Nothing is sent to
//! addresses that are not allowed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cicerone_tests::receiver::{Reaction, Received, Receiver};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::{delivery, made_for, path, sending};

/// Whether the reference library accepts a request as signed with `secret`.
pub(crate) fn verifies(sent: &Received, secret: &Value) -> bool {
    let webhook = Webhook::new(secret.as_str().unwrap()).unwrap();
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, sent.header(name).parse().unwrap());
    }
    webhook.verify(&sent.body, &headers).is_ok()
}

#[tokio::test]
async fn a_trained_and_a_failed_source_are_told_of() {
    let server = sending(&[]);
    let client = server.client();
    let receiver = Receiver::start().await;
    let endpoint = made_for(&client, &receiver).await;
    let agent = client.agent().await;
    let text = "The museum opens at nine. 🦀";
    let trained = client.text(&agent, text).await;
    let sent = receiver.wait_for(1).await.remove(0);
    assert_eq!(sent.path, "/hook");
    assert_eq!(sent.header("content-type"), "application/json");
    let agent_header = sent.header("user-agent");
    assert!(agent_header.starts_with("Cicerone/"), "{agent_header}");
    assert!(sent.header("webhook-id").starts_with("evt_"));
    assert!(verifies(&sent, &endpoint["secret"]));
    let source = client.get(&format!("/v1/sources/{trained}")).await.expect(200);
    let body = sent.json();
    let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["created_at", "data", "event"]);
    assert_eq!(body["event"], "source.trained");
    assert_eq!(
        body["data"],
        json!({
            "id": trained, "type": "text", "content": text, "status": "trained",
            "character_count": source["character_count"], "agent_id": agent,
            "created_at": source["created_at"],
        })
    );

    let failed = client.source(&agent, "website", "http://127.0.0.1:9/").await;
    client.failed(&failed).await;
    let sent = receiver.wait_for(2).await.remove(1);
    assert!(verifies(&sent, &endpoint["secret"]));
    let source = client.get(&format!("/v1/sources/{failed}")).await.expect(200);
    let body = sent.json();
    assert_eq!(body["event"], "source.failed");
    assert_eq!(
        body["data"],
        json!({
            "id": failed, "type": "website", "content": "http://127.0.0.1:9/", "status": "failed",
            "character_count": null, "agent_id": agent, "created_at": source["created_at"],
            "error_message": source["error_message"],
        })
    );
}

#[tokio::test]
async fn an_endpoint_takes_the_events_that_it_names_and_thin_is_without_content() {
    let server = sending(&[]);
    let client = server.client();
    let (failures, thin) = (Receiver::start().await, Receiver::start().await);
    let body = json!({ "url": failures.url(), "events": ["source.failed"] });
    client.post("/v1/webhook_endpoints", body).await.expect(201);
    let body = json!({ "url": thin.url(), "payload": "thin" });
    let endpoint = client.post("/v1/webhook_endpoints", body).await.expect(201);
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let failed = client.source(&agent, "website", "http://127.0.0.1:9/").await;
    client.failed(&failed).await;
    for sent in thin.wait_for(2).await {
        assert!(verifies(&sent, &endpoint["secret"]));
        let data = sent.json()["data"].clone();
        assert!(data.get("content").is_none() && data["id"].is_string(), "{data}");
    }
    let told = failures.wait_for(1).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].json()["data"]["id"], failed.as_str());
}

#[tokio::test]
async fn during_a_rotation_both_secrets_sign() {
    let server = sending(&[]);
    let client = server.client();
    let receiver = Receiver::start().await;
    let endpoint = made_for(&client, &receiver).await;
    let test = format!("{}/test", path(&endpoint));
    client.post_nothing(&test).await.expect(202);
    let rotate = format!("{}/rotate_secret", path(&endpoint));
    receiver.wait_for(1).await;
    let rotated = client.post_nothing(&rotate).await.expect(200);
    client.post_nothing(&test).await.expect(202);
    let sent = receiver.wait_for(2).await;
    let (old, new) = (&endpoint["secret"], &rotated["secret"]);
    assert!(verifies(&sent[0], old) && !verifies(&sent[0], new));
    assert!(verifies(&sent[1], old) && verifies(&sent[1], new));
    assert_eq!(sent[1].header("webhook-signature").split(' ').count(), 2);
}

#[tokio::test]
async fn what_fails_is_sent_again_until_it_is_taken() {
    let server = sending(&[1, 1, 1, 1]);
    let client = server.client();
    let receiver = Receiver::reacting(|_, before| match before {
        0 => Reaction::status(500),
        1 => Reaction::Cut,
        // The redirect is not followed.
        2 => Reaction::Answer(302, "location: /elsewhere\r\n".to_owned()),
        _ => Reaction::status(200),
    })
    .await;
    let endpoint = made_for(&client, &receiver).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    let sent = receiver.wait_for(4).await;
    for one in &sent {
        assert_eq!(one.path, "/hook");
        assert_eq!(one.header("webhook-id"), sent[0].header("webhook-id"));
        assert_eq!(one.body, sent[0].body);
        assert!(verifies(one, &endpoint["secret"]));
    }
    let done = delivery(&client, &endpoint, |one| one["status"] == "succeeded").await;
    let statuses: Vec<&Value> =
        done["attempts"].as_array().unwrap().iter().map(|one| &one["http_status"]).collect();
    assert_eq!(statuses, [&json!(500), &Value::Null, &json!(302), &json!(200)]);
    for pair in sent.windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(800), "the pause is kept");
    }
}

#[tokio::test]
async fn after_the_last_pause_a_delivery_is_given_up() {
    let server = sending(&[1]);
    let client = server.client();
    let receiver = Receiver::reacting(|_, _| Reaction::status(503)).await;
    let endpoint = made_for(&client, &receiver).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    let failed = delivery(&client, &endpoint, |one| one["status"] == "failed").await;
    assert_eq!(failed["attempts"].as_array().unwrap().len(), 2);
    assert!(failed["next_attempt_at"].is_null());
    assert_eq!(client.get(&path(&endpoint)).await.expect(200)["status"], "enabled");
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    let server = sending(&[1, 1]);
    let client = server.client();
    let receiver = Receiver::reacting(|_, before| match before {
        0 => Reaction::Answer(429, "retry-after: 3\r\n".to_owned()),
        _ => Reaction::status(200),
    })
    .await;
    let endpoint = made_for(&client, &receiver).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    let sent = receiver.wait_for(2).await;
    let pause = sent[1].at - sent[0].at;
    assert!(pause >= Duration::from_millis(2_900), "{pause:?}");
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_disabled() {
    let server = sending(&[1, 1]);
    let client = server.client();
    let receiver = Receiver::reacting(|_, _| Reaction::status(410)).await;
    let endpoint = made_for(&client, &receiver).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    let failed = delivery(&client, &endpoint, |one| one["status"] == "failed").await;
    assert_eq!(failed["attempts"].as_array().unwrap().len(), 1);
    let endpoint = client.get(&path(&endpoint)).await.expect(200);
    assert_eq!(endpoint["status"], "disabled");
    assert!(endpoint["disabled_reason"].as_str().unwrap().contains("410"), "{endpoint}");
    let enabled = client.patch(&path(&endpoint), json!({ "status": "enabled" })).await.expect(200);
    assert_eq!(enabled["disabled_reason"], Value::Null);
}

#[tokio::test]
async fn endpoints_that_never_answer_delay_no_other() {
    let server = sending(&[1, 1, 1]);
    let client = server.client();
    let silent = Receiver::reacting(|_, _| Reaction::Silence).await;
    for _ in 0..9 {
        made_for(&client, &silent).await;
    }
    let healthy = Receiver::start().await;
    made_for(&client, &healthy).await;
    let agent = client.agent().await;
    for round in 1..=8 {
        client.source(&agent, "text", &format!("Room {round} is open.")).await;
        let began = Instant::now();
        healthy.wait_for(round).await;
        assert!(began.elapsed() < Duration::from_secs(5), "silent endpoints delay others");
    }
    assert!(silent.received().len() <= 9, "a doubtful endpoint has one attempt");
    // A new endpoint does not wait behind the deliveries to endpoints that do not answer.
    let other = server.account("other");
    let new = Receiver::start().await;
    let endpoint = made_for(&other, &new).await;
    other.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    let began = Instant::now();
    new.wait_for(1).await;
    assert!(began.elapsed() < Duration::from_secs(5), "silent endpoints delay others");
}

/// Accepts requests, and reads nothing of them beyond the head. Counts those with a body of more than a megabyte.
async fn receiver_of_heads() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let large = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&large);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut head = [0; 1_024];
                let read = stream.read(&mut head).await.unwrap();
                let head = String::from_utf8_lossy(&head[..read]).to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap();
                let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
                count.fetch_add(usize::from(length > 1_000_000), Ordering::Relaxed);
                tokio::time::sleep(Duration::from_secs(600)).await;
            });
        }
    });
    (url, large)
}

#[tokio::test]
async fn large_events_that_nobody_reads_take_bounded_memory_and_delay_no_other_account() {
    let server = sending(&[600]);
    let (flood, other) = (server.client(), server.account("other"));
    let (url, large) = receiver_of_heads().await;
    for _ in 0..10 {
        let body = json!({ "url": url });
        flood.post("/v1/webhook_endpoints", body).await.expect(201);
    }
    // An event has 4 MB.
    let pairs = [("Where?", &*"By the harbour. ".repeat(250_000))];
    let agent = flood.agent().await;
    flood.qa(&agent, &pairs).await;
    let deadline = Instant::now() + Duration::from_secs(30);
    while large.load(Ordering::Relaxed) < 3 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let receiver = Receiver::start().await;
    made_for(&other, &receiver).await;
    let began = Instant::now();
    other.text(&other.agent().await, "The museum opens at nine.").await;
    receiver.wait_for(1).await;
    assert!(began.elapsed() < Duration::from_secs(10), "large events delay others");
    let large = large.load(Ordering::Relaxed);
    assert!((3..=6).contains(&large), "{large} bodies of 4 MB in 24 MiB");
}

#[tokio::test]
async fn what_is_under_way_when_the_server_dies_is_sent_again() {
    let mut server = sending(&[1, 1, 1]);
    let client = server.client();
    let receiver = Receiver::reacting(|_, before| match before {
        0 => Reaction::Silence,
        _ => Reaction::status(200),
    })
    .await;
    let endpoint = made_for(&client, &receiver).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    receiver.wait_for(1).await;
    server.kill();
    let killed = Instant::now();
    server.restart();
    let sent = receiver.wait_for(2).await;
    assert!(killed.elapsed() < Duration::from_secs(50), "nothing was sent for too long");
    assert_eq!(sent[0].header("webhook-id"), sent[1].header("webhook-id"));
    delivery(&server.client(), &endpoint, |one| one["status"] == "succeeded").await;
}

#[tokio::test]
async fn a_deleted_source_is_told_of_without_its_content() {
    let server = sending(&[2, 2]);
    let client = server.client();
    let receiver =
        Receiver::reacting(|_, before| Reaction::status(if before == 0 { 500 } else { 200 })).await;
    let endpoint = made_for(&client, &receiver).await;
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    receiver.wait_for(1).await;
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    let sent = receiver.wait_for(2).await;
    assert!(sent[0].json()["data"]["content"].is_string());
    assert!(sent[1].json()["data"].get("content").is_none(), "deleted content is not sent");
    assert!(verifies(&sent[1], &endpoint["secret"]));
}
