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

/// Says that a source lacks vectors at the version of `row`, unless it is known at that version. Its vectors, and the
/// space that they are of, stay.
pub(crate) fn expect_vectors(c: &mut AnyConnection, row: &StateRow) -> QueryResult<()> {
    // In the whole module, it would compete with the method of the same name.
    use diesel::query_dsl::methods::FilterDsl;

    let statement = || {
        let statement = diesel::insert_into(source_vectors::table)
            .values(row)
            .on_conflict(source_vectors::source_id)
            .do_update()
            .set((
                source_vectors::version.eq(row.version),
                source_vectors::is_complete.eq(row.is_complete),
                source_vectors::embedded_to.eq(row.embedded_to),
                source_vectors::due_at.eq(row.due_at),
                source_vectors::halvings.eq(row.halvings),
            ));
        FilterDsl::filter(statement, source_vectors::version.ne(row.version))
    };
    match c {
        AnyConnection::Postgres(c) => statement().execute(c)?,
        AnyConnection::Sqlite(c) => statement().execute(c)?,
    };
    Ok(())
}

/// Adds vectors.
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
