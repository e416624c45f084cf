//! Jobs: work on sources as rows with leases.
//!
//! A transaction that changes something of an agent locks the agent's row first, then the source's,
//! then the job's. Claiming and taking back skip rows that others have locked. So there are no
//! deadlocks.

mod claims;
mod together;

use std::sync::Arc;

use async_trait::async_trait;
use cicerone_domain::content::Extracted;
use cicerone_domain::event::Event;
use cicerone_domain::id::kind;
use cicerone_domain::job::{
    Claimable, ClaimedJob, Crashes, FinishedJob, Lane, Lease, NewJob, POISONED, Reclaim, Reclaimed,
};
use cicerone_domain::ports::JobStore;
use cicerone_domain::source::{PartialReading, Trained};
use cicerone_domain::{Error, Id, Source, Timestamp};
use diesel::dsl::min;
use diesel::prelude::*;

use crate::agents::raise_generation;
use crate::bytes;
use crate::checks;
use crate::columns::{id, narrow, time};
use crate::connection::AnyConnection;
use crate::crawls;
use crate::dialect;
use crate::error::TransactionError;
use crate::events;
use crate::idempotency::free_claims;
use crate::schema::{jobs, sources};
use crate::sources::{DocumentKey, Intake, clear, content_of, show, update_state};
use crate::storage::Storage;
use crate::vectors;

/// Waiting for a worker.
pub(crate) const QUEUED: &str = "queued";
/// A worker has it.
pub(crate) const LEASED: &str = "running";

/// How often a claim tries again if other workers took all jobs that it found.
const CLAIM_ATTEMPTS: u32 = 3;
/// Jobs that are taken back in one transaction.
const RECLAIMED_AT_ONCE: i64 = 100;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = jobs, treat_none_as_default_value = false)]
pub(crate) struct JobRow {
    id: String,
    account_id: String,
    source_id: String,
    state: String,
    due_at: i64,
    lease_token: Option<String>,
    lease_until: Option<i64>,
    attempts: i64,
    crashes: i64,
    crashes_in_all: i64,
    queued_at: i64,
    request_id: Option<String>,
    lane: String,
}

impl JobRow {
    fn crashes(&self) -> Result<Crashes, TransactionError> {
        Ok(Crashes {
            in_a_row: narrow("jobs.crashes", self.crashes)?,
            in_all: narrow("jobs.crashes_in_all", self.crashes_in_all)?,
        })
    }
}

/// Queues a job for a source.
pub(crate) fn queue(
    c: &mut AnyConnection,
    source: &Source,
    job: NewJob,
    now: Timestamp,
) -> Result<(), TransactionError> {
    diesel::insert_into(jobs::table).values(row(source, job, now)).execute(c)?;
    Ok(())
}

/// The row of a new job for a source.
pub(crate) fn row(source: &Source, job: NewJob, now: Timestamp) -> JobRow {
    JobRow {
        id: job.id.to_string(),
        account_id: source.account_id.to_string(),
        source_id: source.id.to_string(),
        state: QUEUED.to_owned(),
        due_at: now.as_millis(),
        lease_token: None,
        lease_until: None,
        attempts: 0,
        crashes: 0,
        crashes_in_all: 0,
        queued_at: now.as_millis(),
        request_id: job.request_id.map(|id| id.to_string()),
        lane: Lane::of(source.content.source_type()).name().to_owned(),
    }
}

