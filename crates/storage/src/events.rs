//! Events, whose payloads hold what their sources hold.

use cicerone_domain::event::without_content;
use diesel::prelude::*;

use crate::connection::AnyConnection;
use crate::error::Failure;
use crate::schema::events;

/// Source ids of one statement.
const AT_ONCE: usize = 500;

/// Takes the content out of the events of sources that are deleted. That something happened is still
/// told.
pub(crate) fn erase_content(c: &mut AnyConnection, sources: &[String]) -> Result<(), Failure> {
    for sources in sources.chunks(AT_ONCE) {
        let told: Vec<(String, String)> = events::table
            .filter(events::source_id.eq_any(sources))
            .select((events::id, events::payload))
            .load(c)?;
        for (id, payload) in told {
            let payload = without_content(&payload)
                .ok_or_else(|| Failure::internal(format!("the event `{id}` has no payload")))?;
            diesel::update(events::table.find(id)).set(events::payload.eq(payload)).execute(c)?;
        }
    }
    Ok(())
}
