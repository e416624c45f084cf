//! Regular removal of data that is no longer needed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::{Housekeeping, ObjectStore};
use cicerone_domain::upload::ObjectKey;
use cicerone_domain::usage::Day;
use cicerone_domain::{Clock, Error, Id, Timestamp, kind, limits};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often it runs: deleted data is removed from every file within twice this time.
const INTERVAL: Duration = Duration::from_secs(25);
/// How often it counts waiting jobs and deliveries.
const MEASURE_INTERVAL: Duration = Duration::from_secs(10);
/// Objects removed in one batch.
const BATCH: u32 = 100;
/// After so many failures, a round removes no further objects.
const MOST_FAILURES: usize = 100;
/// The same after failures that took this long together: the object store may be out of reach, and everything else waits
/// for the round.
const LONGEST_FAILURES: Duration = Duration::from_secs(5);
/// Most objects that are remembered because they could not be removed.
const MOST_STUCK: usize = 10_000;
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
    /// Objects that could not be removed. They are tried again after all others.
    stuck: Arc<Mutex<HashSet<ObjectKey>>>,
}

impl Housekeeper {
    /// A housekeeper over these ports.
    pub fn new(
        store: Arc<dyn Housekeeping>,
        objects: Arc<dyn ObjectStore>,
        clock: Arc<dyn Clock>,
        retention: Retention,
    ) -> Self {
        let (gaps_after, stuck) = (Arc::default(), Arc::default());
        Self { store, objects, clock, retention, gaps_after, stuck }
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
        // The log comes first, because objects may take long. An error of one must not stop the other.
        let emptied = self.store.empty_log().await;
        let objects = self.remove_objects(now).await;
        emptied?;
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

    /// Removes discarded objects and returns their number. Goes on after those that cannot be removed, and returns the
    /// first error at the end.
    async fn remove_objects(&self, now: Timestamp) -> Result<u64, Error> {
        let mut stuck = self.stuck.lock().await;
        if stuck.len() >= MOST_STUCK {
            stuck.clear();
        }
        let mut round = Round::default();
        while !round.is_over() {
            let limit = BATCH.saturating_add(u32::try_from(stuck.len()).unwrap_or(u32::MAX));
            let mut keys = self.store.discarded_objects(now, limit).await?;
            keys.retain(|key| !stuck.contains(key));
            if keys.is_empty() {
                // All were tried. The next round begins with those that are left.
                stuck.clear();
                break;
            }
            self.remove_batch(keys, &mut stuck, &mut round).await?;
        }
        round.error.map_or(Ok(round.removed), Err)
    }

    /// Removes these objects until the round is over, and forgets those that were removed.
    async fn remove_batch(
        &self,
        keys: Vec<ObjectKey>,
        stuck: &mut HashSet<ObjectKey>,
        round: &mut Round,
    ) -> Result<(), Error> {
        let mut removed = Vec::with_capacity(keys.len());
        for key in keys {
            let begun = Instant::now();
            match self.objects.delete(&key).await {
                Ok(()) => removed.push(key),
                Err(error) => {
                    round.fail(error, begun.elapsed());
                    stuck.insert(key);
                }
            }
            if round.is_over() {
                break;
            }
        }
        self.store.forget_objects(&removed).await?;
        round.removed += u64::try_from(removed.len()).unwrap_or(u64::MAX);
        Ok(())
    }
}

/// What became of the objects of one round.
#[derive(Default)]
struct Round {
    removed: u64,
    failures: usize,
    /// How long the failures took together.
    failing: Duration,
    /// The first error.
    error: Option<Error>,
}

impl Round {
    /// Notes that an object could not be removed.
    fn fail(&mut self, error: Error, after: Duration) {
        self.failures += 1;
        self.failing += after;
        self.error.get_or_insert(error);
    }

