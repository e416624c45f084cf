//! Deliveries: work on events as rows with leases.
//!
//! Whoever changes what belongs to an endpoint holds the endpoint's row first.

mod attempts;

use async_trait::async_trait;
use cicerone_domain::event::Event;
use cicerone_domain::id::kind;
use cicerone_domain::ports::DeliveryStore;
use cicerone_domain::webhook::{
    Attempt, AttemptOutcome, ClaimedDelivery, DeliveryLease, DeliveryStatus, DueEndpoint,
    EndpointHealth, EventName,
};
use cicerone_domain::{Delivery, Error, Id, Timestamp};
use diesel::prelude::*;

use crate::columns::{from_json, id, named, narrow, time};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::Failure;
use crate::events::delivery_id;
use crate::schema::{deliveries, events, webhook_endpoints};
use crate::storage::Storage;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
pub(crate) struct DeliveryRow {
    pub(crate) id: String,
    account_id: String,
    pub(crate) endpoint_id: String,
    event_id: String,
    event: String,
    status: String,
    pub(crate) attempts: String,
    tries: i64,
    next_attempt_at: Option<i64>,
    pub(crate) lease_token: Option<String>,
    pub(crate) lease_until: Option<i64>,
    pub(crate) created_at: i64,
}

impl DeliveryRow {
    /// A delivery of an event that is due with it.
    fn new(endpoint: &str, event: &Event) -> Self {
        let now = event.created_at.as_millis();
        Self {
            id: delivery_id(event.id, endpoint).to_string(),
            account_id: event.account_id.to_string(),
            endpoint_id: endpoint.to_owned(),
            event_id: event.id.to_string(),
            event: event.name.name().to_owned(),
            status: DeliveryStatus::Pending.name().to_owned(),
            attempts: "[]".to_owned(),
            tries: 0,
            next_attempt_at: Some(now),
            lease_token: None,
            lease_until: None,
            created_at: now,
        }
    }
}

impl TryFrom<DeliveryRow> for Delivery {
    type Error = Failure;

    fn try_from(row: DeliveryRow) -> Result<Self, Failure> {
        let is_under_way = row.lease_until.is_some();
        Ok(Self {
            id: id("deliveries.id", &row.id)?,
            endpoint_id: id("deliveries.endpoint_id", &row.endpoint_id)?,
            event_id: id("deliveries.event_id", &row.event_id)?,
            event: named("deliveries.event", &row.event, EventName::from_name)?,
            status: named("deliveries.status", &row.status, DeliveryStatus::from_name)?,
            attempts: from_json(&row.attempts)?,
            next_attempt_at: row.next_attempt_at.filter(|_| !is_under_way).map(time),
            created_at: time(row.created_at),
        })
    }
}

/// Whether an endpoint with that list of names takes an event.
pub(crate) fn takes(events: &str, event: EventName) -> Result<bool, Failure> {
    let names: Vec<String> = from_json(events)?;
    Ok(names.iter().any(|name| name == event.name()))
}

/// Queues an event for an endpoint, whose row is held.
pub(crate) fn queue(
    c: &mut AnyConnection,
    endpoint: &str,
    event: &Event,
) -> Result<Delivery, Failure> {
    let row = DeliveryRow::new(endpoint, event);
    diesel::insert_into(deliveries::table).values(&row).execute(c)?;
    row.try_into()
}

/// Whether an event has a delivery, as a condition of a query for events.
#[diesel::dsl::auto_type]
pub(crate) fn exists_of_event() -> _ {
    diesel::dsl::exists(
        deliveries::table.filter(deliveries::event_id.eq(events::id)).select(deliveries::id),
    )
}

