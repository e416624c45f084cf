//! The HTTP interface of Cicerone: endpoints, errors, streams and the OpenAPI document.
//!
//! `endpoints` lists every endpoint and has a file for each of them. A request passes through, in
//! this order: `observe` (request id, log, metrics, the form of every refusal), the router, `auth`
//! (key, rate limit, permission, as declared by the signature of each handler), the reading of
//! query and body, one use case of the domain, and a view.
//!
//! A request that changes something is carried out by `change`, on the thread of its connection. If the caller
//! disconnects before it is done, it continues on a runtime that outlives connections, so that no change stops halfway.
//!
//! Invariant: this crate contains no rule of the service. It reads a request, calls the domain, and
//! writes the outcome.

mod application;
mod asset;
mod auth;
mod body;
mod book;
mod change;
mod client_address;
mod compression;
mod connection;
mod console;
mod context;
mod cursor;
mod deletion;
mod docs;
mod endpoint;
mod endpoints;
mod error;
mod events;
mod fresh;
mod list;
mod managed;
mod mcp;
mod multipart;
mod observe;
mod openapi;
mod query;
mod rate;
mod response;
mod room;
mod routes;
mod sent;
mod server;
mod slim;
mod stages;
mod stream;
mod turn;
mod unread;
mod visitors;
mod widget;

pub use application::{Application, DetectUploadType, HttpSettings, JoinTrace};
pub use console::ConsoleSettings;
pub use mcp::{McpAgent, McpPipeError, McpSettings, ParseHostError};
pub use openapi::openapi;
pub use server::serve;
