//! A PostgreSQL that accepts connections and does not answer.

use std::process::Stdio;
use std::time::Duration;

use cicerone_tests::postgres::Cluster;
use cicerone_tests::relay::Relay;
use cicerone_tests::{ROOT_KEY, Server};
use futures_util::future::join_all;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::world::{eventually, program};

/// A relay in front of a new database, with the address through it; `None` if PostgreSQL is not installed.
async fn silent() -> Option<(Relay, String)> {
    let cluster = Cluster::shared()?;
    let database = cluster.empty_database();
    let relay = Relay::start(cluster.socket()).await;
    let url = cluster.through(relay.address, &database);
    Some((relay, url))
}

/// A server whose reads and changes have short time limits.
fn server(url: &str) -> Server {
    let data = TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[database]\nread_seconds = 1\nwrite_seconds = 1\n").unwrap();
    Server::of(&program())
        .env("CICERONE_CONFIG", file.display().to_string())
        .env("CICERONE_DATABASE_URL", url)
        .start_in(data)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_refused_in_time_and_the_server_goes_on_when_it_answers() {
    let Some((relay, url)) = silent().await else { return };
    let server = tokio::task::spawn_blocking(move || server(&url)).await.unwrap();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    for _ in 0..2 {
        relay.hold();
        // More than there are connections.
        let body = json!({ "agent_id": agent, "message": "When does the museum open?" });
        let asked = join_all((0..40).map(|_| client.post("/v1/conversations", body.clone())));
        let asked = tokio::time::timeout(Duration::from_secs(40), asked).await;
        for answer in asked.expect("every request is answered") {
            answer.refused(503, "service_unavailable");
        }
        server.log_with("a connection to it was given up").await;
        relay.resume();
        eventually("the server answers again", async || {
            client.post("/v1/conversations", body.clone()).await.status == 200
        })
        .await;
        client.text(&agent, "The garden closes at seven o'clock.").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stops_although_nothing_answers() {
    let Some((relay, url)) = silent().await else { return };
    let mut server = tokio::task::spawn_blocking(move || server(&url)).await.unwrap();
    relay.hold();
    server.terminate();
    let (status, mut server) =
        tokio::task::spawn_blocking(move || (server.wait(), server)).await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", server.stderr());
    // A second signal ends it at once, whatever it waits for.
    relay.resume();
    let server_again = tokio::task::spawn_blocking(move || {
        server.restart();
        server
    });
    let mut server = server_again.await.unwrap();
    // A request whose body never arrives keeps it from stopping earlier.
    let mut open = TcpStream::connect(server.client().address()).await.unwrap();
    let head = "POST /v1/agents HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 9\r\n";
    let head = format!("{head}Authorization: Bearer {ROOT_KEY}\r\n\r\n{{");
    open.write_all(head.as_bytes()).await.unwrap();
    relay.hold();
    server.terminate();
    server.log_with("stopping:").await;
    server.terminate();
    let status = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(status.code(), Some(130));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_ends_by_itself_or_with_a_signal() {
    let Some((relay, url)) = silent().await else { return };
    relay.hold();
    let start = |url: &str| {
        let data = TempDir::with_prefix("cicerone-test-").unwrap();
        let mut command = program().command(data.path(), &["serve"]);
        command.env("CICERONE_BIND", "127.0.0.1:0").env("CICERONE_DATABASE_URL", url);
        (command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap(), data)
    };
    let (child, _data) = start(&url);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let output = output.await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("timeout expired"), "{text}");

    let before = relay.accepted();
    let (child, _data) = start(&format!("{url}?connect_timeout=0"));
    eventually("the server connects", async || relay.accepted() > before).await;
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output());
    let output = output.await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(0) && text.contains("before the server was ready"),
        "{text}"
    );
}
