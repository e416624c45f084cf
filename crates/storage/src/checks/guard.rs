//! Comparisons of guarded sources as runs.

use cicerone_domain::check::Comparison;
use cicerone_domain::id::kind;
use cicerone_domain::{Id, Source, Timestamp};
use diesel::prelude::*;

use super::rows::HeldRunRow;
use super::{publish_to_takers, remove_old};
use crate::connection::AnyConnection;
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
    diesel::insert_into(check_runs::table).values(HeldRunRow::new(&run)?).execute(c)?;
    remove_old(c, &run)?;
    // A refusal always produces an event, even if the previous one named the same checks.
    let published = if is_refused { run.event(None, event, now) } else { None };
    published.map_or(Ok(()), |event| publish_to_takers(c, &event))
}