    fn is_over(&self) -> bool {
        self.failures >= MOST_FAILURES || self.failing >= LONGEST_FAILURES
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

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use bytes::Bytes;
    use cicerone_domain::SystemClock;
    use parking_lot::Mutex;

    use super::*;

    /// A bucket with discarded objects, of which some cannot be removed.
    #[derive(Default)]
    struct Bucket {
        discarded: Mutex<Vec<ObjectKey>>,
        broken: Mutex<Vec<ObjectKey>>,
        /// How long a removal takes.
        pause: Duration,
        /// What was tried, in order: the names of objects, and `log`.
        tried: Mutex<Vec<String>>,
    }

    impl Bucket {
        /// As many objects, of which the first ones cannot be removed.
        fn of(count: usize, broken: usize) -> Self {
            let key = |number| ObjectKey::parse(&format!("uploads/file_{number:010}")).unwrap();
            let keys: Vec<_> = (0..count).map(key).collect();
            let broken = Mutex::new(keys[..broken].to_vec());
            Self { discarded: Mutex::new(keys), broken, ..Self::default() }
        }

        fn left(&self) -> Vec<ObjectKey> {
            self.discarded.lock().clone()
        }
    }

    #[async_trait]
    impl ObjectStore for Bucket {
        async fn put(&self, _: &ObjectKey, _: Bytes) -> Result<(), Error> {
            Ok(())
        }

        async fn get(&self, _: &ObjectKey) -> Result<Option<Bytes>, Error> {
            Ok(None)
        }

        async fn delete(&self, key: &ObjectKey) -> Result<(), Error> {
            if !self.pause.is_zero() {
                tokio::time::sleep(self.pause).await;
            }
            self.tried.lock().push(key.as_str().to_owned());
            let is_broken = self.broken.lock().contains(key);
            if is_broken { Err(Error::unavailable("access denied")) } else { Ok(()) }
        }
    }

    #[async_trait]
    impl Housekeeping for Bucket {
        async fn discarded_objects(
            &self,
            _: Timestamp,
            limit: u32,
        ) -> Result<Vec<ObjectKey>, Error> {
            Ok(self.discarded.lock().iter().take(limit as usize).cloned().collect())
        }

        async fn forget_objects(&self, keys: &[ObjectKey]) -> Result<(), Error> {
            self.discarded.lock().retain(|key| !keys.contains(key));
            Ok(())
        }

        async fn empty_log(&self) -> Result<(), Error> {
            self.tried.lock().push("log".to_owned());
            Ok(())
        }

        async fn expire_uploads(&self, _: Timestamp, _: Timestamp) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_idempotency(&self, _: Timestamp) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_deliveries(&self, _: Timestamp) -> Result<u64, Error> {
            Ok(0)
        }

        async fn complete_documents(&self, _: u64) -> Result<u64, Error> {
            Ok(0)
        }

        async fn finish_removals(&self, _: Timestamp) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_conversations(&self, _: Timestamp) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_audit(&self, _: Timestamp) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_usage(&self, _: Day) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_widget_days(&self, _: Day) -> Result<u64, Error> {
            Ok(0)
        }

        async fn expire_gaps(
            &self,
            _: Option<Id<kind::Agent>>,
        ) -> Result<(u64, Option<Id<kind::Agent>>), Error> {
            Ok((0, None))
        }

        async fn job_counts(&self) -> Result<(u64, u64), Error> {
            Ok((0, 0))
        }

        async fn oldest_waiting(&self) -> Result<Option<Timestamp>, Error> {
            Ok(None)
        }

        async fn delivery_counts(&self, _: Timestamp) -> Result<(u64, u64), Error> {
            Ok((0, 0))
        }
    }

    fn housekeeper(bucket: &Arc<Bucket>) -> Housekeeper {
        let (store, objects) = (Arc::clone(bucket), Arc::clone(bucket));
        Housekeeper::new(store, objects, Arc::new(SystemClock), Retention::default())
    }

    #[tokio::test]
    async fn an_object_that_cannot_be_removed_does_not_keep_the_others() {
        let bucket = Arc::new(Bucket::of(250, 1));
        let (housekeeper, first) = (housekeeper(&bucket), bucket.left()[0].clone());
        for _ in 0..2 {
            let error = housekeeper.run_one().await.unwrap_err();
            assert!(matches!(error, Error::Unavailable(_)), "{error}");
            assert_eq!(bucket.left(), std::slice::from_ref(&first));
        }
        assert_eq!(bucket.tried.lock()[..2], ["log", first.as_str()]);
        bucket.broken.lock().clear();
        assert_eq!(housekeeper.run_one().await.unwrap().objects, 1);
        assert_eq!(bucket.left(), []);
    }

    #[tokio::test]
    async fn more_objects_that_cannot_be_removed_than_one_round_tries_do_not_keep_the_others() {
        let broken = MOST_FAILURES + MOST_FAILURES / 2;
        let bucket = Arc::new(Bucket::of(broken + 1, broken));
        let housekeeper = housekeeper(&bucket);
        for left in [broken + 1, broken, broken] {
            housekeeper.run_one().await.unwrap_err();
            assert_eq!(bucket.left().len(), left);
        }
        bucket.broken.lock().clear();
        // The last round did not come to the end, and those that it tried come after the others.
        let removed = housekeeper.run_one().await.unwrap().objects;
        let rest = housekeeper.run_one().await.unwrap().objects;
        assert_eq!(removed + rest, u64::try_from(broken).unwrap());
        assert_eq!(bucket.left(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_out_of_reach_is_tried_once_in_a_round() {
        let bucket = Bucket { pause: LONGEST_FAILURES, ..Bucket::of(3, 3) };
        let bucket = Arc::new(bucket);
        let housekeeper = housekeeper(&bucket);
        for round in 1..=3 {
            housekeeper.run_one().await.unwrap_err();
            assert_eq!(bucket.tried.lock().len(), 2 * round, "the log and one object");
        }
        let tried: HashSet<String> = bucket.tried.lock().iter().cloned().collect();
        assert_eq!(tried.len(), 1 + 3, "another one each time");
    }
}
