//! The MCP interface: an agent's tools `search`, `fetch` and `ask`, for programs that speak the Model Context
//! Protocol.
//!
//! `rmcp` speaks the protocol, in its versions with `initialize` and in the stateless one of 2026-07-28. Each request
//! is answered independently: there are no sessions, and the server does not send messages on its own.
//!
//! Invariant: a request reaches `rmcp` only after its host, its key, its agent, its size and the number of values in
//! it were checked. `rmcp` gets the headers of the protocol and no others, so it never sees a key.

mod handler;
mod hosts;
mod message;
mod pipe;
mod tools;

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode, header};
use actix_web::web::Bytes;
use cicerone_domain::Error;
use http_body_util::{BodyExt as _, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::AnyKey;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::error::RequestError;
use crate::response::{Answer, JSON};
use handler::AgentHandler;
use message::{INVALID_REQUEST, Message, Refusal};
use tools::Tools;

pub use hosts::{McpSettings, ParseHostError};
pub use pipe::{McpAgent, McpPipeError};

/// The largest request (1 MiB).
const MESSAGE_BYTES: usize = 1_024 * 1_024;
/// The prefix of the protocol's own headers.
const HEADERS: &str = "mcp-";

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Mcp, Method::POST, "/mcp/agents/{agent_id}", handle)
        .named("callMcp", "Call an agent through the Model Context Protocol")
        .details(
            "The address for programs that speak MCP over streamable HTTP, in the protocol's versions up to \
             2025-11-25 and in 2026-07-28. The agent's tools are `search` and `fetch` (permission `sources:read`) and \
             `ask` (`conversations:write`); a key sees those that it may use. There are no sessions: each request is \
             answered independently, as JSON. Protocol errors are JSON-RPC errors, including those with status 400 or \
             404. `Idempotency-Key` is ignored.",
        )
        .object_body::<McpRequest>()
        .gives::<McpResponse>(200)
        .accepts("The message was a notification. The body is empty.")
        .refuses(
            400,
            "The body is not a single JSON-RPC message, or the protocol version or headers do not match it.",
        )
        .refuses(
            403,
            "The setting `mcp.hosts` does not allow the host in `Host` or `Origin`.",
        )
        .refuses(
            404,
            "The agent does not exist, the key has no access to it, the interface is turned off, or, from version \
             2026-07-28 of the protocol, the method is unknown.",
        )
        .own_errors(&[400, 404])
}

/// A message of the client, as the Model Context Protocol describes it.
#[derive(ToSchema)]
#[schema(examples(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})))]
#[expect(dead_code, reason = "only its schema is used; `rmcp` reads the message")]
struct McpRequest {
    #[schema(pattern = "^2\\.0$")]
    jsonrpc: String,
    /// The method: `initialize`, `tools/list`, `tools/call`, …
    method: String,
}

/// The answer to a message, as the Model Context Protocol describes it: with `result` or `error`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used; `rmcp` writes the answer")]
struct McpResponse {
    /// The version of JSON-RPC: `2.0`.
    jsonrpc: String,
}

async fn handle(caller: Authorized<AnyKey>, app: App, mut incoming: Incoming) -> Answer {
    let settings = &app.settings.mcp;
    if !settings.is_enabled {
        return Err(RequestError::NoRoute);
    }
    settings.check(incoming.request.headers(), incoming.request.uri())?;
    let agent = app.agents.find(caller.scope(), incoming.path_id()?).await?;
    let text = incoming.json_text(&app, MESSAGE_BYTES).await?;
    let message = match Message::read(&text) {
        Ok(message) => message,
        Err(refusal) => return Ok(refused(&refusal)),
    };
    if message.tool.as_deref().is_some_and(tools::answers_at_length) {
        caller.context().expect_answer(&app).await?;
    }
    let tools = Tools::of_request(&app, &caller, agent);
    respond(AgentHandler::new(tools), &incoming, text).await
}

/// Passes a request on to `rmcp`, and turns its response into ours.
async fn respond(handler: AgentHandler, incoming: &Incoming, text: Bytes) -> Answer {
    let mut request = http::Request::post("http://localhost/")
        .header(http::header::ACCEPT, "application/json, text/event-stream")
        .header(http::header::CONTENT_TYPE, JSON);
    for (name, value) in incoming.request.headers() {
        if name.as_str().starts_with(HEADERS) {
            request = request.header(name.as_str(), value.as_bytes());
        }
    }
    let request = request.body(Full::new(text)).map_err(Error::internal)?;
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.max_request_body_bytes = MESSAGE_BYTES;
    // Hosts and origins were checked against our own setting.
    config.allowed_hosts = Vec::new();
    let factory = move || Ok(handler.clone());
    let service =
        StreamableHttpService::new(factory, Arc::new(NeverSessionManager::default()), config);
    let (parts, body) = service.handle(request).await.into_parts();
    let body = body.collect().await.map_err(Error::internal)?.to_bytes();
    let status = StatusCode::from_u16(parts.status.as_u16()).map_err(Error::internal)?;
    if status.is_server_error() {
        return Err(Error::internal(format!("rmcp answered {status}")).into());
    }
    let is_json = parts.headers.get(http::header::CONTENT_TYPE).is_some_and(|kind| kind == JSON);
    if !status.is_success() && !is_json {
        let reason = match status {
            // What `rmcp` says then is a message of its parser.
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                "the body must be a message of JSON-RPC 2.0".to_owned()
            }
            _ => String::from_utf8_lossy(&body).into_owned(),
        };
        return Ok(refused(&Refusal { code: INVALID_REQUEST, message: reason }));
    }
    let mut response = HttpResponse::build(status);
    if is_json {
        response.insert_header((header::CONTENT_TYPE, JSON));
    }
    Ok(response.body(body))
}

/// 400 with an error of JSON-RPC, for a text of which no message was read.
fn refused(refusal: &Refusal) -> HttpResponse {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: Option<()>,
        error: &'a Refusal,
    }
    HttpResponse::BadRequest().content_type(JSON).body(crate::response::json_bytes(&Response {
        jsonrpc: "2.0",
        id: None,
        error: refusal,
    }))
}
