//! Documents by their ids.

use std::collections::BTreeMap;

use cicerone_domain::content::StoredDocument;
use cicerone_domain::ports::{AgentStore as _, Housekeeping as _, KeyStore as _, SourceStore as _};
use cicerone_domain::{AgentPatch, Extracted, Id, Source, kind, limits};
use cicerone_storage::migrations;

use super::crawling::{kept, page, url};
use super::fixture::{
    World, all_pages, extracted, first, new_account, new_id, new_job, on_each, text, website,
};

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

/// The documents of a source, as a caller lists them.
pub(super) async fn listed(world: &World, source: &Source) -> Vec<StoredDocument> {
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
async fn ids_are_derived_with_the_secret_of_the_installation() {
    on_each(async |world| {
        let agent = world.agent().await;
        let page = world.trained(&agent, website(false), "Rome").await;
        let source = world.source(&agent, text("pairs")).await;
        world.finish(&source, pairs(&["a", "a"])).await;
        let ids = async || {
            let documents = [listed(world, &page).await, listed(world, &source).await];
            documents.concat().into_iter().map(|stored| stored.id).collect::<Vec<_>>()
        };
        let again = async || {
            world.execute("UPDATE documents SET id = ''");
            world.storage.complete_documents(100).await.unwrap();
            ids().await
        };
        let before = ids().await;
        assert_eq!(again().await, before);
        let url = "https://example.com/";
        let guessed: Id<kind::Document> = Id::derived(&[&page.id.to_string(), url]);
        assert!(!before.contains(&guessed), "anybody can compute the id {guessed}");
        // Another installation, whose secret nobody has asked for yet.
        world.execute("DELETE FROM installation");
        let other = again().await;
        assert!(before.iter().all(|id| !other.contains(id)), "{before:?} and {other:?}");
        assert_eq!(again().await, other);
        // Cursors are signed with the secret that was made for the ids.
        let secret = world.storage.installation_secret([1; 32]).await.unwrap();
        assert_ne!(secret, [1; 32]);
    })
    .await;
}

#[tokio::test]
async fn documents_that_are_there_keep_ids_that_were_derived_otherwise() {
    on_each(async |world| {
        let agent = world.agent().await;
        let one = world.trained(&agent, website(false), "Rome").await;
        let site = world.crawled(&agent, &["/", "/a", "/b"]).await;
        let of_source = async |source: &Source| {
            let listed = listed(world, source).await.into_iter();
            listed.map(|stored| (stored.document.url, stored.id)).collect::<BTreeMap<_, _>>()
        };
        let derived = of_source(&site).await;
        world.execute("UPDATE documents SET id = 'doc_' || substr(id, 8, 7) || '111'");
        let before = (of_source(&one).await, of_source(&site).await);
        assert!(before.1.values().all(|id| derived.values().all(|other| other != id)));

        let (scope, now) = (world.scope(), world.now());
        world.storage.refresh_source(&scope, one.id, new_job(), now, None).await.unwrap();
        world.finish(&one, extracted("Rome has changed.", 1)).await;
        let crawl = world.refresh(&site).await;
        let [home, _, _] = &crawl.known[..] else { panic!("{:?}", crawl.known) };
        let visited = vec![kept(home), page("/a", "changed"), page("/new", "new")];
        world.record(&crawl, visited).await;
        world.end(&crawl).await;
        assert_eq!(of_source(&one).await, before.0);
        let after = of_source(&site).await;
        for path in ["/", "/a"] {
            let name = Some(url(path));
            assert_eq!(after[&name], before.1[&name], "the page {path}");
        }
        assert_eq!(after.len(), 3);
        // A page that disappeared and returned is a new one.
        let crawl = world.refresh(&site).await;
        world.record(&crawl, vec![page("/", "/"), page("/b", "/b")]).await;
        world.end(&crawl).await;
        let last = of_source(&site).await;
        assert_eq!(last[&Some(url("/b"))], derived[&Some(url("/b"))]);
        assert_eq!(last[&Some(url("/"))], before.1[&Some(url("/"))]);
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
        // A server of an earlier version that still ran: the next start of a server gives the documents their ids, or
        // the housekeeper of one that runs.
        let lacking = "UPDATE documents SET id = '' WHERE position = 1100 OR position = 0";
        world.execute(lacking);
        migrations::run(&world.url).unwrap();
        assert_eq!((listed(world, &source).await, listed(world, &page).await), before);
        world.execute(lacking);
        assert_eq!(world.storage.complete_documents(100).await.unwrap(), 2);
        assert_eq!(world.storage.complete_documents(100).await.unwrap(), 0);
        assert_eq!((listed(world, &source).await, listed(world, &page).await), before);
    })
    .await;
}

#[tokio::test]
async fn accounts_take_turns_when_documents_get_ids() {
    on_each(async |world| {
        let agent = world.agent().await;
        for text in ["one", "two", "three"] {
            world.trained(&agent, website(false), text).await;
        }
        let theirs = new_account(&world.storage, "theirs").await;
        let few = world.trained(&agent, website(false), "few").await;
        let is_theirs = format!("source_id = '{}'", few.id);
        world.execute(&format!("UPDATE documents SET account_id = '{theirs}' WHERE {is_theirs}"));
        world.execute("UPDATE documents SET id = ''");
        assert_eq!(world.storage.complete_documents(1).await.unwrap(), 2);
        assert_eq!(world.count_where("documents", &format!("id = '' AND {is_theirs}")), 0);
        assert_eq!(world.count_where("documents", "id = ''"), 2);
        assert_eq!(world.storage.complete_documents(0).await.unwrap(), 0);
        assert_eq!(world.storage.complete_documents(2).await.unwrap(), 2);
    })
    .await;
}
