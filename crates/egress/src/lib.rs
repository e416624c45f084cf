//! The guarded HTTP client for addresses from untrusted people: websites to crawl, webhooks.
//!
//! [`Egress`] sends requests only to public web addresses. On every hop, it checks the text of the URL and every
//! address that its name resolves to, and connects to exactly the addresses that it checked. Responses are limited in
//! time and in decompressed size. [`scope_of`] classifies one address.
//!
//! Invariant: this crate depends on no other crate of ours, and `guard` checks every connection: there are no proxies,
//! no redirects that it does not see, and no second resolution.

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
pub use lookups::on_behalf_of;
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
