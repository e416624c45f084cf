//! `/v1/agents/{agent_id}/sources`, `/v1/sources` and the search over them.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod document;
pub(crate) mod documents;
pub(crate) mod get;
mod large;
pub(crate) mod list;
mod nul;
mod ocr;
pub(crate) mod pages;
pub(crate) mod pairs;
mod partly_read;
pub(crate) mod passages;
pub(crate) mod preview;
mod processing;
pub(crate) mod refresh;
pub(crate) mod search;
pub(crate) mod update;
pub(crate) mod website;
