//! Jobs: leases, ends, crashes.

use std::collections::HashSet;
use std::sync::Arc;

use cicerone_domain::content::Extracted;
use cicerone_domain::job::{Claimable, ClaimableAccounts, Lane, POISONED, Reclaim, Reclaimed};
use cicerone_domain::limits::{FEED_PASSAGES, JOB_CRASHES};
use cicerone_domain::ports::{
    AgentStore as _, Housekeeping as _, JobStore as _, PassageFeed as _, SourceStore as _,
};
use cicerone_domain::{SourceState, SourceStatus};

use super::feed::{fed, passages_of};
use super::fixture::{counted, extracted, first, new_id, new_job, on_each, website};

/// Jobs of texts, of any account.
const QUICK: Claimable = Claimable { lane: Lane::Quick, accounts: ClaimableAccounts::All };

#[tokio::test]
async fn the_job_that_has_waited_longest_is_claimed_first() {
    on_each(async |world| {
        assert_eq!(world.claim_job().await, None);
        assert_eq!(world.storage.next_due(Lane::Quick).await.unwrap(), None);
        let agent = world.agent().await;
        let one = world.text_source(&agent).await;
        let two = world.text_source(&agent).await;
        assert_eq!(world.storage.next_due(Lane::Quick).await.unwrap(), Some(one.created_at));
        assert_eq!(world.storage.job_counts().await.unwrap(), (2, 0));

        let job = world.claim_job().await.unwrap();
        assert_eq!((job.source.id, job.attempts, job.queued_at), (one.id, 0, one.created_at));
        assert_eq!(job.source.state, SourceState::Processing { last: None });
        assert_eq!(world.stored_source(&one).await, job.source);
        assert_eq!(world.storage.job_counts().await.unwrap(), (1, 1));
        assert_eq!(world.claim_job().await.unwrap().source.id, two.id);
        assert_eq!(world.claim_job().await, None);
    })
    .await;
}

#[tokio::test]
async fn workers_never_claim_the_same_job() {
    on_each(async |world| {
        let agent = world.agent().await;
        for _ in 0..40 {
            world.text_source(&agent).await;
        }
        let other = world.reopen();
        let now = world.now();
        let workers = (0..8).map(|worker| {
            let storage = if worker % 2 == 0 { &world.storage } else { &other };
            async move {
                let mut claimed = Vec::new();
                let until = now.plus_millis(30_000);
                for number in 0.. {
                    let token = format!("{worker}.{number}");
                    match storage.claim_job(QUICK, token, now, until).await.unwrap() {
                        Some(job) => claimed.push(job.lease.job_id),
                        // Another worker may have claimed the last ones.
                        None => break,
                    }
                }
                claimed
            }
        });
        let claimed: Vec<_> =
            futures_util::future::join_all(workers).await.into_iter().flatten().collect();
        let distinct: HashSet<_> = claimed.iter().copied().collect();
        assert_eq!((claimed.len(), distinct.len()), (40, 40));
    })
    .await;
}

#[tokio::test]
async fn a_trained_source_its_generation_and_its_event_come_together() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;
        let SourceState::Trained(trained) = &source.state else { panic!("{source:?}") };
        assert_eq!((counted(trained.version), trained.character_count), (1, 3));
        assert_eq!(world.stored_source(&source).await, source);
        assert_eq!(world.changes(&agent).await, 1);
        assert_eq!(world.count_where("events", "name = 'source.trained'"), 1);
        assert_eq!(world.count("jobs"), 0);

        let scope = world.scope();
        world
            .storage
            .refresh_source(&scope, source.id, new_job(), world.now(), None)
            .await
            .unwrap();
        let again = world.finish(&source, extracted("second", 3)).await;
        let SourceState::Trained(trained) = &again.state else { panic!("{again:?}") };
        assert_eq!((counted(trained.version), trained.character_count), (2, 6));
        assert_eq!(world.changes(&agent).await, 2);
        let passages =
            world.storage.list_passages(&scope, source.id, None, first(9)).await.unwrap();
        assert_eq!(passages.items, passages_of(world, &source, &extracted("second", 3)).await);
        assert_eq!(world.count("documents"), 1, "no earlier document is left");
        assert_eq!(world.count("events"), 2);
    })
    .await;
}

#[tokio::test]
async fn an_event_holds_the_source_as_it_became() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;
        let like = format!("payload LIKE '%\"id\":\"{}\"%'", source.id);
        assert_eq!(world.count_where("events", &like), 1);
        let like =
            "payload LIKE '%\"status\":\"trained\"%' AND payload LIKE '%\"character_count\":3%'";
        assert_eq!(world.count_where("events", like), 1);
    })
    .await;
}

