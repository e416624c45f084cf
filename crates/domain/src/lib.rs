//! Types, rules, ports and use cases of Cicerone.
//!
//! This crate contains all rules of the service. It does not read the wall clock, a file, a socket or the environment: time
//! and randomness are arguments ([`Clock`], [`Entropy`]), storage, search and models are ports ([`ports`]). Adapters
//! are in separate crates that depend on this one.
//!
//! Words: an *account* owns *agents*; an agent has *sources*; processing turns a source into *documents* and those into
//! *passages*; a question finds *hits* among the passages; a reply is based on some of them, its *citations*.

#![warn(clippy::missing_errors_doc)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod access;
pub mod agent;
pub mod audit;
pub mod check;
pub mod clock;
pub mod content;
pub mod conversation;
pub mod crawl;
pub mod error;
pub mod event;
mod every;
pub mod fairness;
pub mod gap;
pub mod id;
pub mod idempotency;
pub mod job;
pub mod limits;
pub mod managed;
pub mod meaning;
pub mod page;
pub mod ports;
pub mod public_url;
pub mod retrieval;
pub mod services;
pub mod source;
pub mod statistics;
pub mod text;
pub mod timestamp;
pub mod upload;
pub mod usage;
pub mod webhook;
pub mod widget;

pub use access::{Account, AccountName, ApiKey, KeyName, Permission, Permissions, Scope};
pub use agent::{Agent, AgentName, AgentPatch, AgentStatus};
pub use clock::{Clock, Entropy, SystemClock, SystemEntropy};
pub use content::{CutDocument, Document, Extracted, Passage, Stretch};
pub use conversation::{Citation, Conversation, Message, MessageText, Role};
pub use error::{Error, FieldError, FieldErrors};
pub use every::{Results, every, every_item};
pub use id::{Id, kind};
pub use managed::Managed;
pub use page::{Listed, Page, PageRequest, Position};
pub use public_url::PublicUrl;
pub use source::{Source, SourceContent, SourceState, SourceStatus, SourceType};
pub use timestamp::Timestamp;
pub use upload::{Upload, UploadType};
pub use webhook::{Delivery, WebhookEndpoint};
pub use widget::{Visitor, VisitorScope, Widget};
