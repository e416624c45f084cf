//! Adding pairs to a source.

use cicerone_domain::job::NewJob;
use cicerone_domain::source::QaPair;
use cicerone_domain::{Source, Timestamp};
use diesel::prelude::*;

use super::StateRow;
use crate::bytes;
use crate::columns::wide;
use crate::connection::{AnyConnection, note_value};
use crate::error::TransactionError;
use crate::jobs;
use crate::schema::sources;

/// Adds pairs to a source whose agent's row is locked, and queues the job that processes it. `quota` applies to
/// accounts without their own quota.
pub(crate) fn add(
    c: &mut AnyConnection,
    source: Source,
    pairs: &[QaPair],
    job: NewJob,
    quota: Option<u64>,
    now: Timestamp,
) -> Result<Source, TransactionError> {
    let before = source.content.as_text().len();
    let source = source.add_pairs(pairs)?;
    let content = source.content.as_text();
    note_value(&content);
    let more = wide(content.len().saturating_sub(before));
    // One statement: each writes the whole row, with content of up to 8 MiB.
    diesel::update(sources::table.find(source.id.to_string()))
        .set((
            sources::content.eq(content.as_ref()),
            sources::stored_bytes.eq(sources::stored_bytes + more),
            StateRow::of(&source)?,
        ))
        .execute(c)?;
    bytes::change_within(c, quota, source.account_id, more)?;
    jobs::queue(c, &source, job, now)?;
    drop(content);
    Ok(source)
}
