//! The messages of JSON-RPC that are forwarded: what the forwarding program reads of them, and its own errors.

use serde_json::{Map, Value, json};

/// The code of JSON-RPC for a text that is not JSON.
const PARSE_ERROR: i64 = -32_700;
/// The code for everything that prevents a message from being answered by the server. JSON-RPC leaves this one to
/// implementations.
const SERVER_ERROR: i64 = -32_000;

/// The method that cancels a request.
const CANCELLED: &str = "notifications/cancelled";

/// A message of the client.
#[derive(Debug, Clone)]
pub(super) struct Message(Value);

impl Message {
    /// Reads a line. Returns the error to answer with if it is not JSON.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Value> {
        serde_json::from_slice(line).map(Self).map_err(|error| {
            json!({
                "jsonrpc": "2.0",
                "id": null,
                "error": { "code": PARSE_ERROR, "message": format!("a line must be JSON ({error})") },
            })
        })
    }

    /// The method; `None` if it is not a request or notification.
    pub(super) fn method(&self) -> Option<&str> {
        self.0.get("method")?.as_str()
    }

    /// The id, if the message wants an answer.
    pub(super) fn id(&self) -> Option<&Value> {
        self.0.get("id").filter(|id| !id.is_null() && self.method().is_some())
    }

    /// The id of the request that the message cancels.
    pub(super) fn cancels(&self) -> Option<&Value> {
        if self.method() != Some(CANCELLED) {
            return None;
        }
        self.0.get("params")?.get("requestId")
    }

    /// The version of the protocol that the message names itself, as messages since 2026-07-28 do.
    pub(super) fn version(&self) -> Option<&str> {
        self.0.get("params")?.get("_meta")?.get("io.modelcontextprotocol/protocolVersion")?.as_str()
    }

    /// The name of what the message is about: the value of the header `Mcp-Name`.
    pub(super) fn name(&self) -> Option<&str> {
        let field = match self.method()? {
            "tools/call" | "prompts/get" => "name",
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => return None,
        };
        self.0.get("params")?.get(field)?.as_str()
    }

    /// The answer of the server with that body as the client expects it, if it is a message of JSON-RPC.
    pub(super) fn answer(&self, body: &[u8]) -> Option<Value> {
        let mut answer: Map<String, Value> = serde_json::from_slice(body).ok()?;
        answer.get("jsonrpc")?;
        // The server does not know the id of a message that it cannot read.
        if let Some(id) = self.id()
            && answer.get("id").is_none_or(Value::is_null)
        {
            answer.insert("id".to_owned(), id.clone());
        }
        Some(Value::Object(answer))
    }

    /// The error that the client gets as the answer to its message; `None` if it expects none.
    pub(super) fn failed(&self, message: &str, data: Value) -> Option<Value> {
        let error = json!({ "code": SERVER_ERROR, "message": message, "data": data });
        self.id().map(|id| json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }
}

/// The answer to a line that was skipped because of its length.
pub(super) fn too_long(most: usize) -> Value {
    let message = format!("a line must have at most {most} bytes");
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": PARSE_ERROR, "message": message } })
}

/// The version of the protocol in the answer to `initialize`.
pub(super) fn negotiated(answer: &Value) -> Option<&str> {
    answer.get("result")?.get("protocolVersion")?.as_str()
}
