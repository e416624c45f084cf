//! The HTTP interface of Cicerone: routes, handlers, errors, streams and the OpenAPI document.
//!
//! A request passes, in this order: `observe` (request id, log, metrics, the shape of every
//! refusal), the router, `auth` (key, rate limit, permission: declared by each handler's
//! signature), the readers of query and body, one use case of the domain, and a view. Whatever
//! changes something is carried out by `change` in a task of its own, so that a caller who goes
//! away cannot stop it half-way.
//!
//! Invariant: this crate holds no rule of the service. It reads, asks the domain, and writes down
//! what the domain said.

mod application;
mod auth;
mod body;
mod change;
mod client_address;
mod compression;
mod connection;
mod context;
mod cursor;
mod docs;
mod endpoint;
mod failure;
mod fields;
mod handlers;
mod list;
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
mod stream;
mod unread;
mod views;

pub use application::{Application, DetectUploadType, HttpSettings};
pub use openapi::openapi;
pub use server::serve;
