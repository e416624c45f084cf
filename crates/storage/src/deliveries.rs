//! Deliveries: work on events as rows with leases.
//!
//! A transaction that changes something of an endpoint locks the endpoint's row first.

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
use diesel::sql_types::{BigInt, Nullable, Text};

use crate::columns::{from_json, id, named, narrow, time, to_json};
use crate::connection::{AnyConnection, note_value};
use crate::dialect;
use crate::error::TransactionError;
use crate::pages::{Size, octet_length};
use crate::removal::Part;
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
    /// A delivery of `account` that has not been attempted yet.
    fn new(delivery: &Delivery, account: Id<kind::Account>) -> Result<Self, TransactionError> {
        Ok(Self {
            id: delivery.id.to_string(),
            account_id: account.to_string(),
            endpoint_id: delivery.endpoint_id.to_string(),
            event_id: delivery.event_id.to_string(),
            event: delivery.event.name().to_owned(),
            status: delivery.status.name().to_owned(),
            attempts: to_json(&delivery.attempts)?,
            tries: 0,
            next_attempt_at: delivery.next_attempt_at.map(Timestamp::as_millis),
            lease_token: None,
            lease_until: None,
            created_at: delivery.created_at.as_millis(),
        })
    }
}

/// The columns that change with an attempt, or when a delivery is sent again. A worker that is
/// attempting it loses its lease.
#[derive(AsChangeset)]
#[diesel(table_name = deliveries, treat_none_as_null = true)]
pub(crate) struct DeliveryChange {
    status: &'static str,
    attempts: String,
    next_attempt_at: Option<i64>,
    lease_token: Option<String>,
    lease_until: Option<i64>,
}

impl DeliveryChange {
    pub(crate) fn of(delivery: &Delivery) -> Result<Self, TransactionError> {
        Ok(Self {
            status: delivery.status.name(),
            attempts: to_json(&delivery.attempts)?,
            next_attempt_at: delivery.next_attempt_at.map(Timestamp::as_millis),
            lease_token: None,
            lease_until: None,
        })
    }
}

impl TryFrom<DeliveryRow> for Delivery {
    type Error = TransactionError;

