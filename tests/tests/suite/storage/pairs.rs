//! Pairs that are added to a source: only they are stored and indexed, and nobody sees a part of them.

use cicerone_domain::content::Extracted;
use cicerone_domain::ports::{JobStore as _, PassageFeed as _, SourceStore as _, UsageStore as _};
use cicerone_domain::source::{PairsText, QaPair, SourcePatch, SourceType};
use cicerone_domain::usage::{AccountQuotas, Quota};
use cicerone_domain::{Error, Source, SourceContent, SourceStatus};

use super::bytes::kept;
use super::fixture::{World, assert_not_found, extracted, large, new_id, new_job, on_each, text};

fn pair(question: &str) -> Vec<QaPair> {
    vec![QaPair::parse(question.to_owned(), "At nine.".to_owned()).unwrap()]
}

fn content() -> SourceContent {
    let text = r#"[{"question": "When?", "answer": "At nine."}]"#;
    SourceContent::Qa(PairsText::parse(text.to_owned()).unwrap())
}

/// As many documents of 200 KB.
fn documents(count: usize) -> Extracted {
    let mut all = large();
    all.documents.truncate(count);
    all
}

async fn add(world: &World, source: &Source) -> Result<Source, Error> {
    let (scope, now) = (world.scope(), world.now());
    world.storage.add_pairs(&scope, source.id, pair("Why?"), new_job(), now, None).await
}

#[tokio::test]
async fn changes_and_their_refusals_do_not_read_the_text_of_a_source() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        let source = world.source(&agent, content()).await;
        let unread =
            SourceContent::Unread { source_type: SourceType::Qa, bytes: source.content.bytes() };
        let patch = SourcePatch { guarded: Some(false), ..SourcePatch::default() };
        let changed = storage.update_source(&scope, source.id, patch, None).await.unwrap();
        assert_eq!(changed, Source { content: unread.clone(), ..source.clone() });
        let refused = add(world, &source).await;
        assert!(matches!(refused, Err(Error::Busy(_))), "{refused:?}");
        let now = world.now();
        let refused = storage.refresh_source(&scope, source.id, new_job(), now, None).await;
        assert!(matches!(refused, Err(Error::InvalidOperation(_))), "{refused:?}");
        let guarded = SourcePatch { guarded: Some(true), ..SourcePatch::default() };
        let refused = storage.update_source(&scope, source.id, guarded, None).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
        assert_eq!(storage.find_source(&scope, source.id).await.unwrap().as_ref(), Some(&source));
        let deleted = storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert_eq!(deleted.content, unread);
    })
    .await;
}

#[tokio::test]
async fn only_new_documents_are_stored_and_the_others_keep_their_version() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, content()).await;
        let before = world.finish(&source, documents(10)).await;
        let version = |source: &Source| source.state.searchable().unwrap().version;
        let stored = kept(world).await;
        let grown = add(world, &source).await.unwrap();
        assert_eq!(grown.state.status(), SourceStatus::Processing);
        assert_eq!(version(&grown), version(&before), "the previous content is searched");
        assert!(kept(world).await > stored);
        let after = world.finish(&source, documents(12)).await;
        assert!(version(&after) > version(&before));
        let listed = world.storage.documents(source.id, version(&after)).await.unwrap().unwrap();
        let versions: Vec<u64> = listed.iter().map(|(_, version)| *version).collect();
        assert_eq!(versions[..10], [version(&before); 10]);
        assert_eq!(versions[10..], [version(&after); 2]);
        assert_eq!(world.count("passages"), 12 * 8);
        let positions = "position >= 0 AND position < 96";
        assert_eq!(world.count_where("passages", positions), 96);
        kept(world).await;
        // Content that does not begin with the previous one replaces it.
        add(world, &source).await.unwrap();
        world.finish(&source, extracted("Rome has seven hills.", 2)).await;
        assert_eq!((world.count("documents"), world.count("passages")), (1, 2));
        kept(world).await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_addition_is_seen_by_nobody_and_leaves_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, content()).await;
        world.finish(&source, documents(2)).await;
        let (stored, changes) = (kept(world).await, world.changes(&agent).await);
        add(world, &source).await.unwrap();
        let job = world.claim_job().await.unwrap();
        let (lease, now) = (&job.lease, world.now());
        let store = world.storage.finish_trained(lease, documents(40), new_id(), now);
        let some = async {
            while world.count_where("documents", "version IS NULL") == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = some => {}
            ended = store => panic!("stored in one part: {ended:?}"),
        }
        let found = world.stored_source(&source).await;
        let version = found.state.searchable().unwrap().version;
        let listed = world.storage.documents(source.id, version).await.unwrap().unwrap();
        assert_eq!((listed.len(), world.changes(&agent).await), (2, changes));
        let failed = "no".to_owned();
        let ended = world.storage.finish_failed(lease, failed, new_id(), world.now()).await;
        let ended = ended.unwrap().unwrap();
        assert_eq!(ended.state.status(), SourceStatus::Failed);
        assert_eq!((world.count("documents"), world.count("passages")), (2, 16));
        assert!(kept(world).await > stored, "the content stays");
        // A failed source takes pairs too, and then stores what it lacks.
        add(world, &source).await.unwrap();
        world.finish(&source, documents(4)).await;
        assert_eq!((world.count("documents"), world.count("passages")), (4, 32));
        kept(world).await;
    })
    .await;
}

#[tokio::test]
async fn an_addition_is_refused_where_it_does_not_fit() {
    on_each(async |world| {
        let (agent, scope) = (world.agent().await, world.scope());
        let other = world.trained(&agent, text("Rome."), "Rome.").await;
        assert!(matches!(add(world, &other).await, Err(Error::InvalidOperation(_))));
        let source = world.source(&agent, content()).await;
        assert!(matches!(add(world, &source).await, Err(Error::Busy(_))));
        world.finish(&source, documents(1)).await;
        for outside in world.outside().await {
            let now = world.now();
            let added =
                world.storage.add_pairs(&outside, source.id, pair("?"), new_job(), now, None);
            assert_not_found(added.await, "source");
        }
        let bytes = Quota::AtMost(kept(world).await + 10);
        let quotas = AccountQuotas { bytes, ..AccountQuotas::default() };
        world.storage.set_quotas("ours", Some(quotas)).await.unwrap();
        let refused = add(world, &source).await;
        assert!(matches!(refused, Err(Error::BytesExceeded { .. })), "{refused:?}");
        let found = world.storage.find_source(&scope, source.id).await.unwrap().unwrap();
        assert_eq!((found.state.status(), found.content), (SourceStatus::Trained, content()));
        assert_eq!(world.count("jobs"), 0);
    })
    .await;
}
