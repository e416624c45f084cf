//! `/v1/files`.

mod arrival;
mod bucket;
pub(crate) mod content;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod upload;
