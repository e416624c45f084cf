//! Crawls of guarded sources: what is compared, and how they end.

use cicerone_domain::check::{
    CheckList, CheckResult, Comparison, ComparisonOutcome, GivenCheck, RunTrigger,
};
use cicerone_domain::ports::{
    AgentStore as _, CheckStore as _, CrawlStore as _, PassageFeed as _, SourceStore as _,
};
use cicerone_domain::source::SourcePatch;
use cicerone_domain::{Agent, Error, Source, SourceState};

use crate::storage::crawling::{Crawl, kept, page};
use crate::storage::fixture::{World, first, new_id, on_each, text};

const MOST: u64 = 1_024 * 1_024;

/// A guarded website of an agent with a check.
async fn guarded(world: &World, paths: &[&str]) -> (Agent, Source) {
    let agent = world.agent().await;
    let source = world.crawled(&agent, paths).await;
    set(world, &source, true).await.unwrap();
    let check = GivenCheck {
        question: Some("a?".to_owned()),
        answered: Some(true),
        ..GivenCheck::default()
    };
    let checks = CheckList::parse(vec![check]).unwrap();
    world.storage.replace_checks(&world.scope(), agent.id, checks, world.now()).await.unwrap();
    (agent, source)
}

async fn set(world: &World, source: &Source, guarded: bool) -> Result<Source, Error> {
    let patch = SourcePatch { guarded: Some(guarded), ..SourcePatch::default() };
    world.storage.update_source(&world.scope(), source.id, patch, None).await
}

async fn is_guarding(world: &World, crawl: &Crawl) -> bool {
    !world.storage.guarding(&crawl.lease).await.unwrap().is_empty()
}

/// What the agent would know: the texts of passages, in order, each once.
async fn candidate(world: &World, agent: &Agent, source: &Source) -> Vec<String> {
    let found = world.storage.candidate_content(agent.id, source.id, MOST).await.unwrap().unwrap();
    let passages = found.passages.unwrap().into_iter();
    let mut texts: Vec<String> = passages.map(|(_, stored)| stored.passage.text).collect();
    texts.dedup();
    texts.sort();
    texts
}

fn comparison(world: &World, lost: &[&str]) -> Comparison {
    let result = CheckResult {
        question: "a?".to_owned(),
        passed: lost.is_empty(),
        reason: None,
        reply: String::new(),
    };
    let lost = lost.iter().map(|question| (*question).to_owned()).collect();
    let outcome = ComparisonOutcome::Compared { results: vec![result], lost };
    Comparison { began_at: world.now(), outcome }
}

async fn finish(world: &World, crawl: &Crawl, comparison: Comparison) -> Option<Source> {
    let events = (new_id(), new_id());
    let finished =
        world.storage.finish_compared(&crawl.lease, None, comparison, events, world.now());
    finished.await.unwrap()
}

#[tokio::test]
async fn only_a_website_is_guarded() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, text("Rome"), "Rome has seven hills.").await;
        assert!(matches!(set(world, &source, true).await, Err(Error::Invalid(_))));
        assert!(!set(world, &source, false).await.unwrap().guarded);
        let site = world.crawled(&agent, &["/"]).await;
        assert!(set(world, &site, true).await.unwrap().guarded);
        assert!(world.stored_source(&site).await.guarded);
    })
    .await;
}

#[tokio::test]
async fn a_candidate_has_the_documents_of_the_crawl_in_place_of_those_of_the_source() {
    on_each(async |world| {
        let (agent, source) = guarded(world, &["/a", "/b", "/c"]).await;
        world.trained(&agent, text("Rome"), "Rome has seven hills.").await;
        let crawl = world.refresh(&source).await;
        assert_eq!(candidate(world, &agent, &source).await, ["Rome has seven hills."]);
        let pages = vec![kept(&crawl.known[0]), page("/b", "new"), page("/d", "more")];
        world.record(&crawl, pages).await;
        let expected = ["/a", "Rome has seven hills.", "more", "new"];
        assert_eq!(candidate(world, &agent, &source).await, expected);
        let too_large = world.storage.candidate_content(agent.id, source.id, 10).await.unwrap();
        assert_eq!(too_large, None);
        let (storage, scope) = (&world.storage, world.scope());
        storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
        let gone = storage.candidate_content(agent.id, source.id, MOST).await.unwrap();
        assert_eq!(gone, None);
    })
    .await;
}

