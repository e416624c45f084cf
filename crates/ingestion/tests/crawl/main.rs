//! Crawls of small websites, over real HTTP on loopback wherever time plays no part.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail as tests do"
)]

mod bench;
mod faults;
mod interruption;
mod manners;
mod pages;
mod reader;
mod refresh;
mod scope;
mod scripted;
mod server;
mod store;
