//! Connections that send or read nothing: their cost is bounded, and other clients do not notice
//! them.

use std::net::{IpAddr, Ipv4Addr};

use cicerone_tests::raw::Connection;
use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use serde_json::json;

use crate::world::{eventually, program};

const MEBIBYTE: usize = 1_024 * 1_024;

/// A server with these settings in the section `http`.
fn server(settings: &str) -> Server {
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, format!("[http]\n{settings}")).unwrap();
    Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data)
}

fn local(number: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, number).into()
}

/// The value of a metric without labels.
async fn metric(client: &Client, name: &str) -> f64 {
    let answer = client.anonymous().get("/metrics").await;
    let line = answer.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

fn get(path: &str, key: Option<&str>) -> String {
    let key = key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default();
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n{key}\r\n")
}

#[tokio::test]
async fn idle_connections_of_one_address_shut_nobody_out() {
    let server = server("threads = 2\nconnections_at_once = 64\nhead_seconds = 60\n");
    let mut idle = Vec::new();
    for _ in 0..300 {
        idle.push(Connection::open_from(local(2), server.address()).await);
    }
    // The flooding address, another address, and one with a connection that is kept for the whole
    // test.
    for address in [local(2), local(3), local(4)] {
        let mut connection = Connection::open_from(address, server.address()).await.unwrap();
        connection.send(get("/healthz", None)).await;
        connection.read_until("ok").await;
    }
    server.client().get("/v1/agents").await.expect(200);
    assert!(metric(&server.client(), "cicerone_http_connections").await <= 64.0);
}

#[tokio::test]
async fn connections_of_one_address_that_are_not_idle_take_half_of_the_places_at_most() {
    let server = server("threads = 2\nconnections_at_once = 64\nhead_seconds = 60\n");
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut connection = Connection::open_from(local(2), server.address()).await.unwrap();
        // Connections of the address beyond its share are closed.
        connection.try_send("GET /healthz HTTP/1.1\r\n").await;
        slow.push(connection);
    }
    server.client().get("/v1/agents").await.expect(200);
    // A connection that has sent nothing yet is closed when another one comes; the others are
    // refused.
    eventually("the rest is refused", async || {
        let client = server.client();
        let refused = metric(&client, "cicerone_http_connections_refused_total").await
            + metric(&client, "cicerone_http_connections_evicted_total").await;
        refused >= 60.0 && metric(&client, "cicerone_http_connections").await <= 40.0
    })
    .await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off() {
    let server = server("stall_seconds = 1\n");
    let path = "/docs/swagger-ui-bundle.js";
    let whole = server.client().anonymous().get(path).await.body.len();
    let mut reader = Connection::open_from(local(2), server.address()).await.unwrap();
    reader.send(get(path, None)).await;
    eventually("the connection is closed", async || {
        metric(&server.client(), "cicerone_http_connections_cut_total").await >= 1.0
    })
    .await;
    let taken = reader.read_to_end().await.len();
    assert!(taken < whole, "{taken} of {whole} bytes");
}

#[tokio::test]
async fn readers_that_read_nothing_hold_little_memory_and_leave_room_to_others() {
    let server = server("stall_seconds = 10\n");
    let (flood, other) = (server.client(), server.account("other"));
    let agent = flood.agent().await;
    let text = "\u{1}".repeat(100_000);
    for _ in 0..7 {
        flood.source(&agent, "text", &text).await;
    }
    let list = format!("/v1/agents/{agent}/sources?page_size=100");
    for path in [&*list, "/docs/swagger-ui-bundle.js"] {
        flood.get(path).await;
    }
    let others = other.agent().await;
    other.source(&others, "text", &text).await;
    let before = server.resident_bytes();
    let mut readers = Vec::new();
    for number in 0..300 {
        let mut reader =
            Connection::open_from(local(2 + number as u8 % 8), server.address()).await.unwrap();
        let request = if number % 2 == 0 {
            get("/docs/swagger-ui-bundle.js", None)
        } else {
            get(&list, flood.key())
        };
        reader.send(request).await;
        readers.push(reader);
    }
    // There is still memory for a list of 600 kB for another account.
    let path = format!("/v1/agents/{others}/sources");
    let page = other.get(&path).await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    let raised = server.peak_bytes().saturating_sub(before);
    assert!(raised < 96 * MEBIBYTE, "{raised} bytes");
    drop(readers);
    eventually("all connections are gone", async || {
        metric(&other, "cicerone_http_connections").await <= 8.0
    })
    .await;
    flood.get(&list).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_downloads_of_ten_accounts_refuse_nothing_to_another() {
    let server = server("stall_seconds = 120\n");
    let other = server.account("other");
    let agent = other.agent().await;
    let hours = "The museum opens at nine. ".repeat(3_000);
    let source = other.text(&agent, &hours).await;
    other.trained(&source).await;
    let file = "secretword file text\n".repeat(499_000);
    let upload = |client: Client| {
        let file = file.clone();
        async move { id(&client.upload("file.txt", file).await.expect(201)) }
    };
    let before = server.resident_bytes();
    let mut readers = Vec::new();
    for number in 1..=10 {
        let flood = server.account(&format!("flood {number}"));
        let path = format!("/v1/files/{}/content", upload(flood.clone()).await);
        for _ in 0..2 {
            let mut reader = Connection::open_from(local(number), server.address()).await.unwrap();
            reader
                .send(get(&path, flood.key()).replacen("\r\n", "\r\nConnection: close\r\n", 1))
                .await;
            let begin = reader.read_until("\r\n\r\n").await;
            assert!(begin.starts_with("HTTP/1.1 200"), "{begin}");
            readers.push((reader, begin));
        }
    }
    // More than fits into memory is being sent. What the other account asks for has no room there, or a share of it.
    let own = upload(other.clone()).await;
    for _ in 0..3 {
        for path in [
            format!("/v1/agents/{agent}/sources"),
            format!("/v1/sources/{source}"),
            format!("/v1/sources/{source}/passages"),
        ] {
            let answer = other.get(&path).await;
            assert!(answer.body.len() > 16_384, "{path}: {}", answer.text());
            answer.expect(200);
        }
        let path = format!("/v1/agents/{agent}/search");
        other.post(&path, json!({ "query": "museum" })).await.expect(200);
        let text = other.text(&agent, "The shop opens at ten.").await;
        other.trained(&text).await;
        let answer = other.get(&format!("/v1/files/{own}/content")).await;
        assert!(answer.status == 200 && answer.body == file.as_bytes(), "{}", answer.status);
    }
    let raised = server.peak_bytes().saturating_sub(before);
    assert!(raised < 144 * MEBIBYTE, "{raised} bytes");
    for (mut reader, begin) in readers {
        let (_, begin) = begin.split_once("\r\n\r\n").unwrap();
        let rest = reader.read_to_end().await;
        assert!(begin.len() + rest.len() == file.len() && file.ends_with(&rest));
    }
}

#[tokio::test]
async fn bodies_that_stall_leave_room_to_another_account() {
    let server = server("body_seconds = 20\n");
    let (flood, other) = (server.client(), server.account("other"));
    let half = "x".repeat(4 * MEBIBYTE);
    let mut stalled = Vec::new();
    for _ in 0..8 {
        let mut connection = Connection::open(server.address()).await;
        let head = format!(
            "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{{\"x\":\"",
            flood.key().unwrap(),
            8 * MEBIBYTE - 100
        );
        connection.send(head).await;
        // Requests for which there is no memory are answered while their body is still being sent.
        connection.try_send(&half).await;
        stalled.push(connection);
    }
    let body = json!({ "name": "Guide", "x": "x".repeat(MEBIBYTE) });
    other.post("/v1/agents", body.clone()).await.expect(201);
    drop(stalled);
    let mut last = flood.post("/v1/agents", body.clone()).await;
    for _ in 0..20 {
        if last.status != 503 {
            break;
        }
        last = flood.post("/v1/agents", body.clone()).await;
    }
    last.expect(201);
}
