//! Events, written in the transaction of the change that they report, and queued there for the
//! endpoints that subscribe to them.

use cicerone_domain::event::{Event, erased};
use cicerone_domain::webhook::EventName;
use cicerone_domain::{Id, Timestamp, kind};
use diesel::prelude::*;

use crate::columns::id;
use crate::connection::{AnyConnection, note_value};
use crate::deliveries;
use crate::dialect;
use crate::error::TransactionError;
use crate::pages::{Size, octet_length};
use crate::removal::Part;
use crate::schema::events;
use crate::webhooks::subscription;

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
pub(crate) struct EventRow<'a> {
    id: String,
    account_id: String,
    source_id: Option<String>,
    name: &'static str,
    payload: &'a str,
    created_at: i64,
    request_id: Option<String>,
    conversation_id: Option<String>,
}

/// The enabled endpoints of an account that subscribe to an event. None of them can be removed until the
/// transaction ends.
pub(crate) fn takers(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    name: EventName,
) -> Result<Vec<Id<kind::WebhookEndpoint>>, TransactionError> {
    let mut takers = Vec::new();
    for (endpoint, events) in dialect::hold_endpoints(c, &account.to_string())? {
        if subscription(&events)?.includes(name) {
            takers.push(id("webhook_endpoints.id", &endpoint)?);
        }
    }
    Ok(takers)
}

/// Stores an event and queues it for these endpoints.
pub(crate) fn publish(
    c: &mut AnyConnection,
    event: &Event,
    takers: Vec<Id<kind::WebhookEndpoint>>,
) -> Result<(), TransactionError> {
    insert(c, event)?;
    for endpoint in takers {
        deliveries::queue(c, endpoint, event)?;
    }
    Ok(())
}

/// Stores events and queues each for these endpoints.
pub(crate) fn publish_all(
    c: &mut AnyConnection,
    events: &[Event],
    takers: &[Id<kind::WebhookEndpoint>],
) -> Result<(), TransactionError> {
    let rows: Vec<_> = events.iter().map(EventRow::of).collect();
    dialect::insert_events(c, &rows)?;
    for event in events {
        for endpoint in takers {
            deliveries::queue(c, *endpoint, event)?;
        }
    }
    Ok(())
}

pub(crate) fn insert(c: &mut AnyConnection, event: &Event) -> Result<(), TransactionError> {
    diesel::insert_into(events::table).values(EventRow::of(event)).execute(c)?;
    Ok(())
}

impl<'a> EventRow<'a> {
    fn of(event: &'a Event) -> Self {
        note_value(&event.payload);
        Self {
            id: event.id.to_string(),
            account_id: event.account_id.to_string(),
            source_id: event.source_id.map(|id| id.to_string()),
            name: event.name.name(),
            payload: &event.payload,
            created_at: event.created_at.as_millis(),
            request_id: event.request_id.map(|id| id.to_string()),
            conversation_id: event.conversation_id.map(|id| id.to_string()),
        }
    }
}

/// Removes the content of a deleted source from its events, as far as the part allows. Returns true if none is left. The
/// events themselves stay.
pub(crate) fn erase_of_source(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let told = events::table
        .filter(events::source_id.eq(source))
        .limit(part.limit())
        .select((events::id, octet_length(events::payload.nullable())))
        .load(c)?;
    erase(c, told, part)
}

/// The same for what people wrote in a deleted conversation.
pub(crate) fn erase_of_conversation(
    c: &mut AnyConnection,
    conversation: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let told = events::table
        .filter(events::conversation_id.eq(conversation))
        .limit(part.limit())
        .select((events::id, octet_length(events::payload.nullable())))
        .load(c)?;
    erase(c, told, part)
}

/// Erases events one by one: each may have a payload of many megabytes. What is erased belongs to nothing any more, so that
/// the next part does not find it again.
fn erase(
    c: &mut AnyConnection,
    told: Vec<(String, Size)>,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    for id in part.take_each(told) {
        let event = events::table.find(&id).select(events::payload);
        // Another server may have removed an old event since.
        let Some(payload) = event.get_result::<String>(c).optional()? else { continue };
        note_value(&payload);
        let payload = erased(&payload).ok_or_else(|| {
            TransactionError::internal(format!("the event `{id}` has no payload"))
        })?;
        diesel::update(events::table.find(id))
            .set((
                events::payload.eq(payload),
                events::source_id.eq(None::<String>),
                events::conversation_id.eq(None::<String>),
            ))
            .execute(c)?;
    }
    Ok(!part.is_used_up())
}

/// Removes events without deliveries from before a moment, at most `limit`. Returns how many were removed.
pub(crate) fn expire(
    c: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, TransactionError> {
    let old: Vec<(String, Size)> = events::table
        .filter(events::created_at.lt(before.as_millis()))
        .filter(diesel::dsl::not(deliveries::exists_of_event()))
        .order(events::created_at)
        .limit(limit)
        .select((events::id, octet_length(events::payload.nullable())))
        .load(c)?;
    // A payload may have many megabytes.
    let ids = Part::new().take_each(old);
    Ok(diesel::delete(events::table.filter(events::id.eq_any(ids))).execute(c)?)
}