    fn try_from(row: DeliveryRow) -> Result<Self, TransactionError> {
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

/// Queues an event for an endpoint. The caller must hold the lock of the endpoint's row.
pub(crate) fn queue(
    c: &mut AnyConnection,
    endpoint: Id<kind::WebhookEndpoint>,
    event: &Event,
) -> Result<Delivery, TransactionError> {
    let delivery = Delivery::of(event, endpoint);
    let row = DeliveryRow::new(&delivery, event.account_id)?;
    diesel::insert_into(deliveries::table).values(row).execute(c)?;
    Ok(delivery)
}

/// Whether an event has a delivery, as a condition of a query for events.
#[diesel::dsl::auto_type]
pub(crate) fn exists_of_event() -> _ {
    diesel::dsl::exists(
        deliveries::table.filter(deliveries::event_id.eq(events::id)).select(deliveries::id),
    )
}

/// Removes deliveries from before a moment, at most `limit`, except those that are still pending for an enabled
/// endpoint. Returns their number.
pub(crate) fn expire(
    c: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, TransactionError> {
    let old = || {
        deliveries::table
            .inner_join(webhook_endpoints::table)
            .filter(deliveries::created_at.lt(before.as_millis()))
            .order(deliveries::created_at)
            .limit(limit)
            .select(deliveries::id)
    };
    let over: Vec<String> = old().filter(deliveries::next_attempt_at.is_null()).load(c)?;
    // A delivery that was sent again in the meantime is kept.
    let over = deliveries::table
        .filter(deliveries::id.eq_any(over))
        .filter(deliveries::next_attempt_at.is_null());
    let removed = diesel::delete(over).execute(c)?;
    let kept: Vec<String> =
        old().filter(webhook_endpoints::disabled_reason.is_not_null()).load(c)?;
    let kept = deliveries::table.filter(deliveries::id.eq_any(kept));
    Ok(removed + diesel::delete(kept).execute(c)?)
}

/// Deletes some deliveries of an endpoint that is about to be deleted, the oldest first. Returns true if none is left.
pub(crate) fn delete_part(c: &mut AnyConnection, endpoint: &str) -> Result<bool, TransactionError> {
    let mut part = Part::new();
    let old: Vec<(String, Size)> = deliveries::table
        .filter(deliveries::endpoint_id.eq(endpoint))
        .order((deliveries::created_at, deliveries::id))
        .limit(part.limit())
        .select((deliveries::id, octet_length(deliveries::attempts.nullable())))
        .load(c)?;
    let ids = part.take_each(old);
    diesel::delete(deliveries::table.filter(deliveries::id.eq_any(ids))).execute(c)?;
    Ok(!part.is_used_up())
}

/// Counts the pending deliveries, and those of them that are due at `now`.
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
        self.db.lookup(move |c| due_endpoints(c, now)).await
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

    async fn payload(&self, event: Id<kind::Event>) -> Result<Option<String>, Error> {
        let event = event.to_string();
        self.db
            .read(move |c| {
                let event = events::table.find(&event).select(events::payload);
                let payload: Option<String> = event.get_result(c).optional()?;
                payload.iter().for_each(|payload| note_value(payload));
                Ok(payload)
            })
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

    async fn postpone_delivery(
        &self,
        lease: &DeliveryLease,
        until: Timestamp,
    ) -> Result<(), Error> {
        let lease = lease.clone();
        self.db.write(move |c| attempts::postpone(c, &lease, until)).await
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

/// The enabled endpoints with a due delivery. While an attempt is in progress, its delivery is due when its lease ends.
///
/// The index leads from one endpoint with pending deliveries to the next, so that the query costs
/// nothing for the others, however many there are.
fn due_endpoints(
    c: &mut AnyConnection,
    now: Timestamp,
) -> Result<Vec<DueEndpoint>, TransactionError> {
    let rows: Vec<DueRow> = dialect::load_sql(c, &due_endpoints_sql(now))?;
    let mut due = Vec::new();
    for row in rows {
        let Some(since) = row.since else { continue };
        due.push(DueEndpoint {
            id: id("webhook_endpoints.id", &row.id)?,
            since: time(since),
            in_flight: narrow("count", row.in_flight)?,
            health: health(row.failures, row.failing_since, row.succeeded_at)?,
        });
    }
    Ok(due)
}

/// An endpoint with pending deliveries.
#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = Text)]
    id: String,
    /// When its oldest delivery became due.
    #[diesel(sql_type = Nullable<BigInt>)]
    since: Option<i64>,
    /// The number of attempts in progress.
    #[diesel(sql_type = BigInt)]
    in_flight: i64,
    #[diesel(sql_type = BigInt)]
    failures: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    failing_since: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    succeeded_at: Option<i64>,
}

fn due_endpoints_sql(now: Timestamp) -> String {
    // This number is from the program itself, and the databases have different placeholders.
    let now = now.as_millis();
    format!(
        "WITH RECURSIVE waiting (endpoint_id) AS (
            SELECT min(endpoint_id) FROM deliveries WHERE next_attempt_at IS NOT NULL
            UNION ALL
            SELECT (SELECT min(deliveries.endpoint_id) FROM deliveries
                    WHERE deliveries.next_attempt_at IS NOT NULL
                    AND deliveries.endpoint_id > waiting.endpoint_id)
            FROM waiting WHERE waiting.endpoint_id IS NOT NULL
        )
        SELECT webhook_endpoints.id AS id,
            (SELECT min(deliveries.next_attempt_at) FROM deliveries
             WHERE deliveries.endpoint_id = webhook_endpoints.id
             AND deliveries.next_attempt_at <= {now}) AS since,
            (SELECT count(*) FROM deliveries
             WHERE deliveries.endpoint_id = webhook_endpoints.id
             AND deliveries.lease_until > {now}) AS in_flight,
            failures, failing_since, succeeded_at
        FROM waiting JOIN webhook_endpoints ON webhook_endpoints.id = waiting.endpoint_id
        WHERE disabled_reason IS NULL"
    )
}

/// An endpoint's health from its columns.
pub(crate) fn health(
    failures: i64,
    failing_since: Option<i64>,
    succeeded_at: Option<i64>,
) -> Result<EndpointHealth, TransactionError> {
    Ok(EndpointHealth {
        failures: narrow("webhook_endpoints.failures", failures)?,
        failing_since: failing_since.map(time),
        succeeded_at: succeeded_at.map(time),
    })
}

/// Locks an endpoint's row. Returns false if it does not exist.
pub(crate) fn hold(c: &mut AnyConnection, endpoint: &str) -> QueryResult<bool> {
    dialect::lock_endpoint(c, endpoint)
}

#[cfg(test)]
mod tests {
    use cicerone_domain::Timestamp;
    use diesel::prelude::*;
    use diesel::sql_types::Text;

    use super::due_endpoints_sql;
    use crate::connection::{Access, Either, connect};
    use crate::migrations;
    use crate::url::DatabaseUrl;

    #[derive(QueryableByName)]
    struct Step {
        #[diesel(sql_type = Text)]
        detail: String,
    }

    #[test]
    fn a_look_at_what_is_due_reads_no_endpoint_for_which_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("plan.db"));
        migrations::run(&url).unwrap();
        let Either::Sqlite(mut c) = connect(&url, Access::Write).unwrap().into_either() else {
            panic!("not a SQLite file");
        };
        let sql = due_endpoints_sql(Timestamp::from_millis(0));
        let steps: Vec<Step> =
            diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}")).load(&mut c).unwrap();
        let plan: Vec<&str> = steps.iter().map(|step| step.detail.as_str()).collect();
        assert!(plan.iter().any(|step| step.contains("SEARCH webhook_endpoints")), "{plan:#?}");
        assert!(plan.iter().any(|step| step.contains("INDEX deliveries_due")), "{plan:#?}");
        for table in ["webhook_endpoints", "deliveries"] {
            let scan = format!("SCAN {table}");
            let scans: Vec<_> = plan.iter().filter(|step| step.starts_with(&scan)).collect();
            // Finding the smallest id reads the first entry of the index.
            let are_entries = scans.iter().all(|step| step.contains("INDEX deliveries_due"));
            assert!(are_entries, "{plan:#?}");
        }
    }
}
