//! Cicerone's background work on sources.
//!
//! The [`Worker`] claims jobs, fetches what a source names, has it read and extracted by
//! `cicerone-ingestion`, and stores the outcome through the ports of the domain. The [`Housekeeper`]
//! removes what is no longer needed. The [`Learner`] has vectors made of passages.
//!
//! Invariant: nothing here knows the database, the index or HTTP.

mod housekeeper;
mod learner;
mod worker;

pub use housekeeper::{Housekeeper, Retention, Swept};
pub use learner::{Learned, Learner, LearnerPorts};
pub use worker::{Step, Worker, WorkerPorts, WorkerSettings};