#[tokio::test]
async fn a_crawl_is_compared_if_it_changes_something_that_is_guarded() {
    on_each(async |world| {
        let (agent, source) = guarded(world, &["/a", "/b"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, crawl.known.iter().map(kept).collect()).await;
        assert!(!is_guarding(world, &crawl).await, "nothing changed");
        world.record(&crawl, vec![page("/c", "new")]).await;
        assert!(is_guarding(world, &crawl).await, "a page is new");
        set(world, &source, false).await.unwrap();
        assert!(!is_guarding(world, &crawl).await);
        set(world, &source, true).await.unwrap();
        let (storage, scope) = (&world.storage, world.scope());
        let checks = storage.find_checks(&scope, agent.id).await.unwrap().checks;
        storage.replace_checks(&scope, agent.id, CheckList::default(), world.now()).await.unwrap();
        assert!(!is_guarding(world, &crawl).await, "no checks");
        storage.replace_checks(&scope, agent.id, checks, world.now()).await.unwrap();
        world.end(&crawl).await;
        assert!(!is_guarding(world, &crawl).await, "the lease is over");
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![kept(&crawl.known[0])]).await;
        assert!(is_guarding(world, &crawl).await, "a page is gone");
    })
    .await;
}

#[tokio::test]
async fn a_refusal_keeps_the_content_and_tells_both_events() {
    on_each(async |world| {
        let (agent, source) = guarded(world, &["/a", "/b"]).await;
        let (before, texts) = (world.stored_source(&source).await, world.texts(&source).await);
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![kept(&crawl.known[0]), page("/b", "new")]).await;
        let failed = finish(world, &crawl, comparison(world, &["a?"])).await.unwrap();
        let SourceState::Failed { message, last } = &failed.state else { panic!("{failed:?}") };
        assert_eq!(message, "the previous content was kept: 1 of 1 checks would fail, first `a?`");
        assert_eq!(last.as_ref(), before.state.searchable());
        assert_eq!(world.texts(&source).await, texts);
        assert_eq!(world.count_where("events", "name = 'source.failed'"), 1);
        assert_eq!(world.count_where("events", "name = 'checks.failed'"), 1);
        let run = world.storage.list_runs(&world.scope(), agent.id, first(5)).await.unwrap();
        let run = run.items.first().unwrap().clone();
        assert_eq!((run.trigger, run.source_id), (RunTrigger::Guard, Some(source.id)));
        assert_eq!((run.failed(), run.finished_at.is_some()), (1, true));
        // The lease is over.
        assert_eq!(finish(world, &crawl, comparison(world, &[])).await, None);

        // The same event is written again, and a failed comparison is reported only as a failure of the source.
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/b", "new")]).await;
        finish(world, &crawl, comparison(world, &["a?"])).await.unwrap();
        assert_eq!(world.count_where("events", "name = 'checks.failed'"), 2);
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/b", "new")]).await;
        let outcome = ComparisonOutcome::Failed("the model is unavailable".to_owned());
        let failed = Comparison { began_at: world.now(), outcome };
        finish(world, &crawl, failed).await.unwrap();
        assert_eq!(world.count_where("events", "name = 'checks.failed'"), 2);
        assert_eq!(world.count_where("check_runs", "state = 'failed' AND cause = 'guard'"), 1);
        assert_eq!(world.texts(&source).await, texts);

        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/b", "new")]).await;
        let trained = finish(world, &crawl, comparison(world, &[])).await.unwrap();
        assert!(matches!(trained.state, SourceState::Trained(_)));
        assert_eq!(world.texts(&source).await.len(), 1);
    })
    .await;
}
