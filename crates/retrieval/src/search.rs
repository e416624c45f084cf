//! Searching a snapshot of an index.

mod content;
mod impacts;
mod question;
mod ranking;
mod recent;
mod reference;
mod results;
mod snapshot;
mod weights;

pub(crate) use content::InMemory;
pub(crate) use recent::Recent;
pub(crate) use reference::stands_alone;
pub(crate) use snapshot::Snapshot;
