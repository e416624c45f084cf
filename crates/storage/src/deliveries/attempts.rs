//! Claiming deliveries and storing the outcome of attempts.

use std::time::Duration;

use cicerone_domain::webhook::{
    Attempt, AttemptOutcome, ClaimedDelivery, DeliveryLease, EndpointUrl, PayloadStyle, may_begin,
};
use cicerone_domain::{Delivery, Timestamp};
use diesel::prelude::*;

use super::{DeliveryChange, DeliveryRow, health, hold};
use crate::columns::{id, named, narrow, wide};
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::jobs::request;
use crate::pages::{Size, octet_length};
use crate::schema::{deliveries, events, webhook_endpoints};
use crate::webhooks::secrets;

/// A delivery's id, account and attempts, and its event with the size of its payload and the request that led to it.
type DueRow = (String, String, i64, String, Size, Option<String>);

/// Claims up to `count` deliveries of an endpoint, with at most `in_flight` attempts in progress.
pub(super) fn claim(
    c: &mut AnyConnection,
    endpoint: &str,
    (count, in_flight): (u32, u32),
    token: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<ClaimedDelivery>, TransactionError> {
    if !hold(c, endpoint)? {
        return Ok(Vec::new());
    }
    let of_endpoint = deliveries::table.filter(deliveries::endpoint_id.eq(endpoint));
    let under_way: i64 =
        of_endpoint.filter(deliveries::lease_until.gt(now.as_millis())).count().get_result(c)?;
    let room = i64::from(may_begin(count, in_flight, narrow("count", under_way)?));
    let target: Option<(String, String, String, String)> = webhook_endpoints::table
        .find(endpoint)
        .filter(webhook_endpoints::disabled_reason.is_null())
        .select((
            webhook_endpoints::url,
            webhook_endpoints::payload,
            webhook_endpoints::secret,
            webhook_endpoints::retired_secrets,
        ))
        .get_result(c)
        .optional()?;
    let Some((url, style, secret, retired)) = target.filter(|_| room > 0) else {
        return Ok(Vec::new());
    };
    let url = EndpointUrl::from_stored(url);
    let style = named("webhook_endpoints.payload", &style, PayloadStyle::from_name)?;
    let secrets = secrets(&secret, &retired)?.live(now);
    let due: Vec<DueRow> = of_endpoint
        .inner_join(events::table)
        .filter(deliveries::next_attempt_at.le(now.as_millis()))
        .order((deliveries::next_attempt_at, deliveries::created_at, deliveries::id))
        .limit(room)
        .select((
            deliveries::id,
            deliveries::account_id,
            deliveries::tries,
            events::id,
            octet_length(events::payload.nullable()),
            events::request_id,
        ))
        .load(c)?;
    let ids: Vec<&str> = due.iter().map(|(id, ..)| id.as_str()).collect();
    diesel::update(deliveries::table.filter(deliveries::id.eq_any(ids)))
        .set((
            deliveries::lease_token.eq(token),
            deliveries::lease_until.eq(until.as_millis()),
            deliveries::next_attempt_at.eq(until.as_millis()),
        ))
        .execute(c)?;
    let endpoint_id = id("webhook_endpoints.id", endpoint)?;
    let claimed = |(delivery, account, tries, event, bytes, request_id): DueRow| {
        Ok(ClaimedDelivery {
            lease: DeliveryLease {
                delivery_id: id("deliveries.id", &delivery)?,
                endpoint_id,
                token: token.to_owned(),
                url: url.clone(),
            },
            style,
            secrets: secrets.clone(),
            event_id: id("events.id", &event)?,
            request_id: request(request_id.as_deref())?,
            account_id: id("deliveries.account_id", &account)?,
            payload_bytes: narrow("events.payload", bytes.unwrap_or_default().into())?,
            tries: narrow("deliveries.tries", tries)?,
        })
    };
    due.into_iter().map(claimed).collect()
}

/// Stores an attempt. Returns the reason if it causes the endpoint to be disabled.
pub(super) fn finish(
    c: &mut AnyConnection,
    lease: &DeliveryLease,
    attempt: &Attempt,
    outcome: AttemptOutcome,
    now: Timestamp,
) -> Result<Option<String>, TransactionError> {
    let endpoint = lease.endpoint_id.to_string();
    if !hold(c, &endpoint)? {
        return Ok(None);
    }
    let row = deliveries::table
        .find(lease.delivery_id.to_string())
        .filter(deliveries::lease_token.eq(&lease.token));
    let found: Option<DeliveryRow> =
        row.select(DeliveryRow::as_select()).get_result(c).optional()?;
    let Some(delivery) = found.map(Delivery::try_from).transpose()? else { return Ok(None) };
    let url: String =
        webhook_endpoints::table.find(&endpoint).select(webhook_endpoints::url).get_result(c)?;
    let duration = Duration::from_millis(attempt.duration_ms);
    let (delivery, judged) = delivery.finish(lease, attempt.clone(), outcome, &url, now);
    diesel::update(deliveries::table.find(lease.delivery_id.to_string()))
        .set((DeliveryChange::of(&delivery)?, deliveries::tries.eq(deliveries::tries + 1)))
        .execute(c)?;
    let Some(outcome) = judged else { return Ok(None) };
    judge(c, &endpoint, outcome, duration, now)
}

/// Gives back the lease of a delivery, which is then due at `until`.
pub(super) fn postpone(
    c: &mut AnyConnection,
    lease: &DeliveryLease,
    until: Timestamp,
) -> Result<(), TransactionError> {
    if !hold(c, &lease.endpoint_id.to_string())? {
        return Ok(());
    }
    let row = deliveries::table
        .filter(deliveries::id.eq(lease.delivery_id.to_string()))
        .filter(deliveries::lease_token.eq(&lease.token));
    diesel::update(row)
        .set((
            deliveries::lease_token.eq(None::<String>),
            deliveries::lease_until.eq(None::<i64>),
            deliveries::next_attempt_at.eq(until.as_millis()),
        ))
        .execute(c)?;
    Ok(())
}

/// Updates the health of the attempt's endpoint, whose row is locked.
fn judge(
    c: &mut AnyConnection,
    endpoint: &str,
    outcome: AttemptOutcome,
    duration: Duration,
    now: Timestamp,
) -> Result<Option<String>, TransactionError> {
    let (failures, failing_since, succeeded_at, disabled): HealthRow = webhook_endpoints::table
        .find(endpoint)
        .select((
            webhook_endpoints::failures,
            webhook_endpoints::failing_since,
            webhook_endpoints::succeeded_at,
            webhook_endpoints::disabled_reason,
        ))
        .get_result(c)?;
    let before = health(failures, failing_since, succeeded_at)?;
    let (after, reason) = before.after(outcome, duration, now);
    if after != before {
        diesel::update(webhook_endpoints::table.find(endpoint))
            .set((
                webhook_endpoints::failures.eq(wide(after.failures)),
                webhook_endpoints::failing_since.eq(after.failing_since.map(Timestamp::as_millis)),
                webhook_endpoints::succeeded_at.eq(after.succeeded_at.map(Timestamp::as_millis)),
            ))
            .execute(c)?;
    }
    // If it was disabled in the meantime, the earlier reason stays.
    let reason = reason.filter(|_| disabled.is_none());
    if let Some(reason) = &reason {
        diesel::update(webhook_endpoints::table.find(endpoint))
            .set((
                webhook_endpoints::disabled_reason.eq(reason),
                webhook_endpoints::updated_at.eq(now.as_millis()),
            ))
            .execute(c)?;
    }
    Ok(reason)
}

/// An endpoint's health, and why it is disabled.
type HealthRow = (i64, Option<i64>, Option<i64>, Option<String>);