#[tokio::test]
async fn content_that_cannot_be_stored_changes_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "old").await;
        let scope = world.scope();
        let refreshed = world
            .storage
            .refresh_source(&scope, source.id, new_job(), world.now(), None)
            .await
            .unwrap();
        let job = world.claim_job().await.unwrap();
        let twice = extracted("new", 1).documents.remove(0);
        let broken = Extracted { documents: vec![twice.clone(), twice], ..extracted("new", 1) };
        let finish = world.storage.finish_trained(&job.lease, broken, new_id(), world.now()).await;
        assert!(finish.is_err(), "{finish:?}");

        assert_eq!(world.stored_source(&source).await, refreshed);
        assert_eq!(world.changes(&agent).await, 1);
        assert_eq!(world.count("events"), 1);
        let passages =
            world.storage.list_passages(&scope, source.id, None, first(9)).await.unwrap();
        assert_eq!(passages.items, passages_of(world, &source, &extracted("old", 2)).await);
        let good = extracted("new", 1);
        let finish = world.storage.finish_trained(&job.lease, good, new_id(), world.now()).await;
        assert!(finish.unwrap().is_some(), "the lease is still valid");
    })
    .await;
}

#[tokio::test]
async fn a_failed_refresh_keeps_what_answered_before() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "old").await;
        let scope = world.scope();
        world
            .storage
            .refresh_source(&scope, source.id, new_job(), world.now(), None)
            .await
            .unwrap();
        let job = world.claim_job().await.unwrap();
        let message = "the start page answered 404".to_owned();
        let failed = world
            .storage
            .finish_failed(&job.lease, message.clone(), new_id(), world.now())
            .await
            .unwrap()
            .unwrap();
        let last = source.state.searchable().cloned();
        assert_eq!(failed.state, SourceState::Failed { message, last });
        assert_eq!(world.stored_source(&source).await, failed);
        assert_eq!(world.changes(&agent).await, 1);
        assert_eq!(world.count("passages"), 2);
        assert_eq!(world.count_where("events", "name = 'source.failed'"), 1);
        assert_eq!(world.count("jobs"), 0);
        let again = world
            .storage
            .refresh_source(&scope, source.id, new_job(), world.now(), None)
            .await
            .unwrap();
        assert_eq!(again.state.status(), SourceStatus::Processing);
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_changes_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        let old = world.claim_job().await.unwrap().lease;
        world.execute("UPDATE jobs SET lease_until = 0");
        let event_id = Arc::new(new_id);
        let reclaimed =
            world.storage.reclaim(Reclaim::Expired, world.now(), event_id).await.unwrap();
        assert_eq!(reclaimed, Reclaimed { requeued: 1, poisoned: 0 });
        for is_taken_over in [false, true] {
            if is_taken_over {
                world.claim_job().await.unwrap();
            }
            let (now, storage) = (world.now(), &world.storage);
            assert!(!storage.heartbeat(&old, now.plus_millis(1_000)).await.unwrap());
            assert!(!storage.requeue(&old, now, true).await.unwrap());
            let trained = storage.finish_trained(&old, extracted("x", 1), new_id(), now).await;
            assert_eq!(trained.unwrap(), None);
            let failed = storage.finish_failed(&old, "x".to_owned(), new_id(), now).await;
            assert_eq!(failed.unwrap(), None);
        }
        assert_eq!(world.stored_source(&source).await.state.status(), SourceStatus::Processing);
        assert_eq!((world.count("events"), world.count("passages")), (0, 0));
        assert_eq!(world.changes(&agent).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_source_ends_its_job_without_a_trace() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        let lease = world.claim_job().await.unwrap().lease;
        let (scope, now, storage) = (world.scope(), world.now(), &world.storage);
        storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert!(!storage.heartbeat(&lease, now).await.unwrap());
        let trained = storage.finish_trained(&lease, extracted("x", 1), new_id(), now).await;
        assert_eq!(trained.unwrap(), None);
        for table in ["passages", "documents", "events", "jobs"] {
            assert_eq!(world.count(table), 0, "{table}");
        }

        world.text_source(&agent).await;
        let lease = world.claim_job().await.unwrap().lease;
        storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        let failed = storage.finish_failed(&lease, "x".to_owned(), new_id(), now).await;
        assert_eq!(failed.unwrap(), None);
        assert_eq!(world.count("events"), 0);
    })
    .await;
}

#[tokio::test]
async fn a_heartbeat_extends_the_lease() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.text_source(&agent).await;
        let lease = world.claim_job().await.unwrap().lease;
        let until = world.now().plus_millis(1_000_000);
        assert!(world.storage.heartbeat(&lease, until).await.unwrap());
        let (storage, event_id) = (&world.storage, Arc::new(new_id));
        let early = until.plus_millis(-1);
        let none = storage.reclaim(Reclaim::Expired, early, event_id.clone()).await.unwrap();
        assert_eq!(none, Reclaimed::default());
        let one = storage.reclaim(Reclaim::Expired, until, event_id).await.unwrap();
        assert_eq!(one, Reclaimed { requeued: 1, poisoned: 0 });
    })
    .await;
}

