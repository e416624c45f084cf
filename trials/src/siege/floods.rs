//! Floods by one account: while it keeps everything that accounts share busy, another is served as on
//! a quiet day.

pub(super) mod agents;
pub(super) mod documents;
pub(super) mod removals;
pub(super) mod searches;
pub(super) mod sites;
pub(super) mod streams;
pub(super) mod texts;
pub(super) mod uploads;
