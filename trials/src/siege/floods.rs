//! Floods by one account: while it keeps all shared resources busy, another account is served as
//! usual.

pub(super) mod agents;
pub(super) mod documents;
pub(super) mod removals;
pub(super) mod searches;
pub(super) mod sites;
pub(super) mod streams;
pub(super) mod texts;
pub(super) mod uploads;
