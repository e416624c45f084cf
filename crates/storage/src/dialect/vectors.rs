//! Statements about vectors.

use diesel::prelude::*;
use diesel::upsert::excluded;

use super::ROWS;
use crate::connection::{AnyConnection, Either};
use crate::schema::{passage_vectors, source_vectors};
use crate::vectors::{StateRow, VectorRow};

/// A source that still is due and lacks vectors. PostgreSQL locks its row.
pub(crate) fn hold_lacking(
    c: &mut AnyConnection,
    source: &str,
    now: i64,
) -> QueryResult<Option<StateRow>> {
    let query = source_vectors::table
        .filter(source_vectors::source_id.eq(source))
        .filter(source_vectors::is_complete.eq(false))
        .filter(source_vectors::due_at.le(now));
    match c.either() {
        Either::Postgres(c) => {
            query.select(StateRow::as_select()).for_update().get_result(c).optional()
        }
        Either::Sqlite(c) => query.select(StateRow::as_select()).get_result(c).optional(),
    }
}

/// Some due sources of an account that lack vectors. PostgreSQL locks their rows and skips those that are locked.
pub(crate) fn due_lacking(
    c: &mut AnyConnection,
    account: &str,
    now: i64,
    limit: i64,
) -> QueryResult<Vec<String>> {
    let query = source_vectors::table
        .filter(source_vectors::is_complete.eq(false))
        .filter(source_vectors::account_id.eq(account))
        .filter(source_vectors::due_at.le(now))
        .limit(limit)
        .select(source_vectors::source_id);
    match c.either() {
        Either::Postgres(c) => query.for_update().skip_locked().load(c),
        Either::Sqlite(c) => query.load(c),
    }
}

/// Records that sources lack vectors at the versions of these rows, except those that are already known at that
/// version. Their vectors and spaces are kept.
pub(crate) fn expect_vectors(c: &mut AnyConnection, rows: &[StateRow]) -> QueryResult<()> {
    // Imported for the entire module, it would conflict with the method of the same name.
    use diesel::query_dsl::methods::FilterDsl;

    let changes = || {
        (
            source_vectors::version.eq(excluded(source_vectors::version)),
            source_vectors::is_complete.eq(excluded(source_vectors::is_complete)),
            source_vectors::embedded_to.eq(excluded(source_vectors::embedded_to)),
            source_vectors::due_at.eq(excluded(source_vectors::due_at)),
            source_vectors::halvings.eq(excluded(source_vectors::halvings)),
        )
    };
    let is_other = || source_vectors::version.ne(excluded(source_vectors::version));
    let key = source_vectors::source_id;
    match c.either() {
        Either::Postgres(c) => {
            for rows in rows.chunks(ROWS) {
                let insert = diesel::insert_into(source_vectors::table).values(rows);
                let upsert = insert.on_conflict(key).do_update().set(changes());
                FilterDsl::filter(upsert, is_other()).execute(c)?;
            }
        }
        Either::Sqlite(c) => {
            for row in rows {
                let insert = diesel::insert_into(source_vectors::table).values(row);
                let upsert = insert.on_conflict(key).do_update().set(changes());
                FilterDsl::filter(upsert, is_other()).execute(c)?;
            }
        }
    }
    Ok(())
}

/// Adds vectors.
pub(crate) fn insert_vectors(c: &mut AnyConnection, rows: &[VectorRow]) -> QueryResult<()> {
    for rows in rows.chunks(ROWS) {
        let statement = || diesel::insert_into(passage_vectors::table).values(rows);
        match c.either() {
            Either::Postgres(c) => statement().execute(c)?,
            Either::Sqlite(c) => statement().execute(c)?,
        };
    }
    Ok(())
}
