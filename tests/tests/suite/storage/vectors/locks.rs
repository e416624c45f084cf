//! The learner on PostgreSQL, beside the end of a job on another server: both lock the row of the agent first.

use std::time::{Duration, Instant};

use cicerone_domain::Agent;
use cicerone_domain::ports::{UsageStore as _, VectorWork};
use cicerone_tests::postgres::Cluster;
use diesel::PgConnection;
use diesel::connection::{Connection as _, SimpleConnection as _};

use super::super::fixture::{World, on_each, website};
use super::super::time_bounds::waiting_for_rows;
use super::{SPACE, claimed, next, store};

/// How long something may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(20);

/// Does something while another transaction has locked an agent, as the end of a job does. That one makes these changes when
/// the work waits for it, and must not wait for the work.
async fn beside<T>(
    world: &World,
    agent: &Agent,
    changes: &str,
    work: impl Future<Output = T>,
) -> T {
    let mut other = PgConnection::establish(&world.url.to_string()).unwrap();
    let id = agent.id;
    let lock = format!("BEGIN; SELECT 1 FROM agents WHERE id = '{id}' FOR NO KEY UPDATE");
    other.batch_execute(&lock).unwrap();
    let change = async {
        let deadline = Instant::now() + PATIENCE;
        while waiting_for_rows(&mut other) == 0 {
            assert!(Instant::now() < deadline, "nothing waits for the agent");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // PostgreSQL looks for deadlocks after a second.
        let changes = format!("SET LOCAL lock_timeout = 300; {changes}; COMMIT");
        other.batch_execute(&changes).expect("the other transaction waits for the work");
    };
    tokio::join!(work, change).0
}

#[tokio::test]
async fn the_last_claim_of_a_source_does_not_hold_up_the_end_of_its_job() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            // It has one writer.
            return;
        }
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        let all = claimed(world, SPACE, 10).await;
        store(world, &all, SPACE).await;
        let changes = "UPDATE source_vectors SET halvings = halvings";
        let work = beside(world, &agent, changes, next(world, SPACE, 10)).await;
        assert!(matches!(work, Some(VectorWork::Complete { .. })), "{work:?}");
    })
    .await;
}

#[tokio::test]
async fn vectors_of_content_that_is_being_replaced_are_neither_stored_nor_counted() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            return;
        }
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        let old = claimed(world, SPACE, 10).await;
        let before = world.storage.kept_bytes(world.account).await.unwrap();
        let changes = "UPDATE sources SET version = version + 1; \
                       UPDATE source_vectors SET version = version + 1";
        beside(world, &agent, changes, store(world, &old, SPACE)).await;
        assert_eq!(world.count("passage_vectors"), 0);
        assert_eq!(world.storage.kept_bytes(world.account).await.unwrap(), before);
    })
    .await;
}

#[tokio::test]
async fn two_servers_claim_different_sources_of_an_agent() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        world.trained(&agent, website(false), "two").await;
        let (one, two) = tokio::join!(claimed(world, SPACE, 10), claimed(world, SPACE, 10));
        assert_ne!(one.source, two.source);
        assert_eq!(next(world, SPACE, 10).await, None);
    })
    .await;
}
