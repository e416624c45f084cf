//! The store ports over SQLite and PostgreSQL, and uploads in an object store.
//!
//! Every port is written once, over [diesel]'s `MultiConnection`; what differs between the two
//! databases stands in one module, `dialect`. There are two doors to a database, reading and
//! writing, and both leave the caller's thread: SQLite and libpq block.
//!
//! - On SQLite all writes go through one thread, which commits together whatever has queued up;
//!   lookups by key run on the calling thread, as they take microseconds.
//! - On PostgreSQL a bounded pool of connections, each with its thread, serves both doors.
//!
//! Two things keep statements prepared: a lookup by key has no `LIMIT` (`get_result`, not `first`), as
//! SQLite prepares a statement anew whenever the value of its `LIMIT` is bound, which triples the
//! cost; and rows write their nulls (`treat_none_as_default_value = false`), as an insert whose
//! columns vary is never kept.
//!
//! Invariant: a query for something owned names the account, and the agents of the scope if
//! those are restricted, in its `WHERE`.

mod agents;
mod audit;
mod bytes;
mod columns;
mod connection;
mod conversations;
mod crawls;
mod db;
mod deadline;
mod deliveries;
mod dialect;
mod error;
mod events;
mod feed;
mod housekeeping;
mod idempotency;
mod jobs;
mod keys;
pub mod migrations;
mod objects;
mod pages;
mod removal;
mod reserve;
mod schema;
mod scope;
pub mod snapshots;
mod sources;
mod spool;
mod storage;
mod uploads;
mod url;
mod usage;
mod vectors;
mod webhooks;

pub use error::OpenError;
pub use objects::{OpenObjectsError, UploadObjects};
pub use spool::SpoolFolder;
pub use storage::{Storage, StorageOptions};
pub use url::{DatabaseUrl, ParseDatabaseUrlError};
