//! What a server offers its operator: health, metrics, the contract, and a clean stop.

use std::collections::BTreeSet;
use std::time::Duration;

use cicerone_tests::Server;
use cicerone_tests::raw::Connection;
use cicerone_tests::upstream::{Script, Upstream};
use futures_util::future::join_all;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::routes::ROUTES;
use crate::world::{client, own_server, program, server};

#[tokio::test]
pub(crate) async fn health_needs_no_key() {
    for path in ["/healthz", "/readyz"] {
        assert_eq!(client().anonymous().get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
pub(crate) async fn metrics_are_prometheus_text_without_tenant_data() {
    let client = client();
    let agent = client.agent().await;
    client.ask(&agent, "When does the Zaubersprudel open?").await;
    client.get("/v1/agents/secret_segment").await;
    client.get("/secret_segment").await;
    let answer = client.anonymous().get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"), "{answer:?}");
    let text = answer.text();
    assert!(text.contains("# TYPE "), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
    for forbidden in [agent.as_str(), "Zaubersprudel", "secret_segment", "default"] {
        assert!(!text.contains(forbidden), "`{forbidden}` is in {text}");
    }
}

#[tokio::test]
pub(crate) async fn strangers_can_neither_enlarge_the_metrics_nor_ask_for_them_without_end() {
    let server = own_server();
    let stranger = server.client().anonymous();
    for method in ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"] {
        let paths: BTreeSet<_> = ROUTES.iter().map(|route| route.path).collect();
        join_all(paths.iter().map(|path| stranger.request(method, path).send())).await;
    }
    // The text may be from a second ago.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let metrics = stranger.get("/metrics").await;
    let text = metrics.text();
    assert!(text.contains("route=\"unauthenticated\",status=\"401\""), "{text}");
    assert!(text.contains("route=\"unauthenticated\",status=\"405\""), "{text}");
    assert!(text.len() < 40_000, "{} bytes", text.len());
    // A program that asks each second stays within the limit of an address.
    let answers = join_all((0..200).map(|_| stranger.get("/metrics"))).await;
    let served = answers.iter().filter(|answer| answer.status == 200).count();
    assert!((60..=130).contains(&served), "{served}");
    let refused = answers.iter().find(|answer| answer.status != 200).unwrap();
    refused.refused(429, "rate_limit_exceeded");
    assert!(refused.header("retry-after").is_some());
    server.client().get("/v1/agents").await.expect(200);
}

#[tokio::test]
pub(crate) async fn the_contract_needs_no_key_and_is_that_of_the_command_line() {
    let served = client().anonymous().get("/v1/openapi.json").await;
    let served = served.expect(200);
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1."), "{}", served["openapi"]);
    let printed = server().succeed(&["openapi"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), served);
}

#[tokio::test]
async fn a_stop_finishes_what_is_in_flight_and_ends_well() {
    let mut server = own_server();
    let key = server.client().key().unwrap().to_owned();
    let body = json!({ "name": "Last" }).to_string();
    let (first, second) = body.split_at(4);
    let mut connection = Connection::open(server.address()).await;
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    connection.send(head).await;
    // The server asks for the body after it has read the head.
    connection.read_until("100 Continue").await;
    connection.send(first).await;
    server.terminate();
    connection.send(second).await;
    let answer = connection.read_until("\"Last\"").await;
    assert!(answer.contains("201 Created"), "{answer}");
    drop(connection);
    let status = tokio::task::spawn_blocking(move || (server.wait(), server)).await.unwrap();
    let (status, mut server) = status;
    assert_eq!(status.code(), Some(0), "{}", server.stderr());
    server.restart();
    let page = server.client().get("/v1/agents").await.expect(200);
    assert_eq!(page["data"][0]["name"], "Last");
}

#[tokio::test]
async fn a_stream_that_outlives_a_stop_ends_with_an_error() {
    let upstream = Upstream::start([Script::stream().token("It opens").stall()]).await;
    let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    let text = "[models.upstreams.openai]\nbetween_tokens_seconds = 100\ntotal_seconds = 100\n";
    std::fs::write(&file, text).unwrap();
    let mut server = Server::of(&program())
        .env("CICERONE_CONFIG", file.display().to_string())
        .env("OPENAI_BASE_URL", upstream.url())
        .env("OPENAI_API_KEY", "sk-verysecret")
        .start_in(data);
    let client = server.client();
    let agent = client.agent().await;
    let body = json!({ "agent_id": agent, "message": "When does it open?", "stream": true });
    let mut stream = client.request("POST", "/v1/conversations").json(&body).open().await;
    stream.until("It opens").await;
    server.terminate();
    let error = stream.until("event: error").await;
    assert!(error.contains("\"code\":\"service_unavailable\""), "{error}");
    assert!(error.contains("\"retryable\":true"), "{error}");
    drop(stream);
    let status = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn a_server_at_rest_stops_at_once() {
    let mut server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let begun = std::time::Instant::now();
    server.terminate();
    let (status, server) =
        tokio::task::spawn_blocking(move || (server.wait(), server)).await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", server.stderr());
    assert!(begun.elapsed().as_secs() < 10, "an idle connection delays the stop");
}

#[tokio::test]
async fn a_burst_of_connections_waits_for_a_busy_server() {
    let server = own_server();
    server.freeze();
    // If the operating system's queue has no room for a connection, it is retried only seconds
    // later.
    let connections = (0..500).map(|_| TcpStream::connect(server.address()));
    let connections = timeout(Duration::from_secs(20), join_all(connections)).await;
    server.thaw();
    let connections = connections.expect("the system accepts them");
    assert!(connections.iter().all(Result::is_ok));
    server.client().get("/v1/agents").await.expect(200);
}
