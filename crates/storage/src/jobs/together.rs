//! Small jobs of one agent that are claimed, and ended, together.
//!
//! Extracting a paragraph takes less time than committing its claim and its outcome, so an owner who adds thousands of
//! them would wait for the commits. A job that has crashed is claimed alone: if it crashes the process, it does not
//! affect others again.

use std::collections::HashMap;

use cicerone_domain::event::Event;
use cicerone_domain::job::{ClaimedJob, Lane, Lease};
use cicerone_domain::{Id, Source, Timestamp, kind, limits};
use diesel::prelude::*;

use super::claims::claimed;
use super::{JobRow, LEASED, QUEUED, prepare, request, train, trained_with};
use crate::agents::raise_generation;
use crate::columns::narrow;
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::schema::{jobs, sources};
use crate::sources::{
    DocumentKey, Intake, clear_all, content_of, show_all, store_whole, update_states,
};
use crate::{bytes, checks, dialect, events, vectors};

/// The next jobs of an account in the quick lane; none if the claimed one is not small, or has crashed.
pub(super) fn next(
    c: &mut AnyConnection,
    claimed: &Lease,
    account: Id<kind::Account>,
    now: Timestamp,
) -> Result<Vec<String>, TransactionError> {
    let is_alike: i64 = jobs::table
        .inner_join(sources::table)
        .filter(jobs::id.eq(claimed.job_id.to_string()))
        .filter(jobs::state.eq(LEASED))
        .filter(jobs::lane.eq(Lane::Quick.name()))
        .filter(jobs::crashes_in_all.eq(0))
        .filter(sources::stored_bytes.le(limits::SMALL_SOURCE_BYTES))
        .count()
        .get_result(c)?;
    if is_alike == 0 {
        return Ok(Vec::new());
    }
    let most = limits::JOBS_TOGETHER.saturating_sub(1);
    let next = jobs::table
        .filter(jobs::state.eq(QUEUED))
        .filter(jobs::lane.eq(Lane::Quick.name()))
        .filter(jobs::account_id.eq(account.to_string()))
        .filter(jobs::due_at.le(now.as_millis()))
        .order((jobs::due_at, jobs::queued_at, jobs::id))
        .limit(i64::try_from(most).unwrap_or(i64::MAX))
        .select(jobs::id)
        .load(c)?;
    Ok(next)
}

/// Claims those of these jobs that are still queued, have not crashed, and belong to small sources of an agent.
pub(super) fn claim(
    c: &mut AnyConnection,
    next: &[String],
    agent: Id<kind::Agent>,
    token: &str,
    until: Timestamp,
) -> Result<Vec<ClaimedJob>, TransactionError> {
    let found = dialect::small_jobs(c, next, &agent.to_string(), limits::SMALL_SOURCE_BYTES)?;
    let ids: Vec<&String> = found.iter().map(|(job, _)| &job.id).collect();
    diesel::update(jobs::table.filter(jobs::id.eq_any(ids)))
        .set((
            jobs::state.eq(LEASED),
            jobs::lease_token.eq(token),
            jobs::lease_until.eq(until.as_millis()),
        ))
        .execute(c)?;
    let claimed = found.into_iter().map(|(job, source)| {
        let source = Source::try_from(source)?.begin_work();
        claimed(&job, source, token)
    });
    let claimed = claimed.collect::<Result<Vec<_>, TransactionError>>()?;
    update_states(c, claimed.iter().map(|job| &job.source))?;
    Ok(claimed)
}

/// What was extracted from the source of a lease, and the id of the event that reports it.
type Finished = (Lease, Intake, Id<kind::Event>);

/// Stores what was extracted from sources of one agent, and ends their jobs. A lost lease gives `None`.
///
/// All rows of agents, sources and jobs are locked first, and the account's row after them: that is the order of all
/// transactions.
pub(super) fn finish(
    c: &mut AnyConnection,
    finished: &[Finished],
    quota: Option<u64>,
    now: Timestamp,
) -> Result<Vec<Option<Source>>, TransactionError> {
    let mut held = hold(c, finished)?;
    let key = DocumentKey::read(c)?;
    let (mut new, mut ended) = (Vec::new(), HashMap::new());
    for (lease, intake, event) in finished {
        let Some((job, source)) = held.remove(&lease.job_id.to_string()) else { continue };
        if !source.answers() {
            let intake = intake.named(c, &key, &source)?;
            new.push(New { job, source, intake, event: *event });
            continue;
        }
        let mut stored = prepare(c, &key, &source, intake, quota)?.store_part(c, &source)?;
        while !stored.is_complete() {
            stored = stored.store_part(c, &source)?;
        }
        let source = train(c, &job.id, source, intake.extracted(), quota, *event, now)?;
        ended.insert(source.id, source);
    }
    for source in train_new(c, new, quota, now)? {
        ended.insert(source.id, source);
    }
    Ok(finished.iter().map(|(lease, ..)| ended.remove(&lease.source_id)).collect())
}

