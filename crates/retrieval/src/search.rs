//! Searching a snapshot of an index.

mod content;
mod question;
mod ranking;
mod recent;
mod snapshot;
mod weights;

pub(crate) use content::InMemory;
pub(crate) use recent::Recent;
pub(crate) use snapshot::Snapshot;
