//! Searching a snapshot of an index.

mod question;
mod ranking;
mod recent;
mod snapshot;
mod weights;

pub(crate) use recent::Recent;
pub(crate) use snapshot::Snapshot;
