//! Much that is removed at once is removed in parts, so that others can write in between.

use std::cell::Cell;
use std::future::Future;
use std::sync::Arc;

use cicerone_domain::job::Reclaim;
use cicerone_domain::limits::JOB_CRASHES;
use cicerone_domain::ports::{
    CrawlStore as _, Housekeeping as _, IdempotencyStore as _, JobStore as _, PassageFeed as _,
    SourceStore as _, Wanted, WebhookStore as _,
};
use cicerone_domain::source::{PairsText, QaPair};
use cicerone_domain::webhook::EventName;
use cicerone_domain::{Agent, Source, SourceContent};

use super::bytes::kept;
use super::crawling::{Crawl, page};
use super::fixture::{World, extracted, new_id, new_job, on_each, response, website};

/// Pages of a large crawl, each with a text of 200 KB and two passages of the same.
const PAGES: usize = 12;
/// How many answers, or payloads of events, each larger than a part.
const LARGE: usize = 16;
/// Their size.
const LARGE_BYTES: usize = 1_100_000;

/// Checks that others can write during `work`. On SQLite, if it were one transaction, there would be two changes: one
/// before it and one after it.
async fn in_parts<T>(world: &World, work: impl Future<Output = T>) -> T {
    let is_done = Cell::new(false);
    let work = async {
        let outcome = work.await;
        is_done.set(true);
        outcome
    };
    let writes = async {
        let mut written = 0;
        while !is_done.get() {
            world.claim(&format!("other-{written}-{}", world.now())).await;
            written += 1;
        }
        written
    };
    let (outcome, written) = tokio::join!(work, writes);
    assert!(world.url.sqlite_path().is_none() || written >= 6, "only {written} changes");
    outcome
}

async fn record_large(world: &World, crawl: &Crawl, of: &str) {
    for number in 0..PAGES {
        let text = format!("{of} {number} ").repeat(200_000 / (of.len() + 4));
        world.record(crawl, vec![page(&format!("/{of}/{number}"), &text)]).await;
    }
}

/// A source with the pages of a large crawl, and a crawl of one other page that is about to end.
async fn about_to_be_replaced(world: &World, agent: &Agent) -> (Source, Crawl) {
    let source = world.source(agent, website(true)).await;
    let crawl = world.begin().await;
    record_large(world, &crawl, "old").await;
    world.end(&crawl).await;
    let crawl = world.refresh(&source).await;
    world.record(&crawl, vec![page("/", "new")]).await;
    (source, crawl)
}

/// Ends a crawl, and stops when a part of the previous content is removed.
async fn end_and_stop(world: &World, crawl: &Crawl) {
    let before = world.count("passages");
    let title = Some("Rome".to_owned());
    let end = world.storage.finish_crawl(&crawl.lease, title, new_id(), world.now());
    let some = async {
        while world.count("passages") == before {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = some => {}
        ended = end => panic!("removed in one part: {ended:?}"),
    }
    assert!(world.count("documents") > 1, "removed in one part");
}

/// Checks that only the new page is found anywhere.
async fn assert_new_only(world: &World, agent: &Agent, source: &Source) {
    let source = world.stored_source(source).await;
    let texts = world.texts(&source).await.into_iter().map(|(_, text)| text);
    assert_eq!(texts.collect::<Vec<_>>(), ["new"]);
    assert_eq!(world.passage_texts(&source).await.len(), 2);
    assert_eq!(world.documents(&source).await.len(), 1);
    assert_eq!(source.state.searchable().unwrap().character_count, 3);
    let wanted = Wanted { bytes: u64::MAX, least: 0, known: None };
    let whole = world.storage.whole_content(agent.id, wanted).await.unwrap().unwrap();
    assert_eq!(whole.passages.unwrap().len(), 2);
    assert_eq!(world.statuses(&source).await, [("/".to_owned(), "indexed")]);
}

/// Checks that nothing is stored but the new page.
async fn assert_nothing_left(world: &World) {
    let counts = ["documents", "document_texts", "passages", "crawls", "crawl_pages"];
    assert_eq!(counts.map(|table| world.count(table)), [1, 1, 2, 1, 1]);
    assert!(kept(world).await < 2_000);
}

#[tokio::test]
async fn the_pages_of_a_large_crawl_are_replaced_while_others_write() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (source, crawl) = about_to_be_replaced(world, &agent).await;
        in_parts(world, world.end(&crawl)).await;
        assert_new_only(world, &agent, &source).await;
        assert_nothing_left(world).await;
    })
    .await;
}

#[tokio::test]
async fn of_replaced_pages_that_are_half_removed_nothing_is_found() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (source, crawl) = about_to_be_replaced(world, &agent).await;
        end_and_stop(world, &crawl).await;
        assert_new_only(world, &agent, &source).await;
        assert_eq!(world.storage.finish_removals(world.now()).await.unwrap(), 1);
        assert_new_only(world, &agent, &source).await;
        assert_nothing_left(world).await;
        assert_eq!(world.storage.finish_removals(world.now()).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn the_next_crawl_removes_what_is_left_and_does_not_show_it_again() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (source, crawl) = about_to_be_replaced(world, &agent).await;
        end_and_stop(world, &crawl).await;
        let crawl = world.refresh(&source).await;
        assert_eq!(world.count("documents"), 1, "removed before the crawl begins");
        world.record(&crawl, vec![page("/", "new")]).await;
        // What a running crawl has stored is not left over.
        assert_eq!(world.storage.finish_removals(world.now()).await.unwrap(), 0);
        world.end(&crawl).await;
        assert_new_only(world, &agent, &source).await;
        assert_nothing_left(world).await;
    })
    .await;
}

