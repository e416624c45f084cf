//! Stored answers that contain a large source.

use std::collections::BTreeSet;

use cicerone_tests::Server;
use cicerone_tests::scenario::{id, qa_content};
use diesel::connection::Connection as _;
use diesel::prelude::{QueryableByName, RunQueryDsl as _, SqliteConnection};
use diesel::sql_types::BigInt;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::idempotency::{replayed, send};
use crate::world::own_server;

/// The bytes of all stored answers.
fn stored_bytes(server: &Server) -> i64 {
    #[derive(QueryableByName)]
    struct Bytes {
        #[diesel(sql_type = BigInt)]
        bytes: i64,
    }
    let path = server.data().join("cicerone.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut connection).unwrap();
    let sum = "SELECT coalesce(sum(length(body)), 0) AS bytes FROM idempotency";
    diesel::sql_query(sum).get_result::<Bytes>(&mut connection).unwrap().bytes
}

#[tokio::test]
async fn answers_with_a_large_source_take_little_and_are_repeated_as_they_were() {
    let server = own_server();
    let client = server.client();
    let sources = format!("/v1/agents/{}/sources", client.agent().await);
    // The space after the array is part of the content.
    let large =
        format!("{} \n", qa_content(&[("Where?", &"By the \"old\" harbour. ".repeat(40_000))]));
    let created = json!({ "type": "qa", "content": large });
    let text = json!({ "type": "text", "content": "Ü".repeat(99_999) });
    let first = send(&client, &sources, &created, "create").await;
    let source = id(&first.expect(201));
    assert_eq!(first.json()["content"], large.as_str());
    let path = format!("/v1/sources/{source}");
    let (pairs, change) = (format!("{path}/pairs"), json!({ "guarded": false }));
    let added = |answer: &str| json!({ "pairs": [{ "question": "When?", "answer": answer }] });
    let mut requests = vec![("POST", sources.clone(), created, "create".to_owned(), first)];
    let carried_out = async |method: &'static str, path: &str, body: Value, key: String| {
        let answer = client.request(method, path).json(&body).idempotent(&key).send().await;
        assert!(answer.status < 300 && !replayed(&answer), "{}", answer.status);
        (method, path.to_owned(), body, key, answer)
    };
    requests.push(carried_out("POST", &sources, text, "text".to_owned()).await);
    for round in 0..3 {
        client.trained(&source).await;
        for number in 0..10 {
            let key = format!("change-{round}-{number}");
            requests.push(carried_out("PATCH", &path, change.clone(), key).await);
        }
        let key = format!("pairs-{round}");
        requests.push(carried_out("POST", &pairs, added(&key), key.clone()).await);
    }
    client.trained(&source).await;
    let bytes = stored_bytes(&server);
    assert!(bytes < 100_000, "{bytes}");
    for (method, path, body, key, before) in &requests {
        let again = client.request(method, path).json(body).idempotent(key).send().await;
        assert!(replayed(&again), "{key}: {}", again.status);
        assert_eq!((again.status, again.text()), (before.status, before.text()), "{key}");
    }
    let contents: BTreeSet<_> = requests.iter().map(|(.., answer)| answer.text().len()).collect();
    assert!(contents.len() >= 5, "each addition is in its own answer: {contents:?}");
    client.delete(&path).await.expect_nothing();
    for (method, path, body, key, _) in requests.iter().filter(|(.., key, _)| key != "text") {
        let again = client.request(method, path).json(body).idempotent(key).send().await;
        again.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn large_answers_are_repeated_within_the_memory_for_answers() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    // Making an answer takes 12 MiB of 24, and one with this content twice its bytes. An account alone has memory for bodies of
    // 8 MiB.
    for (bytes, at_once) in [(7 * 1_024 * 1_024, 1), (2_000_000, 4)] {
        let source = client.qa(&agent, &[("Where?", "By the harbour.")]).await;
        let path = format!("/v1/sources/{source}/pairs");
        let answer = "At nine. ".repeat(bytes / 9);
        let added = json!({ "pairs": [{ "question": "When?", "answer": answer }] });
        let first = send(&client, &path, &added, &source).await;
        assert_eq!(first.status, 200);
        let again = (0..at_once).map(|_| send(&client, &path, &added, &source));
        for again in join_all(again).await {
            assert!(replayed(&again), "{bytes}: {}", again.status);
            assert_eq!(again.text().len(), first.text().len());
        }
    }
}
