//! Large objects are deleted in parts, and are invisible from the first part on.

use std::cell::Cell;
use std::future::Future;
use std::time::{Duration, Instant};

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::conversation::ConversationFilter;
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, Housekeeping as _, PassageFeed as _, SourceStore as _,
    UsageStore as _,
};
use cicerone_domain::{Agent, Conversation, Error, Source};
use cicerone_tests::patience::PATIENCE;
use cicerone_tests::postgres::Cluster;
use diesel::PgConnection;
use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;

use super::fixture::{World, first, large, new_job, on_each};
use super::large_sources::text;
use super::time_bounds::waiting_for_rows;

/// Turns of the conversation. Its messages are deleted in three parts, because two parts may be
/// deleted before the test notices the first.
const TURNS: usize = 1_100;

/// An agent with a source of 8 MB and a long conversation, and another source with a queued job.
async fn large_agent(world: &World) -> (Agent, Source, Conversation) {
    let agent = world.agent().await;
    let source = world.source(&agent, text()).await;
    let source = world.finish(&source, large()).await;
    let turn = world.first_turn(&agent, &[("user", "u1")]);
    let mut conversation = turn.conversation.clone();
    world.storage.append_turn(turn, None).await.unwrap();
    for _ in 1..TURNS {
        let turn = world.next_turn(&conversation, "And the river?");
        conversation = turn.conversation.clone();
        world.storage.append_turn(turn, None).await.unwrap();
    }
    (agent, source, conversation)
}

