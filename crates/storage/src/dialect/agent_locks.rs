//! Locks of agents' rows. SQLite has one writer and needs none.

use diesel::prelude::*;

use crate::connection::{AnyConnection, Either};
use crate::schema::agents;

/// Locks an agent's row until the transaction ends, so that changes of its content follow each
/// other; conversations do not wait for it. Returns false if it does not exist.
pub(crate) fn lock_agent(c: &mut AnyConnection, id: &str) -> QueryResult<bool> {
    let query = agents::table
        .filter(agents::id.eq(id))
        .filter(agents::removed_at.is_null())
        .select(agents::id);
    let found: Option<String> = match c.either() {
        Either::Postgres(c) => query.for_no_key_update().get_result(c).optional()?,
        Either::Sqlite(c) => query.get_result(c).optional()?,
    };
    Ok(found.is_some())
}

/// Keeps an agent's row from being deleted until the transaction ends, as a reference to it does; changes of its
/// content do not wait. Returns false if it does not exist.
pub(crate) fn hold_agent(c: &mut AnyConnection, id: &str) -> QueryResult<bool> {
    let query = agents::table
        .filter(agents::id.eq(id))
        .filter(agents::removed_at.is_null())
        .select(agents::id);
    let found: Option<String> = match c.either() {
        Either::Postgres(c) => query.for_key_share().get_result(c).optional()?,
        Either::Sqlite(c) => query.get_result(c).optional()?,
    };
    Ok(found.is_some())
}
