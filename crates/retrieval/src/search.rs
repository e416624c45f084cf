//! Searching what an index holds at one moment.

mod question;
mod ranking;
mod recent;
mod snapshot;
mod weights;

pub(crate) use recent::Recent;
pub(crate) use snapshot::Snapshot;
