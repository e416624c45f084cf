//! `/v1/agents`.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod statistics;
pub(crate) mod update;
