//! Deliveries of events to webhook endpoints, according to Standard Webhooks
//! (<https://github.com/standard-webhooks/standard-webhooks>).
//!
//! An event and its deliveries are rows, written in the transaction of the change that they report.
//! The [`Deliverer`] claims due deliveries, signs them, sends them with the guarded client and
//! stores the outcome. If a process is killed after sending and before storing the outcome, the
//! delivery is sent again: at least once, with the same `webhook-id`.
//!
//! Invariant: no endpoint delays another. Each has few attempts in progress, and the endpoints that
//! are not known to answer share a part of the places, which leaves the rest to the others.

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
