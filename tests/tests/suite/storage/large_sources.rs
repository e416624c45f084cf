//! Sources of many megabytes are stored in parts, and become visible only as a whole.

use std::cell::Cell;
use std::sync::Arc;

use cicerone_domain::SourceContent;
use cicerone_domain::content::Document;
use cicerone_domain::job::Reclaim;
use cicerone_domain::ports::{
    AgentStore as _, JobStore as _, PassageFeed as _, SourceStore as _, Wanted,
};
use cicerone_domain::source::SourceText;

use super::feed::passages_of;
use super::fixture::{World, extracted, first, large, new_id, on_each};

/// A short text.
pub(super) fn text() -> SourceContent {
    SourceContent::Text(SourceText::from_stored("the content"))
}

#[tokio::test]
async fn a_large_source_is_stored_whole_while_others_write() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, text()).await;
        let job = world.claim_job().await.unwrap();
        let is_done = Cell::new(false);
        let store = async {
            let (lease, now) = (&job.lease, world.now());
            world.storage.finish_trained(lease, large(), new_id(), now).await.unwrap().unwrap();
            is_done.set(true);
        };
        let writes = async {
            let mut count = 0;
            while !is_done.get() {
                world.agent().await;
                count += 1;
            }
            count
        };
        let ((), written) = tokio::join!(store, writes);
        // If the source were stored in one transaction, only two writes could run: one before it
        // and one after it.
        assert!(written >= 6, "only {written} agents were created");
        let passages = world.count("passages");
        assert_eq!((world.count("documents"), passages), (40, 320));
        let scope = world.scope();
        let page = world.storage.list_passages(&scope, source.id, None, first(3)).await.unwrap();
        assert_eq!(page.items, passages_of(world, &source, &large()).await[..3]);
        assert_eq!(world.count_where("documents", "version IS NULL"), 0);
    })
    .await;
}

/// Stores a part of a large source, and stops.
async fn interrupt(world: &World) {
    let job = world.claim_job().await.unwrap();
    let (lease, now) = (&job.lease, world.now());
    let store = world.storage.finish_trained(lease, large(), new_id(), now);
    let some = async {
        while world.count("passages") == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = some => {}
        ended = store => panic!("stored in one part: {ended:?}"),
    }
}

#[tokio::test]
async fn an_interrupted_store_is_seen_by_nobody_and_leaves_nothing() {
    on_each(async |world| {
        let (agent, scope) = (world.agent().await, world.scope());
        let source = world.source(&agent, text()).await;
        interrupt(world).await;
        let documents = world.storage.list_documents(&scope, source.id, first(9)).await.unwrap();
        let passages =
            world.storage.list_passages(&scope, source.id, None, first(9)).await.unwrap();
        assert_eq!((documents.items, passages.items), (Vec::new(), Vec::new()));
        let wanted = Wanted { bytes: u64::MAX, least: 0, known: None };
        let whole = world.storage.whole_content(agent.id, wanted).await.unwrap().unwrap();
        assert_eq!(whole.passages, Some(Vec::new()));
        world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await.unwrap();
        world.finish(&source, extracted("short", 1)).await;
        assert_eq!((world.count("documents"), world.count("passages")), (1, 1));
        let passages =
            world.storage.list_passages(&scope, source.id, None, first(9)).await.unwrap();
        assert_eq!(passages.items, passages_of(world, &source, &extracted("short", 1)).await);
    })
    .await;
}

#[tokio::test]
async fn a_failure_removes_the_parts_that_were_stored() {
    on_each(async |world| {
        let (agent, scope) = (world.agent().await, world.scope());
        let source = world.source(&agent, text()).await;
        interrupt(world).await;
        world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await.unwrap();
        let job = world.claim_job().await.unwrap();
        let (message, now) = ("it broke".to_owned(), world.now());
        world.storage.finish_failed(&job.lease, message, new_id(), now).await.unwrap().unwrap();
        assert_eq!((world.count("documents"), world.count("passages")), (0, 0));

        let other = world.source(&agent, text()).await;
        interrupt(world).await;
        world.storage.delete_source(&scope, other.id, world.now(), None).await.unwrap();
        world.storage.delete_source(&scope, source.id, world.now(), None).await.unwrap();
        assert_eq!((world.count("documents"), world.count("passages")), (0, 0));
        world.storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_large_text_is_stored_as_it_is() {
    on_each(async |world| {
        let (agent, scope) = (world.agent().await, world.scope());
        // Whatever has a meaning in one of the formats in which a database takes many rows.
        let text = "a\tb\\n\\.\nc\r\n\"d\",'e'\u{1f600}ß\u{1}\u{feff}".repeat(40_000);
        assert!(text.len() > 1_024 * 1_024);
        let mut whole = extracted(&text, 1);
        let mut short = whole.documents[0].clone();
        short.document = Document { position: 1, text: "short".to_owned(), ..short.document };
        short.stretches.clear();
        whole.documents.push(short);
        let source = world.source(&agent, self::text()).await;
        world.finish(&source, whole).await;
        let page = world.storage.list_documents(&scope, source.id, first(1)).await.unwrap();
        assert!(page.items[0].document.text == text, "another text was stored");
        let all = world.storage.list_documents(&scope, source.id, first(9)).await.unwrap();
        let positions: Vec<_> = all.items.iter().map(|stored| stored.document.position).collect();
        assert_eq!(positions, [0, 1]);
        assert_eq!(all.items[1].document.text, "short");
    })
    .await;
}
