//! Regular removal of what nobody needs any more.

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::{Housekeeping, ObjectStore};
use cicerone_domain::{Clock, Error, limits};
use tokio_util::sync::CancellationToken;

/// How often it goes round: what is deleted is gone from every file within twice that.
const INTERVAL: Duration = Duration::from_secs(25);
/// Objects removed in one batch.
const BATCH: u32 = 100;

/// What a round removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Objects of files that are gone.
    pub objects: u64,
    /// Files that no source used for 24 hours.
    pub uploads: u64,
    /// Idempotency records whose life is over.
    pub idempotency_records: u64,
}

/// Removes discarded objects, unused uploads and old idempotency records.
#[derive(Clone)]
pub struct Housekeeper {
    store: Arc<dyn Housekeeping>,
    objects: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
}

impl Housekeeper {
    /// A housekeeper over these ports.
    pub fn new(
        store: Arc<dyn Housekeeping>,
        objects: Arc<dyn ObjectStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, objects, clock }
    }

    /// Goes round until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            match self.run_one().await {
                Ok(swept) if swept != Swept::default() => tracing::info!(
                    objects = swept.objects,
                    uploads = swept.uploads,
                    idempotency_records = swept.idempotency_records,
                    "removed what is no longer needed"
                ),
                Ok(_) => {}
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the housekeeping failed; the next round does it"
                ),
            }
            stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await;
        }
    }

    /// One round. Fails as the stores do; what was removed before stays so.
    pub async fn run_one(&self) -> Result<Swept, Error> {
        let now = self.clock.now();
        let old = now.plus_millis(-limits::UNUSED_UPLOAD_LIFE_MILLIS);
        let mut swept = Swept {
            uploads: self.store.expire_uploads(old, now).await?,
            idempotency_records: self.store.expire_idempotency(now).await?,
            objects: 0,
        };
        loop {
            let keys = self.store.discarded_objects(now, BATCH).await?;
            if keys.is_empty() {
                break;
            }
            for key in &keys {
                self.objects.delete(key).await?;
            }
            self.store.forget_objects(&keys).await?;
            swept.objects += u64::try_from(keys.len()).unwrap_or(u64::MAX);
        }
        self.store.empty_log().await?;
        let (waiting, running) = self.store.job_counts().await?;
        metrics::gauge!("cicerone_jobs_waiting").set(gauge(waiting));
        metrics::gauge!("cicerone_jobs_running").set(gauge(running));
        Ok(swept)
    }
}

/// A count as the metrics take it.
fn gauge(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
