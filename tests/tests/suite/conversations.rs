//! `/v1/conversations`.

mod citations;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod rate;
pub(crate) mod receipt;
mod search;
pub(crate) mod send;
pub(crate) mod stream;
pub(crate) mod unrate;
