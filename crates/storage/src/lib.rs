//! The store ports over SQLite and PostgreSQL, and uploads in an object store.
//!
//! Every port is written once, over [diesel]'s `MultiConnection`; the differences between the two
//! databases are in one module, `dialect`. Reads and writes enter a database separately, and both
//! leave the caller's thread, because SQLite and libpq block.
//!
//! - On SQLite all writes go through one thread, which commits everything that is queued together;
//!   lookups by key run on the calling thread, as they take microseconds.
//! - On PostgreSQL a bounded pool of connections, each with its thread, serves reads and writes.
//!
//! Two rules keep statements prepared. A lookup by key has no `LIMIT` (`get_result`, not `first`), because SQLite
//! prepares a statement again whenever the value of its `LIMIT` is bound, which triples the cost. Rows write their
//! nulls (`treat_none_as_default_value = false`), because an insert with varying columns is never cached.
//!
//! Invariant: a query for something with an owner names the account in its `WHERE`, and the agents
//! of the scope if those are restricted.

mod agents;
mod audit;
mod bytes;
mod checks;
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
mod gaps;
mod housekeeping;
mod idempotency;
mod jobs;
mod keys;
mod leftovers;
mod managed;
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
mod widgets;

pub use error::OpenError;
pub use objects::{OpenObjectsError, UploadObjects};
pub use reserve::release_reserve;
pub use spool::SpoolFolder;
pub use storage::{Storage, StorageOptions};
pub use url::{DatabaseUrl, ParseDatabaseUrlError};