#[async_trait]
impl JobStore for Storage {
    async fn claim_job(
        &self,
        which: Claimable,
        token: String,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ClaimedJob>, Error> {
        // Most calls find nothing, and a read does not disturb the writer.
        if self.next_due(which.lane).await?.is_none_or(|due| due > now) {
            return Ok(None);
        }
        for _ in 0..CLAIM_ATTEMPTS {
            let turns = self.db.read(move |c| claims::turns(c, which, now)).await?;
            if turns.is_empty() {
                return Ok(None);
            }
            let token = token.clone();
            let lane = which.lane;
            let claimed =
                self.db.write(move |c| claims::claim(c, lane, &turns, &token, now, until)).await?;
            if claimed.is_some() {
                return Ok(claimed);
            }
        }
        // Other workers claim jobs as fast as they are found.
        Ok(None)
    }

    async fn claim_alike(
        &self,
        job: &ClaimedJob,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ClaimedJob>, Error> {
        let (lease, account) = (job.lease.clone(), job.source.account_id);
        let next = self.db.read(move |c| together::next(c, &lease, account, now)).await?;
        if next.is_empty() {
            return Ok(Vec::new());
        }
        let (agent, token) = (job.source.agent_id, job.lease.token.clone());
        self.db.of(account).write(move |c| together::claim(c, &next, agent, &token, until)).await
    }

    async fn heartbeat(&self, lease: &Lease, until: Timestamp) -> Result<bool, Error> {
        let lease = lease.clone();
        self.db
            .write(move |c| {
                let count = diesel::update(jobs::table.find(lease.job_id.to_string()))
                    .filter(jobs::lease_token.eq(&lease.token))
                    .filter(jobs::state.eq(LEASED))
                    .set(jobs::lease_until.eq(until.as_millis()))
                    .execute(c)?;
                Ok(count == 1)
            })
            .await
    }

    async fn finish_trained(
        &self,
        lease: &Lease,
        extracted: Extracted,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        let Some(account) = self.account_of(lease).await? else { return Ok(None) };
        let db = self.db.of(account);
        let quota = self.account_bytes;
        let mut intake = Intake::new(extracted);
        loop {
            let lease = lease.clone();
            let part = db.write(move |c| store_part(c, &lease, &intake, quota, event, now)).await?;
            match part {
                Part::Lost => return Ok(None),
                Part::Stored(next) => intake = next,
                Part::Ended(source) => return Ok(Some(*source)),
            }
        }
    }

    async fn finish_together(
        &self,
        account: Id<kind::Account>,
        finished: Vec<FinishedJob>,
        now: Timestamp,
    ) -> Result<Vec<Option<Source>>, Error> {
        let quota = self.account_bytes;
        let stored = finished
            .into_iter()
            .map(|FinishedJob { lease, extracted, event }| (lease, Intake::new(extracted), event));
        let stored: Vec<_> = stored.collect();
        self.db.of(account).write(move |c| together::finish(c, &stored, quota, now)).await
    }

    async fn finish_failed(
        &self,
        lease: &Lease,
        message: String,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        let lease = lease.clone();
        let failed = self.db.write(move |c| {
            let Some(source) = hold_lease(c, &lease)? else { return Ok(None) };
            let job = lease.job_id.to_string();
            fail(c, &job, source, message.clone(), event, now).map(Some)
        });
        let failed = failed.await?;
        if let Some(source) = &failed {
            self.remove_leftovers(source).await;
        }
        Ok(failed)
    }

    async fn requeue(&self, lease: &Lease, at: Timestamp, counts: bool) -> Result<bool, Error> {
        let lease = lease.clone();
        self.db
            .write(move |c| {
                let count = diesel::update(jobs::table.find(lease.job_id.to_string()))
                    .filter(jobs::lease_token.eq(&lease.token))
                    .filter(jobs::state.eq(LEASED))
                    .set((
                        jobs::state.eq(QUEUED),
                        jobs::due_at.eq(at.as_millis()),
                        jobs::lease_token.eq(None::<String>),
                        jobs::lease_until.eq(None::<i64>),
                        jobs::attempts.eq(jobs::attempts + i64::from(counts)),
                    ))
                    .execute(c)?;
                Ok(count == 1)
            })
            .await
    }

    async fn reclaim(
        &self,
        which: Reclaim,
        now: Timestamp,
        event_id: Arc<dyn Fn() -> Id<kind::Event> + Send + Sync>,
    ) -> Result<Reclaimed, Error> {
        let until = match which {
            Reclaim::Expired => now.as_millis(),
            Reclaim::All => {
                // If no other process is running, neither are the requests of one.
                self.db.write(free_claims).await?;
                i64::MAX
            }
        };
        let mut total = Reclaimed::default();
        loop {
            let event_id = Arc::clone(&event_id);
            let some = self.db.write(move |c| reclaim(c, until, now, event_id.as_ref())).await?;
            total.requeued += some.requeued;
            total.poisoned += some.poisoned;
            if some == Reclaimed::default() {
                break;
            }
        }
        if total.poisoned > 0 {
            self.try_to_remove_all_leftovers().await;
        }
        Ok(total)
    }

    async fn next_due(&self, lane: Lane) -> Result<Option<Timestamp>, Error> {
        self.db
            .lookup(move |c| {
                let due: Option<i64> = jobs::table
                    .filter(jobs::state.eq(QUEUED))
                    .filter(jobs::lane.eq(lane.name()))
                    .select(min(jobs::due_at))
                    .get_result(c)?;
                Ok(due.map(time))
            })
            .await
    }
}

impl Storage {
    /// The account of a lease's source; `None` if the source has been deleted.
    async fn account_of(&self, lease: &Lease) -> Result<Option<Id<kind::Account>>, Error> {
        let source = lease.source_id.to_string();
        self.db
            .lookup(move |c| {
                let account: Option<String> = sources::table
                    .find(&source)
                    .select(sources::account_id)
                    .get_result(c)
                    .optional()?;
                account.map(|account| id("sources.account_id", &account)).transpose()
            })
            .await
    }
}

/// The source of a lease that is still valid, without its text (see `HeldSourceRow`). Locks the rows of its agent, the source and the job.
pub(crate) fn hold_lease(
    c: &mut AnyConnection,
    lease: &Lease,
) -> Result<Option<Source>, TransactionError> {
    let agent: Option<String> = sources::table
        .find(lease.source_id.to_string())
        .select(sources::agent_id)
        .get_result(c)
        .optional()?;
    let Some(agent) = agent else { return Ok(None) };
    if !dialect::lock_agent(c, &agent)? {
        return Ok(None);
    }
    let found = dialect::leased_job(c, &lease.job_id.to_string(), &lease.token)?;
    found.map(|(_, source)| Source::try_from(source)).transpose()
}

/// The outcome of storing a part of a source.
enum Part {
    /// The lease is no longer held.
    Lost,
    /// It is stored, and more follows.
    Stored(Intake),
    /// It was the last one.
    Ended(Box<Source>),
}

/// Stores the next part of what was extracted. The last part ends the job.
///
/// A source that is already searchable gets everything in one transaction, so that searches use the
/// old content until the new one is complete, unless its content only grows.
fn store_part(
    c: &mut AnyConnection,
    lease: &Lease,
    intake: &Intake,
    quota: Option<u64>,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Part, TransactionError> {
    let Some(source) = hold_lease(c, lease)? else { return Ok(Part::Lost) };
    let mut stored = intake.clone();
    if intake.is_at_start() {
        let key = DocumentKey::read(c)?;
        stored = prepare(c, &key, &source, intake, quota)?;
    }
    stored = stored.store_part(c, &source)?;
    while !stored.can_be_parted(&source) && !stored.is_complete() {
        stored = stored.store_part(c, &source)?;
    }
    if !stored.is_complete() {
        return Ok(Part::Stored(stored));
    }
    train(c, &lease.job_id.to_string(), source, intake.extracted(), quota, event, now)
        .map(|source| Part::Ended(Box::new(source)))
}

/// Checks before anything is written that there is room, so that content that is far too large uses no disk space, and
/// removes what an earlier attempt left. Content that only grows is kept; the intake then contains only the addition.
fn prepare(
    c: &mut AnyConnection,
    key: &DocumentKey,
    source: &Source,
    intake: &Intake,
    quota: Option<u64>,
) -> Result<Intake, TransactionError> {
    let intake = intake.named(c, key, source)?;
    let continued = intake.continued(c, source)?;
    let is_continued = continued.is_some();
    let begun = continued.unwrap_or(intake);
    bytes::check(c, quota, source.account_id, begun.missing_characters())?;
    if !is_continued {
        clear(c, source)?;
    }
    Ok(begun)
}

/// Ends a job whose extracted content is stored: the source is trained with it.
fn train(
    c: &mut AnyConnection,
    job: &str,
    source: Source,
    extracted: &Extracted,
    quota: Option<u64>,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Source, TransactionError> {
    let account = source.account_id;
    let generation = raise_generation(c, &source.agent_id.to_string())?;
    show(c, &source, generation)?;
    let version = narrow("agents.index_generation", generation)?;
    let source = source.train(trained_with(extracted, version));
    let source = end(c, job, source, event, now)?;
    bytes::check(c, quota, account, 0)?;
    Ok(source)
}

/// What a source is trained with at a version of its agent's content.
fn trained_with(extracted: &Extracted, version: u64) -> Trained {
    Trained {
        character_count: extracted.character_count(),
        title: extracted.title.clone(),
        version,
        partial: PartialReading::of(extracted),
    }
}

/// Ends a job with a failure. What it has stored is a leftover from then on (see [`crate::leftovers`]).
pub(crate) fn fail(
    c: &mut AnyConnection,
    job: &str,
    source: Source,
    message: String,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Source, TransactionError> {
    crawls::fail(c, &source.id.to_string())?;
    end(c, job, source.fail(message), event, now)
}

/// Ends a job: updates the source's state, adds its event, and removes the job.
pub(crate) fn end(
    c: &mut AnyConnection,
    job: &str,
    source: Source,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Source, TransactionError> {
    update_state(c, &source)?;
    vectors::expect(c, &source)?;
    checks::expect(c, &source, event, now)?;
    // After the locks of other rows, and before those of the endpoints that subscribe to the event.
    bytes::recount(c, &source)?;
    let request_id: Option<Option<String>> =
        jobs::table.find(job).select(jobs::request_id).get_result(c).optional()?;
    let request_id = request(request_id.flatten().as_deref())?;
    let under_way =
        || TransactionError::internal("a job ended while its source was still being processed");
    let name = Event::name_of_finished(&source).ok_or_else(under_way)?;
    let takers = events::takers(c, source.account_id, name)?;
    let content = if takers.is_empty() { None } else { Some(content_of(c, source.id)?) };
    let event =
        Event::of_finished(&source, content, event, request_id, now).ok_or_else(under_way)?;
    events::publish(c, &event, takers)?;
    diesel::delete(jobs::table.find(job)).execute(c)?;
    Ok(source)
}

/// The request id in a row.
pub(crate) fn request(text: Option<&str>) -> Result<Option<Id<kind::Request>>, TransactionError> {
    text.map(|text| id("request_id", text)).transpose()
}

/// Takes back some jobs whose lease ended at or before `until`.
fn reclaim(
    c: &mut AnyConnection,
    until: i64,
    now: Timestamp,
    event_id: &(dyn Fn() -> Id<kind::Event> + Send + Sync),
) -> Result<Reclaimed, TransactionError> {
    let mut done = Reclaimed::default();
    for (job, source) in dialect::abandoned_jobs(c, until, RECLAIMED_AT_ONCE)? {
        let crashes = job.crashes()?.and_another();
        if crashes.are_too_many() {
            fail(c, &job.id, Source::try_from(source)?, POISONED.to_owned(), event_id(), now)?;
            done.poisoned += 1;
        } else {
            release(c, &job.id, crashes, now)?;
            done.requeued += 1;
        }
    }
    Ok(done)
}

/// Queues a job again after a crash.
fn release(
    c: &mut AnyConnection,
    job: &str,
    crashes: Crashes,
    now: Timestamp,
) -> Result<(), TransactionError> {
    diesel::update(jobs::table.find(job))
        .set((
            jobs::state.eq(QUEUED),
            jobs::due_at.eq(now.as_millis()),
            jobs::lease_token.eq(None::<String>),
            jobs::lease_until.eq(None::<i64>),
            jobs::crashes.eq(i64::from(crashes.in_a_row)),
            jobs::crashes_in_all.eq(i64::from(crashes.in_all)),
        ))
        .execute(c)?;
    Ok(())
}
