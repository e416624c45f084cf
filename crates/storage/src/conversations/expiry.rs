//! The end of conversations that their agent no longer keeps.

use cicerone_domain::Timestamp;
use diesel::prelude::*;

use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::idempotency::erase_of;
use crate::schema::conversations;

/// Begins to delete an agent's conversations without a message since `before`, at most `limit`, and
/// erases the stored answers that contain them. Returns their number.
pub(crate) fn expire(
    c: &mut AnyConnection,
    agent: &str,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<usize, TransactionError> {
    // A conversation begins before its messages, and its beginning is in the index.
    let ids: Vec<String> = conversations::table
        .filter(conversations::agent_id.eq(agent))
        .filter(conversations::removed_at.is_null())
        .filter(conversations::created_at.lt(before.as_millis()))
        .filter(conversations::updated_at.lt(before.as_millis()))
        .order(conversations::created_at)
        .limit(limit)
        .select(conversations::id)
        .load(c)?;
    // A conversation that was continued in the meantime is kept.
    let over = conversations::table
        .filter(conversations::id.eq_any(ids))
        .filter(conversations::updated_at.lt(before.as_millis()));
    let removed: Vec<String> = diesel::update(over)
        .set(conversations::removed_at.eq(now.as_millis()))
        .returning(conversations::id)
        .get_results(c)?;
    for id in &removed {
        erase_of(c, id)?;
    }
    Ok(removed.len())
}
