//! Comparisons of guarded sources as runs.

use cicerone_domain::check::Comparison;
use cicerone_domain::id::kind;
use cicerone_domain::{Id, Source, Timestamp};
use diesel::prelude::*;

use super::rows::HeldRunRow;
use super::{remove_old, tell};
use crate::columns::to_json;
use crate::connection::{AnyConnection, note_value};
use crate::error::TransactionError;
use crate::schema::check_runs;

/// Records the comparison by which a crawl of a source has ended, and tells which checks would fail if it was refused. The
/// caller holds the lock of the agent. The id of the run is derived from that of the event.
pub(crate) fn record_comparison(
    c: &mut AnyConnection,
    source: &Source,
    comparison: Comparison,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let is_refused = comparison.refusal().is_some();
    let run = comparison.into_run(Id::derived(&[&event.to_string(), "guard"]), source, now);
    let mut row = HeldRunRow::new(&run, now);
    row.results = to_json(&run.results)?;
    note_value(&row.results);
    row.count(&run);
    row.error_message.clone_from(&run.error_message);
    row.finished_at = run.finished_at.map(Timestamp::as_millis);
    diesel::insert_into(check_runs::table).values(row).execute(c)?;
    remove_old(c, &run)?;
    // A refusal always produces an event, even if the previous one named the same checks.
    let told = if is_refused { run.event(None, event, now) } else { None };
    told.map_or(Ok(()), |event| tell(c, &event))
}
