//! Searching what an index holds at one moment.

mod question;
mod ranking;
mod snapshot;
mod weights;

pub(crate) use snapshot::Snapshot;
