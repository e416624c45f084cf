//! Insertions of several new sources with their jobs. SQLite has one writer, which commits them together anyway.

use diesel::prelude::*;
use diesel::result::Error as DieselError;

use crate::connection::{AnyConnection, Either};
use crate::jobs::JobRow;
use crate::schema::{jobs, sources};
use crate::sources::NewSourceRow;

/// Adds sources of one agent on PostgreSQL.
pub(crate) fn insert_sources(
    c: &mut AnyConnection,
    rows: &[NewSourceRow<'_>],
) -> QueryResult<usize> {
    match c.either() {
        Either::Postgres(c) => diesel::insert_into(sources::table).values(rows).execute(c),
        Either::Sqlite(_) => Err(only_on_postgres("sources")),
    }
}

/// Adds jobs on PostgreSQL.
pub(crate) fn insert_jobs(c: &mut AnyConnection, rows: &[JobRow]) -> QueryResult<usize> {
    match c.either() {
        Either::Postgres(c) => diesel::insert_into(jobs::table).values(rows).execute(c),
        Either::Sqlite(_) => Err(only_on_postgres("jobs")),
    }
}

/// The error of a statement that exists for PostgreSQL only.
fn only_on_postgres(what: &str) -> DieselError {
    DieselError::QueryBuilderError(format!("{what} are not stored together on SQLite").into())
}
