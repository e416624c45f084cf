//! Refreshes: unchanged pages are not touched.

use cicerone_domain::crawl::{KnownPage, PageContent, PageReason, VisitedPage};
use cicerone_domain::ports::{CrawlStore as _, PassageFeed as _};
use cicerone_domain::source::CrawledPageStatus;

use crate::storage::crawling::{kept, page, without};
use crate::storage::fixture::{counted, new_id, on_each};

#[tokio::test]
async fn a_refresh_knows_the_pages_of_the_last_crawl() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let crawl = world.refresh(&source).await;
        let skipped = without("/b", CrawledPageStatus::Skipped, "it is an image");
        let pages: Vec<VisitedPage> = crawl.known.iter().map(kept).collect();
        world.record(&crawl, [pages, vec![skipped.clone()]].concat()).await;
        let source = world.end(&crawl).await;

        let known = world.refresh(&source).await.known;
        let expect = |page: VisitedPage, document: Option<i64>| KnownPage {
            url: page.url,
            validators: page.validators,
            content_hash: page.content_hash,
            links: page.links,
            title: page.title,
            character_count: page.character_count,
            document,
            status: if document.is_some() { CrawledPageStatus::Unchanged } else { page.status },
            reason: page.reason,
        };
        let expected = [
            expect(page("/", "/"), Some(0)),
            expect(page("/a", "/a"), Some(1)),
            expect(skipped, None),
        ];
        assert_eq!(known, expected);
    })
    .await;
}

#[tokio::test]
async fn a_refresh_without_changes_touches_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let (texts, passages) = (world.texts(&source).await, world.passage_texts(&source).await);
        let crawl = world.refresh(&source).await;
        // Visited in a different order.
        world.record(&crawl, crawl.known.iter().rev().map(kept).collect()).await;
        let again = world.end(&crawl).await;
        assert_eq!(again, source);
        assert_eq!(world.changes(&agent).await, 1);
        assert_eq!(world.texts(&source).await, texts);
        assert_eq!(world.passage_texts(&source).await, passages);
        let statuses = world.statuses(&source).await;
        assert_eq!(statuses, [("/a".to_owned(), "unchanged"), ("/".to_owned(), "unchanged")]);
        assert_eq!(world.count_where("events", "name = 'source.trained'"), 2);
        assert_eq!(world.count("crawls"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_changed_page_is_a_new_document_and_the_others_stay() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a", "/b"]).await;
        let before = source.state.searchable().unwrap().version;
        let crawl = world.refresh(&source).await;
        let [home, _, b] = &crawl.known[..] else { panic!("{:?}", crawl.known) };
        world.record(&crawl, vec![kept(home), page("/a", "changed"), kept(b)]).await;
        let source = world.end(&crawl).await;
        let trained = source.state.searchable().unwrap();
        assert_eq!((counted(trained.version), trained.character_count), (2, 1 + 2 + 7));
        assert_eq!(world.changes(&agent).await, 2);
        assert_eq!(world.documents(&source).await, [(0, 1), (2, 1), (3, 2)]);
        let texts = [(0, "/".to_owned()), (2, "/b".to_owned()), (3, "changed".to_owned())];
        assert_eq!(world.texts(&source).await, texts, "a gap in positions is skipped");
        let positions: Vec<i64> =
            world.passage_texts(&source).await.into_iter().map(|(position, _)| position).collect();
        assert_eq!(positions, [0, 1, 4, 5, 6, 7]);

        let (id, version) = (source.id, source.state.searchable().unwrap().version);
        let changed = world.storage.passages(id, version, &[3], None).await.unwrap().unwrap();
        let texts: Vec<_> = changed
            .iter()
            .map(|(document, passage)| (*document, passage.passage.text.as_str()))
            .collect();
        assert_eq!(texts, [(3, "changed"), (3, "changed")]);
        assert_eq!(world.storage.documents(id, before).await.unwrap(), None);
        // The next crawl compares with these pages.
        let documents = world.refresh(&source).await.known.into_iter().map(|page| page.document);
        assert_eq!(documents.collect::<Vec<_>>(), [Some(0), Some(3), Some(2)]);
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_gone_takes_its_text_along_and_one_that_failed_keeps_it() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/gone", "/failing"]).await;
        let crawl = world.refresh(&source).await;
        let [home, _, failing] = &crawl.known[..] else { panic!("{:?}", crawl.known) };
        let reason = Some(PageReason::Refused { status: 503 });
        let failing = VisitedPage { status: CrawledPageStatus::Failed, reason, ..kept(failing) };
        let gone = without("/gone", CrawledPageStatus::Failed, "it answered 404");
        world.record(&crawl, vec![kept(home), gone, failing]).await;
        let source = world.end(&crawl).await;
        assert_eq!(world.documents(&source).await, [(0, 1), (2, 1)]);
        assert_eq!(counted(source.state.searchable().unwrap().version), 2, "something was removed");
        let texts = [(0, "/".to_owned()), (2, "/failing".to_owned())];
        assert_eq!(world.texts(&source).await, texts);
        assert_eq!(source.state.searchable().unwrap().character_count, 9);
        assert_eq!((world.count("document_texts"), world.count("passages")), (2, 4));
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_not_visited_any_more_takes_its_text_along() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![kept(&crawl.known[0])]).await;
        let source = world.end(&crawl).await;
        assert_eq!(world.documents(&source).await, [(0, 1)]);
        assert_eq!(world.changes(&agent).await, 2);
    })
    .await;
}

#[tokio::test]
async fn another_title_alone_is_another_version_of_the_same_documents() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![kept(&crawl.known[0])]).await;
        let title = Some("Another".to_owned());
        let end = world.storage.finish_crawl(&crawl.lease, title, new_id(), world.now()).await;
        let source = end.unwrap().unwrap();
        assert_eq!(source.state.searchable().unwrap().title.as_deref(), Some("Another"));
        assert_eq!(counted(source.state.searchable().unwrap().version), 2);
        assert_eq!(world.documents(&source).await, [(0, 1)]);
    })
    .await;
}

#[tokio::test]
async fn two_agents_that_crawl_the_same_site_do_not_touch_each_other() {
    on_each(async |world| {
        let (one, two) = (world.agent().await, world.agent().await);
        let mine = world.crawled(&one, &["/", "/a"]).await;
        let theirs = world.crawled(&two, &["/", "/a"]).await;
        let crawl = world.refresh(&mine).await;
        world.record(&crawl, vec![page("/", "changed")]).await;
        let foreign = VisitedPage { content: PageContent::Kept(2), ..page("/b", "") };
        let other = world.refresh(&theirs).await;
        let (lease, progress) = (&other.lease, Default::default());
        let record = world.storage.record_pages(lease, vec![foreign], Vec::new(), progress).await;
        assert!(record.is_err(), "a document of another source cannot be kept");
        world.record(&other, other.known.iter().map(kept).collect()).await;
        let theirs = world.end(&other).await;
        let mine = world.end(&crawl).await;
        assert_eq!(world.texts(&mine).await, [(2, "changed".to_owned())]);
        let texts = [(0, "/".to_owned()), (1, "/a".to_owned())];
        assert_eq!(world.texts(&theirs).await, texts);
        assert_eq!(world.changes(&one).await, 2);
        assert_eq!(world.changes(&two).await, 1);
    })
    .await;
}
