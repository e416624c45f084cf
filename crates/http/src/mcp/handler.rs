//! The server interface of `rmcp`: an agent's name, its tools, and their results.

use std::panic::AssertUnwindSafe;

use cicerone_domain::{Error, Id, Permission, SystemEntropy};
use futures_util::FutureExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;

use super::tools::{ToolName, Tools};
use crate::body::shown;
use crate::error::RequestError;
use crate::response::json_bytes;

/// The method that begins a session, until 2025-11-25.
const INITIALIZE: &str = "initialize";
/// The methods that have parameters which this server reads. If their parameters have other types, `rmcp` takes the
/// request for one of an unknown method.
const METHODS: [&str; 4] = [INITIALIZE, "server/discover", "tools/call", "tools/list"];

/// The text of a result that reports an error.
#[derive(Serialize)]
struct Refused<'a> {
    code: &'static str,
    message: &'a str,
    /// Seconds to wait before another try can succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

/// An agent as an MCP server.
#[derive(Clone)]
pub(super) struct AgentHandler(Tools);

impl AgentHandler {
    pub(super) fn new(tools: Tools) -> Self {
        Self(tools)
    }

    /// The result of a call that was refused or has failed: the code and message of the same error over HTTP. Models
    /// read results, but clients hide protocol errors, so bad arguments are also reported in a result.
    fn refused(&self, error: Error) -> CallToolResult {
        let request_id = self.0.request_id.unwrap_or_else(|| Id::random(&SystemEntropy));
        let problem = RequestError::from(error).report(request_id);
        let said = Refused {
            code: problem.code,
            message: &problem.message,
            retry_after: problem.retry_after,
        };
        let text = String::from_utf8_lossy(&json_bytes(&said)).into_owned();
        CallToolResult::error(vec![ContentBlock::text(text)])
    }
}

impl ServerHandler for AgentHandler {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("cicerone", env!("CARGO_PKG_VERSION"));
        let (server, whose) = match self.0.permissions.allows(Permission::AgentsRead) {
            true => {
                let name = self.0.agent.profile.name.as_str();
                (server.with_title(name), format!("`{name}`"))
            }
            // A key that may not read agents does not learn their names.
            false => (server, "an agent".to_owned()),
        };
        let may = |wanted| self.0.allowed().any(|tool| tool == wanted);
        let tools = match (may(ToolName::Ask), may(ToolName::Search)) {
            (true, true) => {
                ": `ask` returns an answer with its sources; `search` and `fetch` return the documents themselves"
            }
            (true, false) => ": `ask` returns an answer with its sources",
            (false, true) => ": `search` finds documents and `fetch` returns one",
            (false, false) => "",
        };
        let about = format!("Answers from the documents of {whose}{tools}.");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(about)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ToolName::from_name(name).map(ToolName::declaration)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            let message = "the cursor is not valid: all tools are on the first page";
            return Err(ErrorData::invalid_params(message, None));
        }
        let tools = self.0.allowed().map(ToolName::declaration).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::from_name(&request.name) else {
            let known = ToolName::ALL.map(ToolName::name).join("`, `");
            let message = format!("no such tool; the tools are `{known}`");
            return Err(ErrorData::invalid_params(message, None));
        };
        let call = self.0.call(tool, request.arguments.unwrap_or_default());
        // `rmcp` would wait forever for the result of a call that panics.
        let called = AssertUnwindSafe(call).catch_unwind().await;
        let called = called.unwrap_or_else(|_| Err(Error::internal("a tool panicked")));
        match called {
            Ok(result) => Ok(CallToolResult::structured(result).into()),
            Err(error) => Ok(self.refused(error).into()),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let has_initialize =
            context.protocol_version().is_none_or(|version| version.has_initialize());
        let is_known = METHODS.contains(&request.method.as_str());
        if is_known && (has_initialize || request.method != INITIALIZE) {
            let message = format!("the parameters of `{}` are not valid", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(unsupported(&request.method))
    }

    // The message of `rmcp` for the methods that clients try most is their name alone.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(unsupported("prompts/list"))
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(unsupported("prompts/get"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(unsupported("resources/list"))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(unsupported("resources/templates/list"))
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Err(unsupported("resources/read"))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unsupported("completion/complete"))
    }
}

/// The refusal of a method that the server does not have.
fn unsupported(method: &str) -> ErrorData {
    let message = format!("the method `{}` is not supported", shown(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
