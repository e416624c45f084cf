//! The index through its port, over a scripted feed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod changes;
mod consistency;
mod fairness;
mod feed;
mod hostile;
mod memory;
mod renewal;
mod repair;
mod resources;
mod restores;
