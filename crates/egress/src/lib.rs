//! The one guarded HTTP client for addresses that strangers chose: websites to crawl, webhooks.
//!
//! [`Egress`] sends requests to public web addresses only. A URL is judged by how it is written, on
//! every hop; a name by every address that it resolves to, and the addresses that were judged are
//! the ones that are connected to. What comes back is bounded in time and, counted as it is
//! decompressed, in size. [`scope_of`] is the judgement of one address.
//!
//! Invariant: nothing here knows any other crate of ours, and no connection is made but through
//! the judgement in `guard`: no proxies, no redirects behind its back, no second resolution.

mod address;
mod answer;
mod client;
mod error;
mod follow;
mod guard;
mod lookups;
mod request;
mod resolve;
mod retry_after;

pub use address::{Scope, is_public, scope_of};
pub use answer::Answer;
pub use client::{Egress, EgressSettings, SetupError};
pub use error::EgressError;
pub use guard::{Reason, Refused};
pub use lookups::LOOKUPS_AT_ONCE;
pub use request::Request;
pub use resolve::{Resolve, SystemResolver};
pub use retry_after::retry_after;

pub use ipnet::IpNet;
pub use reqwest::{Method, StatusCode, header};
pub use url::Url;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
