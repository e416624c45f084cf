//! Deliveries of events to webhook endpoints, as Standard Webhooks
//! (<https://github.com/standard-webhooks/standard-webhooks>) has them.
//!
//! An event and its deliveries are rows, written in the transaction of the change that they report. The
//! [`Deliverer`] claims deliveries that are due, signs them, sends them with the guarded client and stores
//! the outcome. A process that is killed between sending and noting sends again: at least once, with
//! the same `webhook-id`.
//!
//! Invariant: no endpoint holds up another. Each has few attempts under way, and the endpoints that are
//! not known to answer share a part of the places, which leaves the rest to the others.

mod deliverer;
mod fairness;
mod send;
mod settings;
mod signature;
mod target;

pub use deliverer::Deliverer;
pub use settings::DeliverySettings;
pub use signature::sign;
pub use target::Targets;