/// Aborts a deletion after it has deleted something.
async fn interrupt<T>(
    world: &World,
    table: &str,
    deletion: impl Future<Output = Result<T, Error>>,
) {
    let before = world.count(table);
    let some = async {
        while world.count(table) == before {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = some => {}
        _ = deletion => panic!("deleted in one part"),
    }
    assert!(world.count(table) > 0, "deleted in one part");
}

/// The rows that remain in the tables of an agent's content.
fn left(world: &World) -> Vec<(&'static str, i64)> {
    let tables = [
        "agents",
        "sources",
        "documents",
        "document_texts",
        "passages",
        "jobs",
        "conversations",
        "conversation_metadata",
        "messages",
    ];
    let counts = tables.map(|table| (table, world.count(table)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

#[tokio::test]
async fn a_large_agent_is_deleted_while_others_write() {
    on_each(async |world| {
        let (scope, now) = (world.scope(), world.now());
        let (agent, ..) = large_agent(world).await;
        let is_done = Cell::new(false);
        let delete = async {
            world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
            is_done.set(true);
        };
        let writes = async {
            let mut written = Vec::new();
            while !is_done.get() {
                written.push(world.agent().await);
            }
            written
        };
        let ((), written) = tokio::join!(delete, writes);
        // If everything were deleted in one transaction, only two writes could run: one before it
        // and one after it.
        assert!(written.len() >= 6, "only {} agents were created", written.len());
        assert_eq!(left(world), [("agents", i64::try_from(written.len()).unwrap())]);
        assert_eq!(world.storage.kept_bytes(world.account).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn of_an_agent_that_is_half_deleted_nothing_is_found() {
    on_each(async |world| {
        let (scope, now, storage) = (world.scope(), world.now(), &world.storage);
        let (agent, source, conversation) = large_agent(world).await;
        let waiting = world.source(&agent, text()).await;
        interrupt(world, "passages", storage.delete_agent(&scope, agent.id, now, None)).await;

        assert_eq!(storage.find_agent(&scope, agent.id).await.unwrap(), None);
        assert_eq!(
            storage.list_agents(&scope, AgentFilter::default(), first(9)).await.unwrap().items,
            []
        );
        assert_eq!(storage.agent_content(agent.id).await.unwrap(), None);
        for id in [source.id, waiting.id] {
            assert_eq!(storage.find_source(&scope, id).await.unwrap(), None);
            let documents = storage.list_documents(&scope, id, first(9)).await;
            assert!(matches!(documents, Err(Error::NotFound { .. })), "{documents:?}");
            let deleted = storage.delete_source(&scope, id, now, None).await;
            assert!(matches!(deleted, Err(Error::NotFound { .. })), "{deleted:?}");
        }
        assert_eq!(world.claim_job().await, None);
        assert_eq!(storage.find_conversation(&scope, conversation.id).await.unwrap(), None);
        let filter = ConversationFilter::default();
        let listed = storage.list_conversations(&scope, agent.id, filter, first(9)).await;
        assert!(matches!(listed, Err(Error::NotFound { .. })), "{listed:?}");
        let new = world.new_source(&agent, text());
        let added = storage.insert_source(&scope, new, new_job(), None).await;
        assert!(matches!(added, Err(Error::NotFound { .. })), "{added:?}");

        assert_eq!(storage.finish_removals(now).await.unwrap(), 1);
        assert_eq!(left(world), []);
        assert_eq!(storage.kept_bytes(world.account).await.unwrap(), 0);
        assert_eq!(storage.finish_removals(now).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_source_that_is_half_deleted_is_gone_and_its_agent_stays() {
    on_each(async |world| {
        let (scope, now, storage) = (world.scope(), world.now(), &world.storage);
        let (agent, source, _) = large_agent(world).await;
        interrupt(world, "passages", storage.delete_source(&scope, source.id, now, None)).await;

        assert_eq!(storage.find_source(&scope, source.id).await.unwrap(), None);
        let listed = storage.list_sources(&scope, agent.id, Default::default(), first(9)).await;
        assert_eq!(listed.unwrap().items, []);
        let content = storage.agent_content(agent.id).await.unwrap().unwrap();
        assert_eq!(content.sources, []);
        let version = source.state.searchable().unwrap().version;
        assert_eq!(storage.passages(source.id, version, &[39], None).await.unwrap(), None);

        assert_eq!(storage.finish_removals(now).await.unwrap(), 1);
        assert_eq!((world.count("sources"), world.count("document_texts")), (0, 0));
        assert_eq!(storage.kept_bytes(world.account).await.unwrap(), 0);
        assert_eq!(world.count("messages"), i64::try_from(2 * TURNS).unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_conversation_that_is_half_deleted_is_gone() {
    on_each(async |world| {
        let (scope, now, storage) = (world.scope(), world.now(), &world.storage);
        let (agent, _, conversation) = large_agent(world).await;
        let delete = storage.delete_conversation(&scope, conversation.id, now, None);
        interrupt(world, "messages", delete).await;

        assert_eq!(storage.find_conversation(&scope, conversation.id).await.unwrap(), None);
        let filter = ConversationFilter::default();
        let listed = storage.list_conversations(&scope, agent.id, filter, first(9)).await;
        assert_eq!(listed.unwrap().items, []);
        let turn = world.next_turn(&conversation, "And then?");
        let appended = storage.append_turn(turn, None).await;
        assert!(matches!(appended, Err(Error::NotFound { .. })), "{appended:?}");

        assert_eq!(storage.finish_removals(now).await.unwrap(), 1);
        assert_eq!((world.count("conversations"), world.count("messages")), (0, 0));
    })
    .await;
}

/// Deletes something on PostgreSQL while another transaction has made these changes. It commits them when the deletion
/// waits for it.
async fn delete_beside<T>(
    world: &World,
    changes: &str,
    deletion: impl Future<Output = Result<T, Error>>,
) {
    let mut other = PgConnection::establish(&world.url.to_string()).unwrap();
    other.batch_execute(&format!("BEGIN; {changes}")).unwrap();
    let commit = async {
        let deadline = Instant::now() + PATIENCE;
        while waiting_for_rows(&mut other) == 0 {
            assert!(Instant::now() < deadline, "the deletion does not wait");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        other.batch_execute("COMMIT").unwrap();
    };
    let (deleted, ()) = tokio::join!(deletion, commit);
    deleted.map(|_| ()).unwrap();
}

#[tokio::test]
async fn what_is_stored_of_a_conversation_while_its_deletion_waits_is_erased() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            // It has one writer.
            return;
        }
        let agent = world.agent().await;
        let id = world.conversation(&agent, &[]).await.id;
        world.claim("turn").await;
        let changes = format!(
            "UPDATE conversations SET handoff_requested_at = 1 WHERE id = '{id}'; \
             INSERT INTO events (id, account_id, name, payload, created_at, conversation_id) VALUES \
             ('evt_1', '{}', 'conversation.handoff_requested', \
             '{{\"event\":\"conversation.handoff_requested\",\"data\":{{\"message\":\"secret\"}}}}', 1, '{id}'); \
             UPDATE idempotency SET state = 'completed', body = 'secret'::bytea, \
             subject_id = '{id}', subject_agent_id = '{}'",
            world.account, agent.id
        );
        let (scope, now) = (world.scope(), world.now());
        let delete = world.storage.delete_conversation(&scope, id, now, None);
        delete_beside(world, &changes, delete).await;
        assert_eq!(world.count("conversations"), 0);
        assert_eq!(world.count("events"), 1);
        assert_eq!(world.count_where("events", "payload LIKE '%secret%'"), 0);
        assert_eq!(world.count_where("idempotency", "body IS NOT NULL"), 0);
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_is_stored_while_the_deletion_of_its_agent_waits_is_erased() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            return;
        }
        let id = world.agent().await.id;
        world.claim("reply").await;
        let changes = format!(
            "SELECT 1 FROM agents WHERE id = '{id}' FOR KEY SHARE; \
             UPDATE idempotency SET state = 'completed', body = 'secret'::bytea, \
             subject_id = '{id}', subject_agent_id = '{id}'"
        );
        let (scope, now) = (world.scope(), world.now());
        let delete = world.storage.delete_agent(&scope, id, now, None);
        delete_beside(world, &changes, delete).await;
        assert_eq!(world.count("agents"), 0);
        assert_eq!(world.count_where("idempotency", "body IS NOT NULL"), 0);
    })
    .await;
}
