//! The black-box suite: the program over its sockets, its command line and its signals.
//!
//! Files mirror the paths of the API, one per endpoint, in this order: the happy path, each error
//! of the specification, then values at the limit and one beyond it, in multi-byte characters.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod agents;
mod answers;
mod as_code;
mod audit_log;
mod authentication;
mod backup;
mod book;
mod checks;
mod command_line;
mod connections;
mod consistency;
mod console;
mod conversations;
mod coverage;
mod deletion;
mod durability;
mod fairness;
mod files;
mod gaps;
mod generators;
mod idempotency;
mod isolation;
mod keys;
mod large_answers;
mod managed;
mod mcp;
mod me;
mod meaning;
mod model;
mod on_full_disk;
mod on_postgres;
mod on_silent_postgres;
mod openai;
mod operations;
mod own_clients;
mod permissions;
mod protocol;
mod public;
mod rate_limits;
mod replays;
mod routes;
mod settings;
mod small_talk;
mod sources;
mod storage;
mod stored_values;
mod telemetry;
mod usage;
mod visitors;
mod walks;
mod webhooks;
mod widget_script;
mod widgets;
mod without_key;
mod world;
mod wrap_up;
