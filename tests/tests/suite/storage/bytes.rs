//! How many bytes an account stores, and its quota.

use cicerone_domain::job::Lease;
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, CrawlStore as _, JobStore as _, SourceStore as _,
    UploadStore as _, UsageStore as _,
};
use cicerone_domain::source::Progress;
use cicerone_domain::usage::{AccountQuotas, Quota};
use cicerone_domain::{Error, SourceContent, SourceStatus};
use cicerone_storage::{Storage, StorageOptions};

use super::crawling::{found, page};
use super::fixture::{World, extracted, new_account, new_id, new_job, on_each, text, website};

/// Sources whose counted bytes differ from those of their stored texts.
const MISCOUNTED: &str = "stored_bytes <> octet_length(content) \
    + coalesce((SELECT sum(octet_length(coalesce(d.title, '')) + octet_length(coalesce(d.url, '')) \
            + octet_length(coalesce(d.warnings, ''))) \
        FROM documents d WHERE d.source_id = sources.id), 0) \
    + coalesce((SELECT sum(octet_length(t.text)) FROM document_texts t \
        WHERE t.source_id = sources.id), 0) \
    + coalesce((SELECT sum(octet_length(p.text) + octet_length(coalesce(p.title, '')) \
        + octet_length(coalesce(p.heading, '')) + octet_length(coalesce(p.url, ''))) \
        FROM passages p WHERE p.source_id = sources.id), 0)";

/// Checks that every source is counted exactly, and returns the bytes that the account stores.
pub(super) async fn kept(world: &World) -> u64 {
    assert_eq!(world.count_where("sources", MISCOUNTED), 0);
    let kept = world.storage.kept_bytes(world.account).await.unwrap();
    let sum = format!(
        "id = '{}' AND {kept} = \
         (SELECT coalesce(sum(stored_bytes), 0) FROM sources WHERE account_id = accounts.id) \
         + (SELECT coalesce(sum(bytes), 0) FROM uploads WHERE account_id = accounts.id)",
        world.account
    );
    assert_eq!(world.count_where("accounts", &sum), 1, "{kept}");
    kept
}

pub(super) async fn limit(world: &World, bytes: Quota) {
    let quotas = AccountQuotas { bytes, ..AccountQuotas::default() };
    world.storage.set_quotas("ours", Some(quotas)).await.unwrap();
}

fn text_of(bytes: usize) -> SourceContent {
    text(&"x".repeat(bytes))
}

#[track_caller]
fn assert_exceeded<T: std::fmt::Debug>(outcome: Result<T, Error>, most: u64) {
    assert!(
        matches!(outcome, Err(Error::BytesExceeded { limit }) if limit == most),
        "expected a quota of {most} to be exceeded, got {outcome:?}"
    );
}

#[tokio::test]
async fn what_an_account_keeps_is_counted_exactly_whatever_happens_to_it() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        assert_eq!(kept(world).await, 0);
        let (agent, other) = (world.agent().await, world.agent().await);
        let source = world.source(&agent, text("Sieben Hügel")).await;
        assert_eq!(kept(world).await, 13, "bytes, not characters");
        world.finish(&source, extracted("Sieben Hügel", 3)).await;
        let trained = kept(world).await;
        assert!(trained > 13 + 13 + 3 * 13, "{trained}");

        let site = world.source(&other, website(true)).await;
        let before = kept(world).await;
        let crawl = world.begin().await;
        world.record(&crawl, vec![page("/", "home"), page("/a", "first")]).await;
        let under_way = kept(world).await;
        assert!(under_way > before, "the text of a running crawl counts");
        world.record(&crawl, vec![page("/a", "a longer second text of the same page")]).await;
        assert!(kept(world).await > under_way);
        world.end(&crawl).await;
        let crawled = kept(world).await;
        // A refresh that keeps one page, adds another, and fails; then one that succeeds.
        storage.refresh_source(&scope, site.id, new_job(), world.now(), None).await.unwrap();
        let crawl = world.begin().await;
        world.record_found(&crawl, vec![page("/", "home again")], vec![found("/b", 1)]).await;
        assert!(kept(world).await > crawled);
        let failed = "no".to_owned();
        storage.finish_failed(&crawl.lease, failed, new_id(), world.now()).await.unwrap().unwrap();
        assert_eq!(kept(world).await, crawled);
        storage.refresh_source(&scope, site.id, new_job(), world.now(), None).await.unwrap();
        let crawl = world.begin().await;
        world.record(&crawl, vec![page("/", "all that is left")]).await;
        world.end(&crawl).await;
        let refreshed = kept(world).await;
        assert!(refreshed < crawled, "{refreshed} of {crawled}");

        let upload = world.upload().await;
        assert_eq!(kept(world).await, refreshed + upload.bytes);
        let file = world.source(&agent, SourceContent::File(upload.id)).await;
        storage.delete_source(&scope, file.id, world.now(), None).await.unwrap();
        assert_eq!(kept(world).await, refreshed, "the file is deleted with its last source");
        storage.delete_source(&scope, source.id, world.now(), None).await.unwrap();
        assert_eq!(kept(world).await, refreshed - trained);
        storage.delete_agent(&scope, other.id, world.now(), None).await.unwrap();
        assert_eq!(kept(world).await, 0);
    })
    .await;
}

