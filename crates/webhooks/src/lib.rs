//! Deliveries of events to webhook endpoints, as Standard Webhooks
//! (<https://github.com/standard-webhooks/standard-webhooks>) has them.
//!
//! An event and its deliveries are rows, written in the transaction that makes the event true. The
//! [`Deliverer`] claims what is due, signs it, sends it through the guarded client and notes what
//! became of it. A process that is killed between sending and noting sends again: at least once, with
//! the same `webhook-id`.
//!
//! Invariant: no endpoint holds up another. Each has few attempts under way, and those that are not
//! known to answer share a part of the places that the others never need.

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
