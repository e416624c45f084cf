//! Work at a database has a time limit, and its connection can be used afterwards.

use std::time::{Duration, Instant};

use cicerone_domain::agent::AgentName;
use cicerone_domain::ports::{AgentStore as _, SourceStore as _};
use cicerone_domain::{AgentPatch, Error};
use cicerone_storage::{Storage, StorageOptions};
use cicerone_tests::patience::PATIENCE;
use cicerone_tests::postgres::Cluster;
use diesel::PgConnection;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use futures_util::future::join_all;

use super::fixture::{new_job, on_each, text};

/// The time limit of a read here, and of a change's wait for a row.
const LIMIT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn what_waits_too_long_for_another_is_refused_and_the_next_is_served() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            // Readers of a SQLite file do not wait; slow statements have their own tests.
            return;
        }
        // With one connection, later work must use the same one.
        let options = StorageOptions { connections: 1, read_timeout: LIMIT, ..Default::default() };
        let storage = Storage::open(&world.url, &options).unwrap();
        let agent = world.agent().await;
        let (scope, now) = (world.scope(), world.now());
        let mut other = PgConnection::establish(&world.url.to_string()).unwrap();
        for lock in
            ["LOCK TABLE agents IN ACCESS EXCLUSIVE MODE", "SELECT 1 FROM agents FOR UPDATE"]
        {
            other.batch_execute(&format!("BEGIN; {lock}")).unwrap();
            let patch = AgentPatch {
                name: Some(AgentName::parse("Other").unwrap()),
                ..AgentPatch::default()
            };
            let written = storage.update_agent(&scope, agent.id, patch.clone(), now, None).await;
            assert!(matches!(written, Err(Error::Unavailable(_))), "{written:?}");
            if lock.starts_with("LOCK") {
                let read = storage.find_agent(&scope, agent.id).await;
                assert!(matches!(read, Err(Error::Unavailable(_))), "{read:?}");
            }
            other.batch_execute("ROLLBACK").unwrap();
            storage.update_agent(&scope, agent.id, patch, now, None).await.unwrap();
            assert!(storage.find_agent(&scope, agent.id).await.unwrap().is_some());
        }
        storage.close().await;
    })
    .await;
}

#[tokio::test]
async fn new_sources_at_once_wait_for_the_row_of_their_agent_as_long_as_one_alone() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            return;
        }
        let options = StorageOptions {
            connection_timeout: LIMIT,
            read_timeout: LIMIT * 40,
            ..Default::default()
        };
        let storage = Storage::open(&world.url, &options).unwrap();
        let (agent, scope) = (world.agent().await, world.scope());
        let mut other = PgConnection::establish(&world.url.to_string()).unwrap();
        other.batch_execute("BEGIN; SELECT 1 FROM agents FOR UPDATE").unwrap();
        let add = || {
            let source = world.new_source(&agent, text("Rome has seven hills."));
            storage.insert_source(&scope, source, new_job(), None)
        };
        let first = add();
        let others_and_release = async {
            let deadline = Instant::now() + PATIENCE;
            while waiting_for_rows(&mut other) == 0 {
                assert!(Instant::now() < deadline, "the first one does not wait");
                tokio::time::sleep(LIMIT / 30).await;
            }
            let release = async {
                // Much longer than anything waits for a thread.
                tokio::time::sleep(LIMIT * 4).await;
                other.batch_execute("ROLLBACK").unwrap();
            };
            tokio::join!(join_all((0..12).map(|_| add())), release).0
        };
        let (first, added) = tokio::join!(first, others_and_release);
        first.unwrap();
        for added in added {
            added.unwrap();
        }
        storage.close().await;
    })
    .await;
}

/// How many transactions of the database wait for a row of another.
pub(crate) fn waiting_for_rows(c: &mut PgConnection) -> i64 {
    #[derive(QueryableByName)]
    struct Waiting {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        count: i64,
    }
    // Within a transaction, PostgreSQL shows the same activity again otherwise.
    c.batch_execute("SELECT pg_stat_clear_snapshot()").unwrap();
    let query = "SELECT count(*) AS count FROM pg_stat_activity \
                 WHERE datname = current_database() AND wait_event_type = 'Lock'";
    diesel::sql_query(query).get_result::<Waiting>(c).unwrap().count
}
