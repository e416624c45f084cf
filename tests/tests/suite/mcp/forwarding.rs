//! `cicerone mcp --agent`: messages are forwarded to a server.

use cicerone_tests::{Client, Server};
use serde_json::json;
use tempfile::TempDir;

use super::program::Pipe;
use crate::world::{NO_AGENT, client, own_server};

/// A running `cicerone mcp` for an agent of this client's server.
fn forwarding(folder: &TempDir, client: &Client, agent: &str) -> Pipe {
    let server = format!("http://{}/", client.address());
    let variables = [("CICERONE_API_KEY", client.key().unwrap())];
    Pipe::start(folder.path(), &["--agent", agent, "--server", &server], &variables)
}

#[tokio::test]
async fn messages_are_forwarded_and_answered() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    let folder = TempDir::new().unwrap();
    let mut pipe = forwarding(&folder, &client, &agent);
    let begun = pipe.begin().await;
    assert_eq!(begun["serverInfo"]["title"], "Guide", "{begun}");
    let reply = pipe.tool("ask", json!({ "question": "When does the museum open?" })).await;
    assert!(reply["answer"].as_str().unwrap().contains("nine"), "{reply}");
    let unknown = pipe.ask("prompts/list", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "suite", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let modern = pipe.ask("tools/list", json!({ "_meta": meta })).await;
    assert_eq!(modern["result"]["cacheScope"], "private", "{modern}");
    let call = json!({ "name": "ask", "arguments": { "question": "What?" }, "_meta": meta });
    let called = pipe.ask("tools/call", call).await;
    assert_eq!(called["result"]["isError"], false, "{called}");
    let output = pipe.end().await;
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[tokio::test]
async fn requests_that_are_in_progress_at_the_end_of_the_input_are_answered() {
    let client = client();
    let agent = client.agent().await;
    let folder = TempDir::new().unwrap();
    let mut pipe = forwarding(&folder, &client, &agent);
    for id in 0..40 {
        let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        pipe.say(&ping.to_string()).await;
    }
    assert_eq!(pipe.rest().await.len(), 40);
}

#[tokio::test]
async fn the_refusals_of_the_server_are_errors_of_their_requests() {
    let client = client();
    let folder = TempDir::new().unwrap();
    let mut pipe = forwarding(&folder, &client, NO_AGENT);
    let answer = pipe.ask("tools/list", json!({})).await;
    assert_eq!(answer["error"]["data"]["status"], 404, "{answer}");
    assert_eq!(answer["error"]["data"]["code"], "resource_not_found");
    assert!(answer["error"]["message"].as_str().unwrap().contains(NO_AGENT), "{answer}");

    let mut pipe = forwarding(&folder, &client.with_key("ck_no_key"), NO_AGENT);
    let answer = pipe.ask("tools/list", json!({})).await;
    assert_eq!(answer["error"]["data"]["code"], "unauthorized", "{answer}");
}

#[tokio::test]
async fn lines_that_are_not_messages_are_answered_and_the_next_ones_read() {
    let client = client();
    let agent = client.agent().await;
    let folder = TempDir::new().unwrap();
    let mut pipe = forwarding(&folder, &client, &agent);
    for line in ["{", "not json", &"x".repeat(1_100_000)] {
        pipe.say(line).await;
        assert_eq!(pipe.heard().await["error"]["code"], -32700);
    }
    for line in ["[]", "5"] {
        pipe.say(line).await;
        assert_eq!(pipe.heard().await["error"]["code"], -32600);
    }
    // A message that the server cannot read is answered under its own id.
    let deep = (0..5_000).map(|_| json!(0)).collect::<Vec<_>>();
    let answer = pipe.ask("tools/list", json!({ "deep": deep })).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(pipe.ask("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_of_the_request() {
    let mut server: Server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let folder = TempDir::new().unwrap();
    let mut pipe = forwarding(&folder, &client, &agent);
    pipe.begin().await;
    server.kill();
    let answer = pipe.ask("tools/list", json!({})).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("cannot be reached"), "{message}");
    assert!(!message.contains(client.key().unwrap()), "{message}");
}

#[tokio::test]
async fn a_cancelled_request_gets_no_answer() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let folder = TempDir::new().unwrap();
    let mut pipe = forwarding(&folder, &client, &agent);
    pipe.begin().await;
    server.freeze();
    let params = json!({ "name": "ask", "arguments": { "question": "What?" } });
    let call = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params });
    pipe.say(&call.to_string()).await;
    let params = json!({ "requestId": "a" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    pipe.say(&cancel.to_string()).await;
    // The lines are handled in order, and this one without the server.
    pipe.say("{").await;
    assert_eq!(pipe.heard().await["error"]["code"], -32700);
    server.thaw();
    assert_eq!(pipe.ask("ping", json!({})).await["result"], json!({}));
    assert_eq!(pipe.rest().await, Vec::<String>::new());
}
