//! Work at a database has a time limit, and its connection can be used afterwards.

use std::time::Duration;

use cicerone_domain::agent::AgentName;
use cicerone_domain::ports::AgentStore as _;
use cicerone_domain::{AgentPatch, Error};
use cicerone_storage::{Storage, StorageOptions};
use cicerone_tests::postgres::Cluster;
use diesel::PgConnection;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;

use super::fixture::on_each;

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
