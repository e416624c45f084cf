//! Hosts and origins that requests may name.

use cicerone_tests::Server;
use cicerone_tests::client::Request;
use serde_json::json;
use tempfile::TempDir;

use super::caller::path;
use crate::world::{client, program};

fn ping(request: Request) -> Request {
    request.json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }))
}

/// A server with these settings.
fn server(settings: &str) -> Server {
    let data = TempDir::with_prefix("cicerone-test-").unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, settings).unwrap();
    Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string()).start_in(data)
}

#[tokio::test]
pub(super) async fn forged_hosts_and_origins_are_refused_with_the_name_of_the_setting() {
    let client = client();
    let path = path(&client.agent().await);
    for (header, value) in [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1.evil.example:80"),
        ("Host", "localhost@evil.example"),
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost.evil.example"),
    ] {
        let answer = ping(client.request("POST", &path).header(header, value)).send().await;
        let error = answer.refused(403, "forbidden");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("mcp.hosts") && message.contains(value), "{message}");
    }
    for (header, value) in [
        ("Host", "localhost"),
        ("Host", "[::1]:9"),
        ("Origin", "http://localhost:5173"),
        ("Origin", "https://127.0.0.1"),
    ] {
        ping(client.request("POST", &path).header(header, value)).send().await.expect(200);
    }
}

#[tokio::test]
async fn hosts_can_be_allowed_one_by_one_or_all() {
    let one = server("[mcp]\nhosts = [\"docs.example\"]\n");
    let client = one.client();
    let path = path(&client.agent().await);
    let status = async |host: &str, origin: &str| {
        let request = client.request("POST", &path).header("Host", host).header("Origin", origin);
        ping(request).send().await.status
    };
    assert_eq!(status("docs.example", "https://docs.example").await, 200);
    assert_eq!(status("DOCS.example:8443", "http://docs.example:8080").await, 200);
    assert_eq!(status("docs.example", "https://other.example").await, 403);
    assert_eq!(status("other.example", "https://docs.example").await, 403);

    let all = server("[mcp]\nhosts = [\"*\"]\n");
    let client = all.client();
    let path = super::caller::path(&client.agent().await);
    let request = client.request("POST", &path).header("Host", "any.example");
    ping(request.header("Origin", "null")).send().await.expect(200);
}

#[tokio::test]
async fn the_interface_can_be_turned_off() {
    let server = server("[mcp]\nenabled = false\n");
    let client = server.client();
    let path = path(&client.agent().await);
    ping(client.request("POST", &path)).send().await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_host_that_is_none_stops_the_start_with_its_name() {
    let data = TempDir::new().unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[mcp]\nhosts = [\"https://docs.example\"]\n").unwrap();
    let builder = Server::of(&program()).env("CICERONE_CONFIG", file.display().to_string());
    let said = builder.start_fails();
    assert!(said.contains("`mcp.hosts`") && said.contains("`https://docs.example`"), "{said}");
}
