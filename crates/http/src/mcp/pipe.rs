//! The MCP interface over a pair of streams, for a program that starts this one.

use std::sync::Arc;

use cicerone_domain::access::Permissions;
use cicerone_domain::services::{Conversations, Sources};
use cicerone_domain::{Agent, Scope};
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::MESSAGE_BYTES;
use super::handler::AgentHandler;
use super::tools::Tools;

/// An agent to serve over a pair of streams, to a caller with all permissions.
pub struct McpAgent {
    /// Sources, and search.
    pub sources: Sources,
    /// Conversations, and replies.
    pub conversations: Conversations,
    /// What the caller may see.
    pub scope: Scope,
    /// The agent that the tools search and ask.
    pub agent: Agent,
    /// Becomes true when tools can be used. Calls wait for it.
    pub ready: watch::Receiver<bool>,
}

/// Why the MCP interface over a pair of streams ended.
#[derive(Debug, thiserror::Error)]
pub enum McpPipeError {
    /// The client did not begin as the protocol requires, or the streams failed.
    #[error("the client did not start the session as the Model Context Protocol requires")]
    Begin(#[source] Box<ServerInitializeError>),
    /// The task that serves the streams failed.
    #[error("serving failed")]
    Serve(#[source] tokio::task::JoinError),
}

impl McpAgent {
    /// Serves the agent until the input ends. Each line is a message of at most 1 MiB; longer ones are dropped.
    ///
    /// # Errors
    ///
    /// The client does not speak the protocol, or the streams fail.
    pub async fn serve<R, W>(self, input: R, output: W) -> Result<(), McpPipeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let handler = AgentHandler::new(Tools {
            sources: self.sources,
            conversations: self.conversations,
            runtime: Handle::current(),
            scope: self.scope,
            permissions: Permissions::ALL,
            agent: Arc::new(self.agent),
            public_url: None,
            times: None,
            request_id: None,
            ready: Some(self.ready),
        });
        let transport =
            AsyncRwTransport::new_server(input, output).with_max_line_length(MESSAGE_BYTES);
        match rmcp::serve_server(handler, transport).await {
            Ok(running) => running.waiting().await.map(drop).map_err(McpPipeError::Serve),
            // The client disconnected before it sent anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(McpPipeError::Begin(Box::new(error))),
        }
    }
}