#[tokio::test]
async fn a_job_that_is_given_back_waits_until_it_is_due() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        let lease = world.claim_job().await.unwrap().lease;
        let due = world.now().plus_millis(1_000_000);
        assert!(world.storage.requeue(&lease, due, true).await.unwrap());
        assert_eq!(world.storage.next_due(Lane::Quick).await.unwrap(), Some(due));
        assert_eq!(world.claim_job().await, None);
        assert_eq!(world.stored_source(&source).await.state.status(), SourceStatus::Processing);

        let until = due.plus_millis(30_000);
        let claim =
            world.storage.claim_job(QUICK, "t".to_owned(), due, until).await.unwrap().unwrap();
        assert_eq!((claim.attempts, claim.source.id), (1, source.id));
        assert!(world.storage.requeue(&claim.lease, due, false).await.unwrap());
        let claim =
            world.storage.claim_job(QUICK, "u".to_owned(), due, until).await.unwrap().unwrap();
        assert_eq!(claim.attempts, 1, "a graceful stop does not count");
    })
    .await;
}

#[tokio::test]
async fn a_start_takes_back_every_job_that_was_running() {
    on_each(async |world| {
        let agent = world.agent().await;
        for _ in 0..3 {
            world.text_source(&agent).await;
        }
        world.claim_job().await.unwrap();
        world.claim_job().await.unwrap();
        let event_id = Arc::new(new_id);
        let (storage, now) = (&world.storage, world.now());
        let none = storage.reclaim(Reclaim::Expired, now, event_id.clone()).await.unwrap();
        assert_eq!(none, Reclaimed::default(), "their leases are still valid");
        let all = storage.reclaim(Reclaim::All, now, event_id).await.unwrap();
        assert_eq!(all, Reclaimed { requeued: 2, poisoned: 0 });
        assert_eq!(storage.job_counts().await.unwrap(), (3, 0));
    })
    .await;
}

#[tokio::test]
async fn content_that_crashes_its_worker_three_times_fails_with_one_event() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "old").await;
        let (scope, now) = (world.scope(), world.now());
        world.storage.refresh_source(&scope, source.id, new_job(), now, None).await.unwrap();
        let other = world.reopen();
        for crash in 1..=JOB_CRASHES {
            world.claim_job().await.unwrap();
            world.execute("UPDATE jobs SET lease_until = 0");
            let servers = [&world.storage, &other]
                .map(|storage| storage.reclaim(Reclaim::Expired, world.now(), Arc::new(new_id)));
            let mut total = Reclaimed::default();
            for reclaimed in futures_util::future::join_all(servers).await {
                let reclaimed = reclaimed.unwrap();
                total.requeued += reclaimed.requeued;
                total.poisoned += reclaimed.poisoned;
            }
            let is_last = u64::from(crash == JOB_CRASHES);
            assert_eq!(total, Reclaimed { requeued: 1 - is_last, poisoned: is_last });
        }
        let failed = world.stored_source(&source).await;
        let last = source.state.searchable().cloned();
        assert_eq!(failed.state, SourceState::Failed { message: POISONED.to_owned(), last });
        assert_eq!(world.count_where("events", "name = 'source.failed'"), 1);
        assert_eq!(world.count("jobs"), 0);
        assert_eq!(world.changes(&agent).await, 1);
    })
    .await;
}

#[tokio::test]
async fn text_beyond_one_batch_is_stored_whole_and_in_order() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        let mut content = extracted(&"ab".repeat(1_300_000), 3);
        let cut = &mut content.documents[0];
        let length = cut.document.text.len() / 1_700;
        let heading = cut.stretches[0].heading.clone();
        cut.stretches = (0..1_700)
            .map(|at| cicerone_domain::Stretch {
                range: at * length..(at + 1) * length,
                heading: heading.clone(),
                page: None,
                language: None,
            })
            .collect();
        let mut second = extracted("the end", 1).documents.remove(0);
        second.document.position = 1;
        content.documents.push(second);
        let source = world.finish(&source, content.clone()).await;
        let version = source.state.searchable().unwrap().version;
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let feed = world.storage.passages(source.id, version, &[0, 1], after).await;
            let some = feed.unwrap().unwrap();
            assert!(some.len() <= FEED_PASSAGES, "{}", some.len());
            after = some.last().map(|(document, passage)| (*document, passage.passage.position));
            let are_all = some.len() < FEED_PASSAGES;
            found.extend(some);
            if are_all {
                break;
            }
        }
        assert_eq!(found, fed(world, &source, &content).await);
    })
    .await;
}
