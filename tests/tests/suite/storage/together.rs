//! Small jobs that are claimed and ended together.

use std::sync::Arc;

use cicerone_domain::job::{ClaimedJob, FinishedJob, Reclaim};
use cicerone_domain::limits::{JOBS_TOGETHER, SMALL_SOURCE_BYTES};
use cicerone_domain::ports::{
    Housekeeping as _, JobStore as _, PassageFeed as _, SourceStore as _,
};
use cicerone_domain::usage::Quota;
use cicerone_domain::{Agent, Error, Id, SourceStatus, kind};

use super::bytes::limit;
use super::fixture::{World, extracted, new_id, on_each, text, website};

/// The jobs that are claimed with the next one.
async fn claim(world: &World) -> (ClaimedJob, Vec<ClaimedJob>) {
    let first = world.claim_job().await.unwrap();
    let (now, until) = (world.now(), world.now().plus_millis(30_000));
    let alike = world.storage.claim_alike(&first, now, until).await.unwrap();
    assert!(alike.iter().all(|job| job.lease.token == first.lease.token));
    assert!(alike.iter().all(|job| job.source.state.status() == SourceStatus::Processing));
    (first, alike)
}

async fn texts(world: &World, agent: &Agent, count: usize) -> Vec<Id<kind::Source>> {
    let mut sources = Vec::new();
    for _ in 0..count {
        sources.push(world.text_source(agent).await.id);
    }
    sources
}

fn sources(jobs: &[ClaimedJob]) -> Vec<Id<kind::Source>> {
    jobs.iter().map(|job| job.source.id).collect()
}

fn finished(job: &ClaimedJob, text: &str) -> FinishedJob {
    FinishedJob { lease: job.lease.clone(), extracted: extracted(text, 1), event: new_id() }
}

#[tokio::test]
async fn small_texts_of_one_agent_that_come_next_are_claimed_together() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        let large = "Rome. ".repeat(usize::try_from(SMALL_SOURCE_BYTES).unwrap() / 6 + 1);
        let first = texts(world, &agent, 1).await;
        let theirs = texts(world, &other, 1).await;
        let large = world.source(&agent, text(&large)).await.id;
        world.source(&agent, website(false)).await;
        let rest = texts(world, &agent, 2).await;
        let (job, alike) = claim(world).await;
        assert_eq!((job.source.id, sources(&alike)), (first[0], rest));
        // What was left is claimed alone: a large text, and one of another agent.
        for expected in [theirs[0], large] {
            let (job, alike) = claim(world).await;
            assert_eq!((job.source.id, alike.len()), (expected, 0));
        }
        assert_eq!(world.storage.job_counts().await.unwrap(), (1, 5));
    })
    .await;
}

#[tokio::test]
async fn a_claim_takes_a_bounded_number_of_jobs() {
    on_each(async |world| {
        let agent = world.agent().await;
        let queued = texts(world, &agent, 2 * JOBS_TOGETHER + 1).await;
        let mut claimed = Vec::new();
        for expected in [JOBS_TOGETHER, JOBS_TOGETHER, 1] {
            let (job, alike) = claim(world).await;
            assert_eq!(alike.len() + 1, expected);
            claimed.push(job.source.id);
            claimed.extend(sources(&alike));
        }
        assert_eq!(claimed, queued);
    })
    .await;
}