/// The jobs whose leases are still valid, by their ids, with their sources without their texts. Locks the rows of the
/// agents, sources and jobs.
fn hold(
    c: &mut AnyConnection,
    finished: &[Finished],
) -> Result<HashMap<String, (JobRow, Source)>, TransactionError> {
    let of_lease = |lease: &Lease| lease.source_id.to_string();
    let ids: Vec<String> = finished.iter().map(|(lease, ..)| of_lease(lease)).collect();
    let mut agents: Vec<String> = sources::table
        .filter(sources::id.eq_any(ids))
        .select(sources::agent_id)
        .distinct()
        .load(c)?;
    agents.sort_unstable();
    let mut there = Vec::with_capacity(agents.len());
    for agent in agents {
        if dialect::lock_agent(c, &agent)? {
            there.push(agent);
        }
    }
    let mut by_token: HashMap<&str, Vec<String>> = HashMap::new();
    for (lease, ..) in finished {
        by_token.entry(&lease.token).or_default().push(lease.job_id.to_string());
    }
    let mut held = HashMap::new();
    for (token, jobs) in by_token {
        for (job, source) in dialect::leased_jobs(c, &jobs, token)? {
            let source = Source::try_from(source)?;
            if there.contains(&source.agent_id.to_string()) {
                held.insert(job.id.clone(), (job, source));
            }
        }
    }
    Ok(held)
}

/// What was extracted from a source without previous content.
struct New {
    job: JobRow,
    source: Source,
    intake: Intake,
    event: Id<kind::Event>,
}

/// Stores sources of one agent that show nothing yet, and ends their jobs, as `prepare` and `train` do for one. Each step is
/// one statement for all of them, if it can be.
fn train_new(
    c: &mut AnyConnection,
    new: Vec<New>,
    quota: Option<u64>,
    now: Timestamp,
) -> Result<Vec<Source>, TransactionError> {
    let Some(New { source: one, event: first_event, .. }) = new.first() else {
        return Ok(Vec::new());
    };
    let (account, agent, first_event) = (one.account_id, one.agent_id.to_string(), *first_event);
    let ids: Vec<String> = new.iter().map(|new| new.source.id.to_string()).collect();
    let missing = new.iter().map(|new| new.intake.missing_characters()).sum();
    bytes::check(c, quota, account, missing)?;
    clear_all(c, &ids)?;
    let whole: Vec<_> = new.iter().map(|new| (&new.source, &new.intake)).collect();
    store_whole(c, &whole)?;
    let generation = raise_generation(c, &agent)?;
    show_all(c, &ids, generation)?;
    let version = narrow("agents.index_generation", generation)?;
    let (mut trained, mut ended) = (Vec::with_capacity(new.len()), Vec::with_capacity(new.len()));
    for New { job, source, intake, event } in new {
        trained.push(source.train(trained_with(intake.extracted(), version)));
        ended.push((job, event));
    }
    update_states(c, trained.iter())?;
    vectors::expect_all(c, &trained)?;
    if let Some(one) = trained.first() {
        checks::expect(c, one, first_event, now)?;
    }
    // After the locks of other rows, and before those of the endpoints that subscribe to the events.
    bytes::recount_all(c, quota, account, &ids)?;
    write_events(c, &trained, &ended, now)?;
    let jobs: Vec<&String> = ended.iter().map(|(job, _)| &job.id).collect();
    diesel::delete(jobs::table.filter(jobs::id.eq_any(jobs))).execute(c)?;
    Ok(trained)
}

/// Stores the events of trained sources of one account, each with its job and the event's id.
fn write_events(
    c: &mut AnyConnection,
    trained: &[Source],
    ended: &[(JobRow, Id<kind::Event>)],
    now: Timestamp,
) -> Result<(), TransactionError> {
    let under_way =
        || TransactionError::internal("a job ended while its source was still being processed");
    let Some(one) = trained.first() else { return Ok(()) };
    let name = Event::name_of_finished(one).ok_or_else(under_way)?;
    let takers = events::takers(c, one.account_id, name)?;
    let mut written = Vec::with_capacity(trained.len());
    for (source, (job, event)) in trained.iter().zip(ended) {
        let content = if takers.is_empty() { None } else { Some(content_of(c, source.id)?) };
        let request_id = request(job.request_id.as_deref())?;
        let event = Event::of_finished(source, content, *event, request_id, now);
        written.push(event.ok_or_else(under_way)?);
    }
    events::publish_all(c, &written, &takers)
}
