//! Statements about vectors.

use diesel::prelude::*;

use super::ROWS;
use crate::connection::AnyConnection;
use crate::schema::{passage_vectors, source_vectors};
use crate::vectors::{StateRow, VectorRow};

/// The due source of an account that has lacked vectors the longest. PostgreSQL locks its row and
/// skips those that another server has locked.
pub(crate) fn next_without_vectors(
    c: &mut AnyConnection,
    account: &str,
    now: i64,
) -> QueryResult<Option<StateRow>> {
    let query = source_vectors::table
        .filter(source_vectors::is_complete.eq(false))
        .filter(source_vectors::account_id.eq(account))
        .filter(source_vectors::due_at.le(now))
        .order((source_vectors::due_at, source_vectors::source_id))
        .limit(1);
    match c {
        AnyConnection::Postgres(c) => {
            let query = query.select(StateRow::as_select());
            query.for_update().skip_locked().get_result(c).optional()
        }
        AnyConnection::Sqlite(c) => query.select(StateRow::as_select()).get_result(c).optional(),
    }
}

pub(crate) fn insert_vectors(c: &mut AnyConnection, rows: &[VectorRow]) -> QueryResult<()> {
    for rows in rows.chunks(ROWS) {
        let statement = || diesel::insert_into(passage_vectors::table).values(rows);
        match c {
            AnyConnection::Postgres(c) => statement().execute(c)?,
            AnyConnection::Sqlite(c) => statement().execute(c)?,
        };
    }
    Ok(())
}
