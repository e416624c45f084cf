//! The rules of the protocol, in both of its eras.

use serde_json::{Value, json};

use super::caller::{Caller, ERAS, LEGACY, MODERN, path};
use crate::world::{client, server};

/// The first message of a client of the older era.
fn hello(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": { "sampling": {}, "roots": { "listChanged": true } },
        "clientInfo": { "name": "suite", "version": "1" },
    })
}

#[tokio::test]
pub(super) async fn both_eras_show_the_same_agent_and_tools() {
    let client = client();
    let agent = client.agent().await;
    let legacy = Caller::new(&client, &agent, LEGACY);
    for (asked, agreed) in
        [(LEGACY, LEGACY), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05")]
    {
        let legacy = Caller::new(&client, &agent, asked);
        let result = legacy.result("initialize", hello(asked)).await;
        assert_eq!(result["protocolVersion"], agreed);
        assert_eq!(result["serverInfo"]["name"], "cicerone");
        assert_eq!(result["serverInfo"]["title"], "Guide");
        assert!(result["instructions"].as_str().unwrap().contains("`Guide`"), "{result}");
        assert_eq!(result["capabilities"], json!({ "tools": {} }));
    }
    assert_eq!(legacy.result("ping", json!({})).await, json!({}));

    let modern = Caller::new(&client, &agent, MODERN);
    let result = modern.result("server/discover", json!({})).await;
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)) && versions.contains(&json!(LEGACY)), "{result}");
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    // Whatever is cached depends on the key.
    let listed = modern.result("tools/list", json!({})).await;
    assert_eq!(
        (&listed["cacheScope"], &listed["resultType"]),
        (&json!("private"), &json!("complete"))
    );
}

#[tokio::test]
async fn a_key_that_may_not_read_agents_does_not_learn_their_names() {
    let agent = client().agent().await;
    for (permission, is_told) in [
        ("agents:read", true),
        ("agents:write", false),
        ("conversations:write", false),
        ("sources:read", false),
    ] {
        let client = server().client_with(&[permission]);
        for (era, method) in [(LEGACY, "initialize"), (MODERN, "server/discover")] {
            let params = if era == LEGACY { hello(LEGACY) } else { json!({}) };
            let result = Caller::new(&client, &agent, era).result(method, params).await;
            assert_eq!(result.to_string().contains("Guide"), is_told, "{permission}: {result}");
            // Only the tools that the key may use are named.
            let instructions = result["instructions"].as_str().unwrap();
            for (tool, needs) in [
                ("`ask`", "conversations:write"),
                ("`search`", "sources:read"),
                ("`fetch`", "sources:read"),
            ] {
                assert_eq!(instructions.contains(tool), permission == needs, "{instructions}");
            }
        }
    }
}

#[tokio::test]
async fn tools_are_described_with_schemas_of_their_arguments_and_results() {
    let client = client();
    let agent = client.agent().await;
    for era in ERAS {
        let listed = Caller::new(&client, &agent, era).result("tools/list", json!({})).await;
        for tool in listed["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
            assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
            let is_read_only = tool["name"] != "ask";
            assert_eq!(tool["annotations"]["readOnlyHint"], is_read_only, "{tool}");
            assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        }
    }
}

#[tokio::test]
pub(super) async fn a_notification_is_accepted_without_a_body() {
    let client = client();
    let agent = client.agent().await;
    let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let request = client.request("POST", &path(&agent)).header("MCP-Protocol-Version", LEGACY);
    let answer = request.json(&message).send().await;
    assert_eq!((answer.status, answer.body.len()), (202, 0), "{}", answer.text());
    answer.request_id();
}

#[tokio::test]
async fn methods_that_are_not_declared_do_not_exist() {
    let client = client();
    let agent = client.agent().await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        for (method, params) in [
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "greeting" })),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": "file:///etc/passwd" })),
            ("resources/subscribe", json!({ "uri": "file:///etc/passwd" })),
            ("logging/setLevel", json!({ "level": "debug" })),
            (
                "completion/complete",
                json!({
                    "ref": { "type": "ref/prompt", "name": "x" },
                    "argument": { "name": "x", "value": "y" },
                }),
            ),
            ("tasks/get", json!({ "taskId": "1" })),
            ("skills/list", json!({})),
            ("no/such/method", json!({})),
        ] {
            let answer = caller.send(method, params).await;
            assert_eq!(answer.json()["error"]["code"], -32601, "{era} {method}: {}", answer.text());
            if !["resources/subscribe", "logging/setLevel", "tasks/get", "skills/list"]
                .contains(&method)
            {
                let message = &answer.json()["error"]["message"];
                assert_eq!(*message, format!("the method `{method}` is not supported"));
            }
            assert_eq!(answer.status, if era == MODERN { 404 } else { 200 }, "{era} {method}");
        }
    }
    let modern = Caller::new(&client, &agent, MODERN);
    assert_eq!(modern.error("ping", json!({})).await, -32601);
}

#[tokio::test]
async fn a_version_that_is_not_known_and_headers_that_contradict_are_refused() {
    let client = client();
    let agent = client.agent().await;
    let message = |params: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params });
    let request =
        client.request("POST", &path(&agent)).header("MCP-Protocol-Version", "2099-01-01");
    assert_eq!(request.json(&message(json!({}))).send().await.status, 400);
    let modern = Caller::new(&client, &agent, MODERN);
    // The header names another method than the body.
    let request = modern.request("tools/list", json!({})).header("Mcp-Method", "tools/call");
    let answer = request.send().await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)));
    // Without the header.
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": MODERN } });
    let request = client.request("POST", &path(&agent)).header("MCP-Protocol-Version", MODERN);
    let answer = request.json(&message(meta)).send().await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)));
}

#[tokio::test]
async fn there_are_no_sessions_and_no_messages_of_the_server() {
    let client = client();
    let path = path(&client.agent().await);
    for method in ["GET", "DELETE", "PUT", "PATCH"] {
        let answer = client.request(method, &path).header("Accept", "text/event-stream");
        let answer = answer.send().await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    let request = client.request("POST", &path).header("Mcp-Session-Id", "abc");
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let answer = request.json(&ping).send().await;
    answer.expect(200);
    assert_eq!(answer.header("mcp-session-id"), None);
}

#[tokio::test]
async fn a_client_that_accepts_anything_is_answered_as_well() {
    let client = client();
    let agent = client.agent().await;
    let ping = json!({ "jsonrpc": "2.0", "id": "text", "method": "ping" });
    let answer = client.post(&path(&agent), ping).await.expect(200);
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "text", "result": {} }));
}