/// One of them may be what ended the process.
#[tokio::test]
async fn jobs_that_crashed_together_are_claimed_alone() {
    on_each(async |world| {
        let agent = world.agent().await;
        texts(world, &agent, 3).await;
        let (_, alike) = claim(world).await;
        assert_eq!(alike.len(), 2);
        world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await.unwrap();
        texts(world, &agent, 2).await;
        for _ in 0..3 {
            assert_eq!(claim(world).await.1, []);
        }
        assert_eq!(claim(world).await.1.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn jobs_end_together_except_those_whose_source_was_deleted() {
    on_each(async |world| {
        let agent = world.agent().await;
        let queued = texts(world, &agent, 3).await;
        let (first, alike) = claim(world).await;
        let jobs = [vec![first], alike].concat();
        world.storage.delete_source(&world.scope(), queued[1], world.now(), None).await.unwrap();
        let ended = jobs.iter().map(|job| finished(job, "Rome has seven hills.")).collect();
        let ended = world.storage.finish_together(world.account, ended, world.now()).await.unwrap();
        let status = |source: Option<cicerone_domain::Source>| Some(source?.state.status());
        let trained = Some(SourceStatus::Trained);
        assert_eq!(ended.into_iter().map(status).collect::<Vec<_>>(), [trained, None, trained]);
        assert_eq!((world.count("jobs"), world.count("events")), (0, 2));
        let content = world.storage.agent_content(agent.id).await.unwrap().unwrap();
        let mut searchable: Vec<_> = content.sources.into_iter().map(|(id, _)| id).collect();
        searchable.sort();
        let mut expected = vec![queued[0], queued[2]];
        expected.sort();
        assert_eq!(searchable, expected);
    })
    .await;
}

#[tokio::test]
async fn jobs_that_end_together_leave_what_each_would_leave_alone() {
    on_each(async |world| {
        let agent = world.agent().await;
        let queued = texts(world, &agent, 4).await;
        // One of them ended alone.
        let (first, alike) = claim(world).await;
        let alone = finished(&first, "Rome has seven hills.");
        let (storage, now) = (&world.storage, world.now());
        let ended = storage.finish_trained(&alone.lease, alone.extracted, alone.event, now).await;
        assert!(ended.unwrap().is_some());
        let ended: Vec<_> =
            alike.iter().map(|job| finished(job, "Rome has seven hills.")).collect();
        let stored = storage.finish_together(world.account, ended, now).await.unwrap();
        assert_eq!(stored.len(), 3);
        for (stored, id) in stored.into_iter().zip(&queued[1..]) {
            let found = storage.find_source(&world.scope(), *id).await.unwrap();
            assert_eq!(found.map(|source| source.state), stored.map(|source| source.state));
        }
        let like_first = |table, columns: &str, key| {
            let (columns, of_first) = (columns.to_owned(), format!("{key} = '{}'", queued[0]));
            let same = columns.split(", ").map(|column| {
                format!("coalesce(CAST({column} AS TEXT), '') = (SELECT coalesce(CAST({column} AS TEXT), '') \
                         FROM {table} WHERE {of_first})")
            });
            world.count_where(table, &same.collect::<Vec<_>>().join(" AND "))
        };
        let state = "status, error_message, character_count, title, progress, partially_read, stored_bytes, \
                     vector_bytes";
        assert_eq!(like_first("sources", state, "id"), 4);
        let document = "position, url, title, page_count, character_count, is_pair, stored_bytes";
        assert_eq!(like_first("documents", document, "source_id"), 4);
        let passage = "position, document, title, heading, url, page, text, is_pair, language";
        assert_eq!(like_first("passages", passage, "source_id"), 4);
        assert_eq!(like_first("document_texts", "position, text", "source_id"), 4);
        let vectors = "space, is_complete, embedded_to, due_at, halvings";
        assert_eq!(like_first("source_vectors", vectors, "source_id"), 4);
        assert_eq!(like_first("events", "name, created_at", "source_id"), 4);
        assert_eq!(world.count("jobs"), 0);
        let shown = "version = (SELECT version FROM sources WHERE sources.id = source_id)";
        for table in ["documents", "source_vectors"] {
            assert_eq!(world.count_where(table, shown), 4, "{table}");
        }
        let total = "stored_bytes = (SELECT sum(stored_bytes) FROM sources)";
        assert_eq!(world.count_where("accounts", total), 1);
    })
    .await;
}

#[tokio::test]
async fn if_one_is_beyond_the_quota_none_is_stored() {
    on_each(async |world| {
        let agent = world.agent().await;
        texts(world, &agent, 2).await;
        let (first, alike) = claim(world).await;
        limit(world, Quota::AtMost(2_000)).await;
        let ended = vec![finished(&first, "short"), finished(&alike[0], &"long ".repeat(1_000))];
        let refused = world.storage.finish_together(world.account, ended, world.now()).await;
        assert!(matches!(refused, Err(Error::BytesExceeded { .. })), "{refused:?}");
        let left = ["documents", "passages", "events"].map(|table| world.count(table));
        assert_eq!(left, [0, 0, 0]);
        // The worker still has the jobs, and ends them one by one.
        let alone = finished(&first, "short");
        let (storage, now) = (&world.storage, world.now());
        let trained = storage.finish_trained(&alone.lease, alone.extracted, alone.event, now).await;
        assert_eq!(trained.unwrap().unwrap().state.status(), SourceStatus::Trained);
    })
    .await;
}
