//! Documents by their ids.

use cicerone_domain::content::{DocumentIds, StoredDocument};
use cicerone_domain::ports::{AgentStore as _, SourceStore as _};
use cicerone_domain::{AgentPatch, Extracted, Source, limits};
use cicerone_storage::migrations;

use super::fixture::{World, all_pages, extracted, first, new_id, on_each, text, website};

/// Pairs with these questions, each with its number as the answer.
fn pairs(questions: &[&str]) -> Extracted {
    let one = extracted("answer", 1).documents.remove(0);
    let cut = |(position, question): (i64, &&str)| {
        let mut cut = one.clone();
        cut.document.position = position;
        cut.document.url = None;
        cut.document.title = Some((*question).to_owned());
        cut.document.is_pair = true;
        cut
    };
    Extracted { title: None, documents: (0..).zip(questions).map(cut).collect() }
}

async fn listed(world: &World, source: &Source) -> Vec<StoredDocument> {
    let scope = world.scope();
    all_pages(100, async |page| world.storage.list_documents(&scope, source.id, page).await).await
}

#[tokio::test]
async fn a_document_is_found_by_its_id_within_the_scope() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, text("pairs")).await;
        world.finish(&source, pairs(&["a", "b", "a"])).await;
        let documents = listed(world, &source).await;
        for document in &documents {
            let found = world.storage.find_document(&world.only(&agent), document.id).await;
            assert_eq!(found.unwrap().as_ref(), Some(document));
            for scope in world.outside().await {
                assert_eq!(world.storage.find_document(&scope, document.id).await.unwrap(), None);
            }
        }
        let first = pairs(&["a", "b", "a"]).documents.remove(0).document;
        assert_eq!(documents[0].id, DocumentIds::new(source.id).next_of(&first));
        assert_eq!(world.storage.find_document(&world.scope(), new_id()).await.unwrap(), None);
        // One that a job has stored and not finished is not there, and a deleted one neither.
        world.execute("UPDATE documents SET version = NULL WHERE position = 0");
        let found = world.storage.find_document(&world.scope(), documents[0].id).await;
        assert_eq!(found.unwrap(), None);
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert_eq!(world.storage.find_document(&scope, documents[1].id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_public_text_is_found_if_its_agent_publishes_it_and_is_cut() {
    on_each(async |world| {
        let agent = world.agent().await;
        let public = async |public_sources| {
            let patch =
                AgentPatch { public_sources: Some(public_sources), ..AgentPatch::default() };
            let (scope, now) = (world.scope(), world.now());
            world.storage.update_agent(&scope, agent.id, patch, now, None).await.unwrap();
        };
        let most = limits::PUBLIC_TEXT_BYTES;
        for (long, shown) in [
            ("x".repeat(most), most),
            (format!("{}é", "x".repeat(most - 2)), most),
            (format!("{}é", "x".repeat(most - 1)), most - 1),
            ("🦀".repeat(most), most),
        ] {
            let source = world.trained(&agent, website(false), &long).await;
            let page = world.storage.list_documents(&world.scope(), source.id, first(1)).await;
            let id = page.unwrap().items[0].id;
            public(true).await;
            let found = world.storage.find_public_text(id).await.unwrap().unwrap();
            assert_eq!(found.text.len(), shown);
            assert_eq!(found.is_cut, long.len() > most);
            assert_eq!(found.title.as_deref(), Some("Rome"));
            public(false).await;
            assert_eq!(world.storage.find_public_text(id).await.unwrap(), None);
        }
    })
    .await;
}

#[tokio::test]
async fn documents_of_earlier_versions_get_the_ids_that_new_ones_would_have() {
    on_each(async |world| {
        let agent = world.agent().await;
        let questions: Vec<String> =
            (0..1_200).map(|number| format!("q{}", number % 700)).collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        let source = world.source(&agent, text("pairs")).await;
        world.finish(&source, pairs(&questions)).await;
        let page = world.trained(&agent, website(false), "Rome").await;
        let before = (listed(world, &source).await, listed(world, &page).await);
        let name = "document_ids";
        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains(name)) {}
        migrations::run(&world.url).unwrap();
        assert_eq!(world.count_where("documents", "id = ''"), 0);
        assert_eq!((listed(world, &source).await, listed(world, &page).await), before);
        // A server of an earlier version that still ran.
        world.execute("UPDATE documents SET id = '' WHERE position = 1100");
        migrations::run(&world.url).unwrap();
        assert_eq!((listed(world, &source).await, listed(world, &page).await), before);
    })
    .await;
}
