//! The events in a database, counted from outside.

use std::path::Path;

use anyhow::{Context as _, bail};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = Text)]
    source_id: String,
    #[diesel(sql_type = BigInt)]
    events: i64,
}

/// Checks that each finished source has exactly one event, and no deleted one more than one. Gives
/// how many were checked. The file must not be open elsewhere.
pub(crate) fn check(file: &Path) -> anyhow::Result<usize> {
    let path = file.to_str().context("a path that is not UTF-8")?;
    let mut connection = SqliteConnection::establish(path).context("opening the database")?;
    let finished = "SELECT id AS source_id, \
        (SELECT count(*) FROM events WHERE events.source_id = sources.id) AS events \
        FROM sources WHERE status IN ('trained', 'failed')";
    let finished: Vec<Count> = diesel::sql_query(finished).load(&mut connection)?;
    let told = "SELECT source_id, count(*) AS events FROM events GROUP BY source_id";
    let told: Vec<Count> = diesel::sql_query(told).load(&mut connection)?;
    if let Some(Count { source_id, events }) =
        finished.iter().chain(&told).find(|count| count.events != 1)
    {
        bail!("source `{source_id}` has {events} events instead of one");
    }
    Ok(finished.len())
}
