//! One attempt.

use std::time::Duration;

use cicerone_domain::webhook::{ClaimedDelivery, Reception};
use cicerone_domain::{Error, Timestamp};
use cicerone_egress::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use cicerone_egress::{Answer, Egress, Request, on_behalf_of, retry_after};
use tokio::time::timeout;

use crate::signature::sign;
use crate::target::within_bounds;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The most bytes of an answer that are read. The body is not used, but the connection can be
/// reused only after it was read.
const BODY_READ: usize = 16 * 1_024;
/// The longest time for reading it.
pub(crate) const BODY_PATIENCE: Duration = Duration::from_millis(500);

/// Sends a delivery with this body, signed with the time `now`.
///
/// # Errors
///
/// [`Error::Internal`] if the stored delivery cannot be read.
pub(crate) async fn send(
    egress: &Egress,
    delivery: &ClaimedDelivery,
    body: String,
    limit: Duration,
    now: Timestamp,
) -> Result<Reception, Error> {
    let url = delivery.lease.url.to_url().map_err(Error::internal)?;
    let id = delivery.event_id.to_string();
    let seconds = now.as_millis().div_euclid(1_000);
    let signature = sign(&delivery.secrets, &id, seconds, body.as_bytes());
    let value = |text: &str| HeaderValue::from_str(text).map_err(Error::internal);
    let request = Request::post(url, body)
        .with_header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .with_header(ID, value(&id)?)
        .with_header(TIMESTAMP, value(&seconds.to_string())?)
        .with_header(SIGNATURE, value(&signature)?)
        .with_total(limit);
    let sent = egress.send(within_bounds(request));
    let answer = match on_behalf_of(Some(delivery.account_id), sent).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(error = &error as &dyn std::error::Error, "an attempt failed");
            return Ok(Reception::failed(error.to_string()));
        }
    };
    let reception = judge(&answer, now);
    // The outcome does not matter: the status has arrived.
    let _ = timeout(BODY_PATIENCE, answer.bytes(BODY_READ)).await;
    Ok(reception)
}

fn judge(answer: &Answer, now: Timestamp) -> Reception {
    let asked = answer.headers.get(RETRY_AFTER).and_then(|value| {
        let now = u64::try_from(now.as_millis()).ok()?;
        retry_after(value.to_str().ok()?, Duration::from_millis(now))
    });
    Reception::answered(answer.status.as_u16(), asked)
}
