//! The one guarded HTTP client for addresses that strangers chose: websites to crawl, webhooks.
//!
//! [`Egress`] sends requests to public web addresses only. A URL is judged by how it is written, on
//! every hop; a name by every address that it resolves to, and connections are made to exactly
//! the addresses that were judged. Answers are bounded in time and in their decompressed size.
//! [`scope_of`] judges one address.
//!
//! Invariant: nothing here knows any other crate of ours, and every connection is judged by
//! `guard`: there are no proxies, no redirects that it does not see, and no second resolution.

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