/// Removes deliveries from before a moment, at most `limit`: all but those that an enabled endpoint
/// still waits for. Gives their number.
pub(crate) fn expire(
    c: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, Failure> {
    let old = || {
        deliveries::table
            .inner_join(webhook_endpoints::table)
            .filter(deliveries::created_at.lt(before.as_millis()))
            .order(deliveries::created_at)
            .limit(limit)
            .select(deliveries::id)
    };
    let over: Vec<String> = old().filter(deliveries::next_attempt_at.is_null()).load(c)?;
    // One that is sent again meanwhile stays.
    let over = deliveries::table
        .filter(deliveries::id.eq_any(over))
        .filter(deliveries::next_attempt_at.is_null());
    let removed = diesel::delete(over).execute(c)?;
    let kept: Vec<String> =
        old().filter(webhook_endpoints::disabled_reason.is_not_null()).load(c)?;
    let kept = deliveries::table.filter(deliveries::id.eq_any(kept));
    Ok(removed + diesel::delete(kept).execute(c)?)
}

/// Deliveries that are pending, and those of them that are due at `now`.
pub(crate) fn counts(c: &mut AnyConnection, now: Timestamp) -> QueryResult<(i64, i64)> {
    let pending = deliveries::table
        .inner_join(webhook_endpoints::table)
        .filter(deliveries::next_attempt_at.is_not_null())
        .filter(webhook_endpoints::disabled_reason.is_null());
    let due = pending.filter(deliveries::next_attempt_at.le(now.as_millis()));
    Ok((pending.count().get_result(c)?, due.count().get_result(c)?))
}

#[async_trait]
impl DeliveryStore for Storage {
    async fn due_endpoints(&self, now: Timestamp) -> Result<Vec<DueEndpoint>, Error> {
        self.db.lookup(move |c| due_endpoints(c, now.as_millis())).await
    }

    async fn claim_deliveries(
        &self,
        endpoint: Id<kind::WebhookEndpoint>,
        count: u32,
        in_flight: u32,
        token: String,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ClaimedDelivery>, Error> {
        let endpoint = endpoint.to_string();
        self.db
            .write(move |c| attempts::claim(c, &endpoint, (count, in_flight), &token, now, until))
            .await
    }

    async fn finish_attempt(
        &self,
        lease: &DeliveryLease,
        attempt: Attempt,
        outcome: AttemptOutcome,
        now: Timestamp,
    ) -> Result<Option<String>, Error> {
        let lease = lease.clone();
        self.db.write(move |c| attempts::finish(c, &lease, &attempt, outcome, now)).await
    }

    async fn free_deliveries(&self, now: Timestamp) -> Result<u64, Error> {
        self.db
            .write(move |c| {
                let leased = deliveries::table.filter(deliveries::lease_until.is_not_null());
                let count = diesel::update(leased)
                    .set((
                        deliveries::lease_token.eq(None::<String>),
                        deliveries::lease_until.eq(None::<i64>),
                        deliveries::next_attempt_at.eq(now.as_millis()),
                    ))
                    .execute(c)?;
                Ok(u64::try_from(count).unwrap_or(u64::MAX))
            })
            .await
    }
}

/// A probe of an index for each enabled endpoint. While an attempt is under way, its delivery is due
/// when its lease ends.
fn due_endpoints(c: &mut AnyConnection, now: i64) -> Result<Vec<DueEndpoint>, Failure> {
    let since = deliveries::table
        .filter(deliveries::endpoint_id.eq(webhook_endpoints::id))
        .filter(deliveries::next_attempt_at.le(now))
        .order(deliveries::next_attempt_at)
        .limit(1)
        .select(deliveries::next_attempt_at)
        .single_value();
    let in_flight = deliveries::table
        .filter(deliveries::endpoint_id.eq(webhook_endpoints::id))
        .filter(deliveries::lease_until.gt(now))
        .count()
        .single_value();
    let rows: Vec<DueRow> = webhook_endpoints::table
        .filter(webhook_endpoints::disabled_reason.is_null())
        .select((
            webhook_endpoints::id,
            since,
            in_flight,
            webhook_endpoints::failures,
            webhook_endpoints::failing_since,
            webhook_endpoints::succeeded_at,
        ))
        .load(c)?;
    let mut due = Vec::new();
    for (endpoint, since, in_flight, failures, failing_since, succeeded_at) in rows {
        let Some(since) = since else { continue };
        due.push(DueEndpoint {
            id: id("webhook_endpoints.id", &endpoint)?,
            since: time(since),
            in_flight: narrow("count", in_flight.unwrap_or_default())?,
            health: health(failures, failing_since, succeeded_at)?,
        });
    }
    Ok(due)
}

/// An endpoint's id, since when something is due for it, attempts under way, and its health.
type DueRow = (String, Option<i64>, Option<i64>, i64, Option<i64>, Option<i64>);

/// An endpoint's health from its columns.
pub(crate) fn health(
    failures: i64,
    failing_since: Option<i64>,
    succeeded_at: Option<i64>,
) -> Result<EndpointHealth, Failure> {
    Ok(EndpointHealth {
        failures: narrow("webhook_endpoints.failures", failures)?,
        failing_since: failing_since.map(time),
        succeeded_at: succeeded_at.map(time),
    })
}

/// Holds an endpoint's row; the endpoint as it is then.
pub(crate) fn hold(c: &mut AnyConnection, endpoint: &str) -> QueryResult<bool> {
    dialect::lock_endpoint(c, endpoint)
}
