//! A caller of the MCP interface, in one of the protocol's eras.

use cicerone_tests::client::Request;
use cicerone_tests::{Answer, Client};
use serde_json::{Map, Value, json};

/// The last version of the protocol that begins with `initialize`, and the first one that does not.
pub(super) const LEGACY: &str = "2025-11-25";
pub(super) const MODERN: &str = "2026-07-28";
/// Both.
pub(super) const ERAS: [&str; 2] = [LEGACY, MODERN];

/// Where an agent is called.
pub(super) fn path(agent: &str) -> String {
    format!("/mcp/agents/{agent}")
}

/// A program that calls an agent.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) client: Client,
    agent: String,
    version: &'static str,
}

impl Caller {
    pub(super) fn new(client: &Client, agent: &str, version: &'static str) -> Self {
        Self { client: client.clone(), agent: agent.to_owned(), version }
    }

    /// The same program with the key of another client.
    pub(super) fn with(&self, client: &Client) -> Self {
        Self { client: client.clone(), ..self.clone() }
    }

    /// A request with these parameters, and with those that the version requires.
    pub(super) fn request(&self, method: &str, params: Value) -> Request {
        let mut params: Map<String, Value> = params.as_object().unwrap().clone();
        let request = self.client.request("POST", &path(&self.agent));
        let mut request = request.header("MCP-Protocol-Version", self.version);
        if self.version == MODERN {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "suite", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
            request = request.header("Mcp-Method", method);
            let names = ["name", "uri", "taskId"].into_iter();
            if let Some(name) = names.filter_map(|name| params.get(name)?.as_str()).next() {
                request = request.header("Mcp-Name", name);
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        request.json(&message)
    }

    /// The answer to a request.
    pub(super) async fn send(&self, method: &str, params: Value) -> Answer {
        self.request(method, params).send().await
    }

    /// The result of a request that is answered with one.
    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        let mut answer = self.send(method, params).await.expect(200);
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
        assert_eq!(answer.get("error"), None, "{answer}");
        answer["result"].take()
    }

    /// The code of the error that a request is answered with.
    pub(super) async fn error(&self, method: &str, params: Value) -> i64 {
        let answer = self.send(method, params).await.json();
        assert_eq!(answer["id"], 7, "{answer}");
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
    }

    /// The structured result of a tool, after a look at its text, which is the same.
    pub(super) async fn tool(&self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let mut result = self.result("tools/call", params).await;
        assert_eq!(result["isError"], false, "{result}");
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{result}");
        assert_eq!(content[0]["type"], "text");
        let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        result["structuredContent"].take()
    }

    /// The code and message of the error that a tool's result reports.
    pub(super) async fn tool_error(&self, name: &str, arguments: Value) -> (String, String) {
        let params = json!({ "name": name, "arguments": arguments });
        let result = self.result("tools/call", params).await;
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result.get("structuredContent"), None, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let error: Value = serde_json::from_str(text).unwrap();
        let of = |field: &str| error[field].as_str().unwrap().to_owned();
        (of("code"), of("message"))
    }

    /// The names of the tools that are listed.
    pub(super) async fn tools(&self) -> Vec<String> {
        let result = self.result("tools/list", json!({})).await;
        let tools = result["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}
