//! The handlers: each reads its request, asks one use case, and writes down the outcome.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod conversations;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod sources;
pub(crate) mod usage;
pub(crate) mod webhooks;
