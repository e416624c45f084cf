//! Searching what an index holds at one moment.

mod question;
mod ranking;
mod records;
mod snapshot;
mod weights;

pub(crate) use records::Records;
pub(crate) use snapshot::Snapshot;
