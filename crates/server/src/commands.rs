//! The subcommands.

pub(crate) mod account;
pub(crate) mod ask;
pub(crate) mod backup;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod declared;
pub(crate) mod health;
pub(crate) mod import;
mod input;
pub(crate) mod key;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod openapi;
pub(crate) mod read;
pub(crate) mod restore;
pub(crate) mod serve;
