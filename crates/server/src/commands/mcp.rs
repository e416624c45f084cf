//! `cicerone mcp`: the Model Context Protocol over standard input and output, for programs that start their servers.

mod folder;
mod forward;
mod line;
mod message;

use crate::cli::McpArguments;
use crate::configuration::Environment;
use crate::failure::Failure;

/// The longest message on a line, in bytes (1 MiB): the largest that the server accepts.
const MESSAGE_BYTES: usize = 1_024 * 1_024;

/// The address of a server with the default settings on this machine.
const SERVER: &str = "http://127.0.0.1:8080";

/// Serves until the input ends.
pub(crate) fn run(environment: Environment, arguments: McpArguments) -> Result<(), Failure> {
    let McpArguments { agent, server, from } = arguments;
    match agent {
        Some(agent) => forward::run(&environment, agent, server.as_deref().unwrap_or(SERVER)),
        None if from.sources.is_empty() && from.data_dir.is_none() => Err(Failure::misuse(
            "name an agent of a server with `--agent`, or files, folders and web pages with `--source`",
        )),
        None => folder::run(environment, &from),
    }
}
