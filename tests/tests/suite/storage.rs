//! The contract of the store ports, tested on both databases.
//!
//! Every test runs on SQLite and on PostgreSQL. If PostgreSQL is not installed, the run says so, and
//! fails if `CI` is set.

mod agents;
mod batches;
mod bytes;
mod checks;
mod claims;
mod conversations;
mod crawling;
mod crawls;
mod documents;
mod feed;
mod fixture;
mod full_disk;
mod gaps;
mod gathered;
mod housekeeping;
mod idempotency;
mod jobs;
mod kept_answers;
mod keys;
mod large_sources;
mod leftovers;
mod managed;
mod migrations;
mod objects;
mod page_reasons;
mod pairs;
mod quotas;
mod ratings;
mod receipts;
mod recovery;
mod removals;
mod sources;
mod time_bounds;
mod together;
mod unkept;
mod uploads;
mod vectors;
mod webhooks;
mod widgets;

pub(crate) use time_bounds::waiting_for_rows;
