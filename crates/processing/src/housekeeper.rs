//! Regular removal of data that is no longer needed.

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::{Housekeeping, ObjectStore};
use cicerone_domain::usage::Day;
use cicerone_domain::{Clock, Error, Id, Timestamp, kind, limits};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// How often it runs: deleted data is removed from every file within twice this time.
const INTERVAL: Duration = Duration::from_secs(25);
/// How often it counts waiting jobs and deliveries.
const MEASURE_INTERVAL: Duration = Duration::from_secs(10);
/// Objects removed in one batch.
const BATCH: u32 = 100;
/// Sources whose documents get ids in one round.
const SOURCES: u64 = 200;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a round removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Objects of files that no longer exist.
    pub objects: u64,
    /// Files that no source has used for 24 hours.
    pub uploads: u64,
    /// Expired idempotency records.
    pub idempotency_records: u64,
    /// Deliveries older than their retention.
    pub deliveries: u64,
    /// Records of the audit log older than their retention.
    pub audit_records: u64,
    /// Conversations older than their agents keep them.
    pub conversations: u64,
    /// Interrupted deletions that were finished.
    pub removals: u64,
    /// Rows of usage that are too old to be queried.
    pub usage_days: u64,
    /// Sources whose documents an earlier version had stored without ids, and that have them now.
    pub completed_sources: u64,
    /// Numbers of widgets' messages on days that are over.
    pub widget_days: u64,
    /// Questions in gaps of agents that have too many.
    pub gap_questions: u64,
}

/// How long old records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Deliveries of events.
    pub deliveries: Duration,
    /// Records of the audit log.
    pub audit: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            deliveries: Duration::from_millis(limits::DELIVERY_LIFE_MILLIS.unsigned_abs()),
            audit: DAY * 365,
        }
    }
}

/// Removes discarded objects, unused uploads and old idempotency records.
#[derive(Clone)]
pub struct Housekeeper {
    store: Arc<dyn Housekeeping>,
    objects: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    /// The last agent whose gaps were checked.
    gaps_after: Arc<Mutex<Option<Id<kind::Agent>>>>,
}

impl Housekeeper {
    /// A housekeeper over these ports.
    pub fn new(
        store: Arc<dyn Housekeeping>,
        objects: Arc<dyn ObjectStore>,
        clock: Arc<dyn Clock>,
        retention: Retention,
    ) -> Self {
        Self { store, objects, clock, retention, gaps_after: Arc::default() }
    }

    /// Runs a round every 25 seconds until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            match self.run_one().await {
                Ok(swept) if swept != Swept::default() => tracing::info!(
                    objects = swept.objects,
                    uploads = swept.uploads,
                    idempotency_records = swept.idempotency_records,
                    deliveries = swept.deliveries,
                    audit_records = swept.audit_records,
                    conversations = swept.conversations,
                    removals = swept.removals,
                    usage_days = swept.usage_days,
                    completed_sources = swept.completed_sources,
                    widget_days = swept.widget_days,
                    gap_questions = swept.gap_questions,
                    "removed what is no longer needed"
                ),
                Ok(_) => {}
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the housekeeping failed; the next round will try again"
                ),
            }
            stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await;
        }
    }

    /// Updates the metrics of waiting jobs and deliveries, until `stop`. A failure is one of the
    /// database, which others report.
    pub async fn measure(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.measure_once().await {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the queues could not be counted"
                );
            }
            stop.run_until_cancelled(tokio::time::sleep(MEASURE_INTERVAL)).await;
        }
    }

    async fn measure_once(&self) -> Result<(), Error> {
        let now = self.clock.now();
        let (waiting, running) = self.store.job_counts().await?;
        metrics::gauge!("cicerone_jobs", "state" => "waiting").set(gauge(waiting));
        metrics::gauge!("cicerone_jobs", "state" => "running").set(gauge(running));
        let oldest = self.store.oldest_waiting().await?;
        let age = oldest.map_or(0, |at| now.as_millis().saturating_sub(at.as_millis()));
        let age = Duration::from_millis(u64::try_from(age).unwrap_or_default());
        metrics::gauge!("cicerone_jobs_oldest_waiting_seconds").set(age.as_secs_f64());
        let (pending, due) = self.store.delivery_counts(now).await?;
        let scheduled = pending.saturating_sub(due);
        metrics::gauge!("cicerone_webhook_deliveries", "state" => "due").set(gauge(due));
        metrics::gauge!("cicerone_webhook_deliveries", "state" => "scheduled")
            .set(gauge(scheduled));
        Ok(())
    }

    /// Runs one round.
    ///
    /// # Errors
    ///
    /// Those of the stores. What was removed before the error stays removed.
    pub async fn run_one(&self) -> Result<Swept, Error> {
        let now = self.clock.now();
        let old = now.plus_millis(-limits::UNUSED_UPLOAD_LIFE_MILLIS);
        let removals = self.store.finish_removals(now).await?;
        let mut swept = Swept {
            removals,
            completed_sources: self.store.complete_documents(SOURCES).await?,
            uploads: self.store.expire_uploads(old, now).await?,
            idempotency_records: self.store.expire_idempotency(now).await?,
            deliveries: self
                .store
                .expire_deliveries(before(now, self.retention.deliveries))
                .await?,
            conversations: self.store.expire_conversations(now).await?,
            audit_records: self.store.expire_audit(before(now, self.retention.audit)).await?,
            usage_days: self.store.expire_usage(Day::kept_since(now)).await?,
            widget_days: self.store.expire_widget_days(Day::widgets_kept_since(now)).await?,
            gap_questions: self.expire_gaps().await?,
            objects: 0,
        };
        // An error of the object store must not stop the rest.
        let objects = self.remove_objects(now).await;
        self.store.empty_log().await?;
        swept.objects = objects?;
        Ok(swept)
    }
}

impl Housekeeper {
    /// Removes the oldest questions of those of the next agents that have more gaps than may be kept. Returns how many
    /// were removed.
    async fn expire_gaps(&self) -> Result<u64, Error> {
        let mut after = self.gaps_after.lock().await;
        let (removed, next) = self.store.expire_gaps(*after).await?;
        *after = next;
        Ok(removed)
    }

    /// Removes discarded objects and returns their number.
    async fn remove_objects(&self, now: Timestamp) -> Result<u64, Error> {
        let mut removed = 0;
        loop {
            let keys = self.store.discarded_objects(now, BATCH).await?;
            if keys.is_empty() {
                return Ok(removed);
            }
            for key in &keys {
                self.objects.delete(key).await?;
            }
            self.store.forget_objects(&keys).await?;
            removed += u64::try_from(keys.len()).unwrap_or(u64::MAX);
        }
    }
}

/// The time `age` before `now`.
fn before(now: Timestamp, age: Duration) -> Timestamp {
    now.plus_millis(i64::try_from(age.as_millis()).unwrap_or(i64::MAX).saturating_neg())
}

/// A count as a value of a gauge.
fn gauge(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
