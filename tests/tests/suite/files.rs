//! `/v1/files`.

pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod upload;
