//! Drivers that the tests, benchmarks and crash runs share: the program as a process, a client, an
//! event-stream reader and a raw connection.
//!
//! They use the program only through its command line, its sockets and its signals. A driver panics
//! if something unexpected happens: in a test that is the failure, with its location.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a driver's failure is the failure of the test that drives it"
)]

pub mod answer;
pub mod bucket;
pub mod client;
pub mod disk;
pub mod embedder;
pub mod patience;
pub mod process;
pub mod raw;
pub mod received;
pub mod receiver;
pub mod relay;
pub mod restores;
pub mod scenario;
pub mod site;
pub mod sse;
pub mod upstream;

pub use cicerone_tests_postgres as postgres;

pub use answer::Answer;
pub use client::Client;
pub use process::{Program, ROOT_KEY, Server};
pub use site::{Resource, Site};
