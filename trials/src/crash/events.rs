//! The events in a database, counted by direct access.

use anyhow::{Context as _, bail};
use cicerone_storage::DatabaseUrl;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = Text)]
    source_id: String,
    #[diesel(sql_type = BigInt)]
    events: i64,
}

/// Checks that each finished source has exactly one event, and each deleted one at most one.
/// Returns how many were checked. A SQLite file must not be open elsewhere.
pub(crate) fn check(database: &DatabaseUrl) -> anyhow::Result<usize> {
    let finished = counts(
        database,
        "SELECT id AS source_id, \
         (SELECT count(*) FROM events WHERE events.source_id = sources.id) AS events \
         FROM sources WHERE status IN ('trained', 'failed')",
    )?;
    let told = counts(
        database,
        "SELECT source_id, count(*) AS events FROM events \
         WHERE source_id IS NOT NULL GROUP BY source_id",
    )?;
    if let Some(Count { source_id, events }) =
        finished.iter().chain(&told).find(|count| count.events != 1)
    {
        bail!("source `{source_id}` has {events} events instead of one");
    }
    Ok(finished.len())
}

fn counts(database: &DatabaseUrl, sql: &str) -> anyhow::Result<Vec<Count>> {
    let query = diesel::sql_query(sql);
    match database.sqlite_path() {
        Some(path) => {
            let path = path.to_str().context("a path that is not UTF-8")?;
            let connection = SqliteConnection::establish(path).context("opening the database");
            Ok(query.load(&mut connection?)?)
        }
        None => {
            let connection = PgConnection::establish(&database.to_string());
            Ok(query.load(&mut connection.context("opening the database")?)?)
        }
    }
}