#[tokio::test]
async fn what_a_large_crawl_stored_before_it_failed_is_removed_while_others_write() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/"]).await;
        let stored = kept(world).await;
        for is_crash in [false, true] {
            let crawl = world.refresh(&source).await;
            record_large(world, &crawl, "new").await;
            let fail = async {
                let (message, now) = ("it broke".to_owned(), world.now());
                if !is_crash {
                    let failed = world.storage.finish_failed(&crawl.lease, message, new_id(), now);
                    failed.await.unwrap().unwrap();
                    return;
                }
                for crash in 1..=JOB_CRASHES {
                    world.storage.reclaim(Reclaim::All, now, Arc::new(new_id)).await.unwrap();
                    if crash < JOB_CRASHES {
                        world.begin().await;
                    }
                }
            };
            in_parts(world, fail).await;
            assert_eq!((world.count("documents"), world.count("passages")), (1, 2));
            assert_eq!(world.texts(&source).await, [(0, "/".to_owned())]);
            assert_eq!(kept(world).await, stored);
        }
    })
    .await;
}

/// Stores large answers about a source.
async fn answer(world: &World, agent: &Agent, source: &Source) {
    let body: &'static str = Box::leak("x".repeat(LARGE_BYTES).into_boxed_str());
    for _ in 0..LARGE {
        let claim = world.claim(&format!("key-{}", world.now())).await;
        let subject = Some((source.id.to_string(), Some(agent.id)));
        world.storage.complete(&claim, response(body, subject)).await.unwrap();
    }
}

#[tokio::test]
async fn large_answers_about_what_is_deleted_are_erased_while_others_write() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (scope, source) = (world.scope(), world.text_source(&agent).await);
        answer(world, &agent, &source).await;
        let delete = world.storage.delete_source(&scope, source.id, world.now(), None);
        in_parts(world, delete).await.unwrap();
        assert_eq!(world.count_where("idempotency", "body IS NOT NULL"), 0);
        let erased = i64::try_from(LARGE).unwrap();
        assert_eq!(world.count_where("idempotency", "state = 'erased'"), erased);
    })
    .await;
}

#[tokio::test]
async fn large_answers_expire_while_others_write() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        answer(world, &agent, &source).await;
        world.execute("UPDATE idempotency SET expires_at = 1");
        let expire = world.storage.expire_idempotency(world.now());
        assert_eq!(in_parts(world, expire).await.unwrap(), LARGE as u64);
        assert_eq!(world.count_where("idempotency", "body IS NOT NULL"), 0);
    })
    .await;
}

/// A source of large pairs, with an event for each time that pairs were added to it.
async fn with_events(world: &World, agent: &Agent) -> Source {
    let text = format!(r#"[{{"question": "When?", "answer": "{}"}}]"#, "x".repeat(LARGE_BYTES));
    let content = SourceContent::Qa(PairsText::from_stored(text));
    world.endpoint(&[EventName::SourceTrained]).await;
    let source = world.source(agent, content).await;
    for number in 0..LARGE {
        if number > 0 {
            let pair = QaPair::parse(format!("{number}?"), "Yes.".to_owned()).unwrap();
            let (scope, now) = (world.scope(), world.now());
            let add = world.storage.add_pairs(&scope, source.id, vec![pair], new_job(), now, None);
            add.await.unwrap();
        }
        world.finish(&source, extracted("Rome has seven hills.", 1)).await;
    }
    assert_eq!(
        world.count_where("events", &format!("length(payload) > {LARGE_BYTES}")),
        LARGE as i64
    );
    source
}

#[tokio::test]
async fn large_events_of_what_is_deleted_are_erased_while_others_write() {
    on_each(async |world| {
        let (agent, scope) = (world.agent().await, world.scope());
        let source = with_events(world, &agent).await;
        let delete = world.storage.delete_source(&scope, source.id, world.now(), None);
        in_parts(world, delete).await.unwrap();
        let erased = format!("length(payload) < 2000 AND payload LIKE '%{}%'", source.id);
        assert_eq!(world.count_where("events", &erased), LARGE as i64);
    })
    .await;
}

#[tokio::test]
async fn large_events_expire_while_others_write() {
    on_each(async |world| {
        let agent = world.agent().await;
        with_events(world, &agent).await;
        world.execute("DELETE FROM deliveries");
        let expire = world.storage.expire_deliveries(world.now());
        in_parts(world, expire).await.unwrap();
        assert_eq!(world.count("events"), 0);
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_with_many_deliveries_is_deleted_while_others_write() {
    on_each(async |world| {
        let endpoint = world.endpoint(&[EventName::SourceTrained]).await;
        world.execute(&format!(
            "INSERT INTO events (id, account_id, name, payload, created_at) \
             VALUES ('evt_1', '{}', 'source.trained', '{{}}', 1)",
            world.account
        ));
        world.execute(&format!(
            "INSERT INTO deliveries (id, account_id, endpoint_id, event_id, event, status, attempts, tries, created_at) \
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) \
             SELECT 'dlv_' || i, '{}', '{}', 'evt_1', 'source.trained', 'pending', '[]', 0, i FROM n",
            world.account, endpoint.id
        ));
        let delete = world.storage.delete_endpoint(world.account, endpoint.id, None);
        in_parts(world, delete).await.unwrap();
        assert_eq!((world.count("deliveries"), world.count("webhook_endpoints")), (0, 0));
    })
    .await;
}
