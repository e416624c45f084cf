//! The guarded client from outside: real listeners on loopback, real connections.
//!
//! Loopback has many addresses. One that is allowed (127.0.0.2 mostly) plays the public one, its
//! neighbours play what must not be reached.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod addresses;
mod bodies;
mod deadlines;
mod hops;
mod own;
mod pinning;
mod site;
mod spellings;