#[tokio::test]
async fn beyond_its_quota_an_account_adds_nothing_and_others_do() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        limit(world, Quota::AtMost(100)).await;
        let insert = async |bytes| {
            let source = world.new_source(&agent, text_of(bytes));
            storage.insert_source(&scope, source, new_job(), None).await
        };
        let first = insert(60).await.unwrap();
        let tables = ["sources", "jobs", "uploads", "documents", "passages", "discarded_objects"];
        let before = tables.map(|table| world.count(table));
        assert_exceeded(insert(41).await, 100);
        assert_eq!(tables.map(|table| world.count(table)), before);
        let second = insert(40).await.unwrap();
        assert_exceeded(insert(1).await, 100);

        let upload = world.new_upload();
        storage.expect_object(&upload.object_key(), world.now()).await.unwrap();
        assert_exceeded(storage.insert_upload(upload.clone(), None).await, 100);
        assert_eq!(world.count("uploads"), 0);
        assert_eq!(world.count("discarded_objects"), 1, "its object is still to be removed");

        storage.delete_source(&scope, second.id, world.now(), None).await.unwrap();
        let third = insert(40).await.unwrap();
        storage.delete_source(&scope, third.id, world.now(), None).await.unwrap();
        assert_eq!(kept(world).await, 60);

        // Extracted text counts too; after the refusal, the worker still has the job.
        let lease: Lease = world.claim_job().await.unwrap().lease;
        let long = extracted(&"y".repeat(30), 1);
        let finished = storage.finish_trained(&lease, long, new_id(), world.now()).await;
        assert_exceeded(finished, 100);
        assert_eq!((world.count("documents"), world.count("passages")), (0, 0));
        let message = "too much".to_owned();
        let failed = storage.finish_failed(&lease, message, new_id(), world.now()).await.unwrap();
        assert_eq!(failed.unwrap().state.status(), SourceStatus::Failed);
        assert_eq!(kept(world).await, 60);

        // Another account has its own quota.
        let theirs = new_account(storage, "theirs").await;
        assert_eq!(storage.kept_bytes(theirs).await.unwrap(), 0);
        storage.delete_source(&scope, first.id, world.now(), None).await.unwrap();
        limit(world, Quota::Unlimited).await;
        insert(10_000).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_crawl_beyond_the_quota_is_refused_page_by_page() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        let site = world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        world.record(&crawl, vec![page("/", "home")]).await;
        let one = kept(world).await;
        limit(world, Quota::AtMost(one)).await;
        let record = storage.record_pages(
            &crawl.lease,
            vec![page("/a", "another page")],
            Vec::new(),
            Progress::default(),
        );
        assert_exceeded(record.await, one);
        assert_eq!(kept(world).await, one);
        // What is already stored may become the content.
        world.end(&crawl).await;
        // It can be crawled again only if there is room.
        storage.refresh_source(&scope, site.id, new_job(), world.now(), None).await.unwrap();
        let crawl = world.begin().await;
        let failed = "no".to_owned();
        storage.finish_failed(&crawl.lease, failed, new_id(), world.now()).await.unwrap().unwrap();
        limit(world, Quota::AtMost(one - 1)).await;
        let refresh = storage.refresh_source(&scope, site.id, new_job(), world.now(), None).await;
        assert_exceeded(refresh, one - 1);
    })
    .await;
}

#[tokio::test]
async fn of_sources_added_at_once_no_more_pass_than_fit() {
    on_each(async |world| {
        let agent = world.agent().await;
        limit(world, Quota::AtMost(100)).await;
        let others: Vec<Storage> = (0..4).map(|_| world.reopen()).collect();
        let scope = world.scope();
        let inserts = (0..40).map(|number| {
            let source = world.new_source(&agent, text_of(10));
            others[number % others.len()].insert_source(&scope, source, new_job(), None)
        });
        let outcomes = futures_util::future::join_all(inserts).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 10);
        assert_eq!(kept(world).await, 100);
    })
    .await;
}

#[tokio::test]
async fn an_account_without_a_quota_of_its_own_has_that_of_the_settings() {
    on_each(async |world| {
        let agent = world.agent().await;
        let options = StorageOptions { account_bytes: Some(50), ..StorageOptions::default() };
        let storage = Storage::open(&world.url, &options).unwrap();
        let scope = world.scope();
        let insert = async |bytes| {
            let source = world.new_source(&agent, text_of(bytes));
            storage.insert_source(&scope, source, new_job(), None).await
        };
        assert_exceeded(insert(51).await, 50);
        insert(50).await.unwrap();
        limit(world, Quota::AtMost(60)).await;
        insert(10).await.unwrap();
        assert_exceeded(insert(1).await, 60);
        limit(world, Quota::Unlimited).await;
        insert(100).await.unwrap();
        // Conversations are limited by their own quota and by retention.
        world.conversation(&agent, &[]).await;
        assert!(storage.context(&scope, agent.id, None, 10).await.is_ok());
        assert_eq!(kept(world).await, 160);
    })
    .await;
}
