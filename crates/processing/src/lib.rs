//! Cicerone's background work on sources.
//!
//! The [`Worker`] claims jobs, fetches the content of their sources, has it read and extracted by `cicerone-ingestion`,
//! and stores the outcome through the ports of the domain. The [`Housekeeper`] removes data that is no longer needed.
//! The [`Learner`] creates vectors of passages, and the [`Checker`] asks agents the checks of their owners.
//!
//! Invariant: this crate does not depend on the database, the index or HTTP.

mod checker;
mod housekeeper;
mod learner;
mod warmer;
mod worker;

use std::time::Duration;

pub use checker::{Checked, Checker, CheckerPorts};
pub use housekeeper::{Housekeeper, Retention, Swept};
pub use learner::{Learned, Learner, LearnerPorts};
pub use worker::{Step, Worker, WorkerPorts, WorkerSettings};

/// The pause of a loop after a failure of the database.
const OUTAGE_PAUSE: Duration = Duration::from_secs(1);
