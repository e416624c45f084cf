//! Behaviour around faults: other processes, lost connections, callers that go away, closing.

use std::time::Duration;

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::ports::{AgentStore as _, ConversationStore as _, Health as _};
use cicerone_domain::{AgentPatch, Error};
use cicerone_tests::postgres::Cluster;

use super::fixture::{all_pages, assert_not_found, new_id, on_each};

#[tokio::test]
async fn a_restart_of_the_database_server_goes_unnoticed() {
    on_each(async |world| {
        let Some(cluster) = Cluster::shared().filter(|_| world.url.sqlite_path().is_none()) else {
            return;
        };
        let agent = world.agent().await;
        // Uses every connection of the pool once, so that all of them are lost.
        let reads = (0..40).map(|_| world.stored_agent(&agent));
        futures_util::future::join_all(reads).await;
        for _ in 0..3 {
            cluster.disconnect(&world.url);
            assert_eq!(world.stored_agent(&agent).await, agent);
            cluster.disconnect(&world.url);
            world.agent().await;
            assert!(world.storage.check().await.is_ok());
        }
    })
    .await;
}

#[tokio::test]
async fn one_refused_change_leaves_the_others_of_its_commit_alone() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (scope, now) = (world.scope(), world.now());
        let mut good = Vec::new();
        let mut bad = Vec::new();
        for number in 0..100 {
            let turn = world.first_turn(&agent, &[("n", &number.to_string())]);
            good.push(world.storage.append_turn(turn, None));
            let patch = AgentPatch::default();
            bad.push(world.storage.update_agent(&scope, new_id(), patch, now, None));
        }
        let good = futures_util::future::join_all(good);
        let bad = futures_util::future::join_all(bad);
        let (good, bad) = tokio::join!(good, bad);
        good.into_iter().for_each(|result| drop(result.unwrap()));
        bad.into_iter().for_each(|result| assert_not_found(result, "agent"));
        assert_eq!((world.count("conversations"), world.count("messages")), (100, 200));
    })
    .await;
}

#[tokio::test]
async fn a_panic_in_a_change_rolls_it_back_and_the_next_one_works() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        let explode = cicerone_domain::idempotency::Completion::new(claim, |_| panic!("a test"));
        let insert = world.storage.insert_agent(world.new_agent(), Some(explode)).await;
        assert!(matches!(insert, Err(Error::Internal(_))), "{insert:?}");
        assert_eq!(world.count("agents"), 0);
        world.agent().await;
        assert_eq!(world.count("agents"), 1);
    })
    .await;
}

#[tokio::test]
async fn two_processes_write_to_one_database() {
    on_each(async |world| {
        let other = world.reopen();
        let inserts = (0..200).map(|number| {
            let storage = if number % 2 == 0 { &world.storage } else { &other };
            storage.insert_agent(world.new_agent(), None)
        });
        for result in futures_util::future::join_all(inserts).await {
            result.unwrap();
        }
        let scope = world.scope();
        let agents = all_pages(100, async |page| {
            other.list_agents(&scope, AgentFilter::default(), page).await
        })
        .await;
        assert_eq!(agents.len(), 200);
    })
    .await;
}

#[tokio::test]
async fn a_change_goes_on_when_its_caller_goes_away() {
    on_each(async |world| {
        let agent = world.new_agent();
        let insert = world.storage.insert_agent(agent.clone(), None);
        // Polled once, so that the change is queued, then dropped.
        let _ = tokio::time::timeout(Duration::ZERO, insert).await;
        world.storage.close().await;
        assert_eq!(world.count("agents"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_closed_database_commits_what_it_took_and_takes_no_more() {
    on_each(async |world| {
        let agents: Vec<_> = (0..50).map(|_| world.new_agent()).collect();
        let tasks: Vec<_> = agents
            .into_iter()
            .map(|agent| {
                let storage = world.storage.clone();
                tokio::spawn(async move { storage.insert_agent(agent, None).await.is_ok() })
            })
            .collect();
        tokio::task::yield_now().await;
        world.storage.close().await;
        let mut stored = 0;
        for task in tasks {
            stored += i64::from(task.await.unwrap());
        }
        assert_eq!(world.count("agents"), stored, "every acknowledged agent exists");
        let late = world.storage.insert_agent(world.new_agent(), None).await;
        assert!(matches!(late, Err(Error::Unavailable(_))), "{late:?}");
    })
    .await;
}
