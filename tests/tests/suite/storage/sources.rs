//! Sources, and the text extracted from them.

use cicerone_domain::content::WarningReason;
use cicerone_domain::ports::{AgentStore as _, SourceFilter, SourceStore as _};
use cicerone_domain::source::{PairsText, PartialReading, Trained};
use cicerone_domain::webhook::EventName;
use cicerone_domain::{
    Error, Position, Source, SourceContent, SourceState, SourceStatus, SourceType, limits,
};

use super::feed::passages_of;
use super::fixture::{
    after, all_pages, assert_conflict, assert_not_found, extracted, first, new_account, new_id,
    new_job, on_each, text, website,
};

#[tokio::test]
async fn a_source_of_each_type_reads_back_as_it_was_written() {
    on_each(async |world| {
        let agent = world.agent().await;
        let upload = world.upload().await;
        for content in [
            website(false),
            website(true),
            text("Sieben Hügel 🏛"),
            SourceContent::File(upload.id),
            SourceContent::Qa(
                PairsText::parse(r#"[{"question":"?","answer":"!"}]"#.to_owned()).unwrap(),
            ),
        ] {
            let source = world.source(&agent, content).await;
            assert_eq!(world.stored_source(&source).await, source);
            let found = world.storage.find_source(&world.only(&agent), source.id).await.unwrap();
            assert_eq!(found, Some(source));
        }
        assert_eq!(world.count("jobs"), 5);
        assert_eq!(world.changes(&agent).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_page_ends_before_the_content_that_would_exceed_it() {
    on_each(async |world| {
        let agent = world.agent().await;
        let scope = world.scope();
        let text = |bytes: usize| text(&"x".repeat(bytes));
        // Newest first: a text of one and a half times the limit, then three of which two fit.
        let mut expected = Vec::new();
        for bytes in [limits::LIST_BYTES * 2 / 5; 3].into_iter().chain([limits::LIST_BYTES * 3 / 2])
        {
            expected.insert(0, world.source(&agent, text(bytes)).await.id);
        }
        let filter = SourceFilter::default();
        let list =
            async |page| world.storage.list_sources(&scope, agent.id, filter.clone(), page).await;
        let (mut counts, mut found, mut next) = (Vec::new(), Vec::new(), None);
        loop {
            let page = list(after(100, next)).await.unwrap();
            counts.push(page.items.len());
            found.extend(page.items.iter().map(|source| source.id));
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!((found, counts), (expected, vec![1, 2, 1]));
    })
    .await;
}

#[tokio::test]
async fn documents_and_passages_end_a_page_before_the_text_that_would_exceed_it() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(false)).await;
        let mut extracted = extracted(&"x".repeat(limits::LIST_BYTES * 2 / 5), 1);
        let cut = extracted.documents.remove(0);
        extracted.documents = vec![cut; 3];
        for (cut, position) in extracted.documents.iter_mut().zip(0..) {
            cut.document.position = position;
        }
        let source = world.finish(&source, extracted).await;
        let (scope, storage) = (world.scope(), &world.storage);
        let documents = storage.list_documents(&scope, source.id, first(100)).await.unwrap();
        assert_eq!((documents.items.len(), documents.next), (2, Some(Position::Numbered(1))));
        let passages = storage.list_passages(&scope, source.id, None, first(100)).await.unwrap();
        assert_eq!((passages.items.len(), passages.next), (2, Some(Position::Numbered(1))));
        let last = after(100, Some(Position::Numbered(1)));
        let documents = storage.list_documents(&scope, source.id, last.clone()).await.unwrap();
        assert_eq!((documents.items.len(), documents.next), (1, None));
        let passages = storage.list_passages(&scope, source.id, None, last).await.unwrap();
        assert_eq!((passages.items.len(), passages.next), (1, None));
    })
    .await;
}

#[tokio::test]
async fn what_lies_outside_the_scope_does_not_exist() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "x").await;
        for scope in world.outside().await {
            let (now, storage) = (world.now(), &world.storage);
            let new = world.new_source(&agent, website(false));
            assert_not_found(storage.insert_source(&scope, new, new_job(), None).await, "agent");
            assert_eq!(storage.find_source(&scope, source.id).await.unwrap(), None);
            let filter = SourceFilter::default();
            assert_not_found(
                storage.list_sources(&scope, agent.id, filter, first(9)).await,
                "agent",
            );
            let refresh = storage.refresh_source(&scope, source.id, new_job(), now, None).await;
            assert_not_found(refresh, "source");
            assert_not_found(storage.delete_source(&scope, source.id, now, None).await, "source");
            assert_not_found(storage.list_documents(&scope, source.id, first(9)).await, "source");
            assert_not_found(
                storage.list_passages(&scope, source.id, None, first(9)).await,
                "source",
            );
            assert_not_found(storage.list_pages(&scope, source.id, first(9)).await, "source");
        }
        assert_eq!(world.stored_source(&source).await, source);
    })
    .await;
}

#[tokio::test]
async fn a_source_of_no_agent_is_refused() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.storage.delete_agent(&world.scope(), agent.id, world.now(), None).await.unwrap();
        let source = world.new_source(&agent, website(false));
        let insert = world.storage.insert_source(&world.scope(), source, new_job(), None).await;
        assert_not_found(insert, "agent");
        assert_eq!(world.count("jobs"), 0);
    })
    .await;
}

#[tokio::test]
async fn a_file_must_exist_in_the_account() {
    on_each(async |world| {
        let agent = world.agent().await;
        let theirs = new_account(&world.storage, "theirs").await;
        let foreign = world.upload().await;
        world.execute(&format!("UPDATE uploads SET account_id = '{theirs}'"));
        for upload in [new_id(), foreign.id] {
            let source = world.new_source(&agent, SourceContent::File(upload));
            let insert = world.storage.insert_source(&world.scope(), source, new_job(), None).await;
            match insert {
                Err(Error::Invalid(bad)) => assert_eq!(bad.first().param, "content"),
                other => panic!("expected a bad file, got {other:?}"),
            }
        }
        assert_eq!((world.count("sources"), world.count("jobs")), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn a_list_is_newest_first_and_filtered() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        world.text_source(&other).await;
        let job = world.claim_job().await.unwrap();
        assert_eq!(job.source.agent_id, other.id);
        let mut sources = vec![world.trained(&agent, website(true), "x").await];
        for _ in 0..4 {
            sources.push(world.text_source(&agent).await);
        }
        sources.reverse();
        let scope = world.scope();
        let list = async |filter: SourceFilter| {
            all_pages(2, async |page| {
                world.storage.list_sources(&scope, agent.id, filter.clone(), page).await
            })
            .await
        };
        assert_eq!(list(SourceFilter::default()).await, sources);
        let trained = SourceFilter { status: Some(SourceStatus::Trained), ..Default::default() };
        assert_eq!(list(trained.clone()).await, &sources[4..]);
        let texts = SourceFilter { source_type: Some(SourceType::Text), ..Default::default() };
        assert_eq!(list(texts).await, &sources[..4]);
        let both = SourceFilter { source_type: Some(SourceType::Text), ..trained };
        assert_eq!(list(both).await, []);
    })
    .await;
}

#[tokio::test]
async fn a_cursor_stays_in_its_place_while_sources_are_added() {
    on_each(async |world| {
        let agent = world.agent().await;
        let now = world.now();
        let mut sources = Vec::new();
        for _ in 0..6 {
            let text = text("x");
            let source = Source { created_at: now, ..world.new_source(&agent, text) };
            let scope = world.scope();
            sources
                .push(world.storage.insert_source(&scope, source, new_job(), None).await.unwrap());
        }
        sources.sort_by_key(|source| source.id.to_string());
        sources.reverse();
        let (mut seen, mut next) = (Vec::new(), None);
        loop {
            let (scope, filter) = (world.scope(), SourceFilter::default());
            let page =
                world.storage.list_sources(&scope, agent.id, filter, after(2, next)).await.unwrap();
            seen.extend(page.items);
            next = page.next;
            world.text_source(&agent).await;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(seen, sources);
    })
    .await;
}

#[tokio::test]
async fn a_refresh_queues_a_job_and_keeps_what_answers() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "x").await;
        let SourceState::Trained(trained) = source.state.clone() else { panic!("{source:?}") };
        let (scope, now) = (world.scope(), world.now());
        let refreshed =
            world.storage.refresh_source(&scope, source.id, new_job(), now, None).await.unwrap();
        assert_eq!(refreshed.state, SourceState::Processing { last: Some(trained) });
        assert_eq!(world.stored_source(&source).await, refreshed);
        assert_eq!((world.count("jobs"), world.count("passages")), (1, 2));
        let again = world.storage.refresh_source(&scope, source.id, new_job(), now, None).await;
        assert_conflict(again);
        assert_eq!(world.count("jobs"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_refresh_is_refused_for_other_types_and_during_processing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (scope, now) = (world.scope(), world.now());
        let pending = world.source(&agent, website(false)).await;
        let refresh = world.storage.refresh_source(&scope, pending.id, new_job(), now, None).await;
        assert_conflict(refresh);
        let text = world.text_source(&agent).await;
        let refresh = world.storage.refresh_source(&scope, text.id, new_job(), now, None).await;
        assert!(matches!(refresh, Err(Error::InvalidOperation(_))), "{refresh:?}");
        let refresh = world.storage.refresh_source(&scope, new_id(), new_job(), now, None).await;
        assert_not_found(refresh, "source");
    })
    .await;
}

#[tokio::test]
async fn deleting_a_trained_source_raises_the_generation_and_leaves_no_row() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "x").await;
        assert_eq!(world.changes(&agent).await, 1);
        let (scope, now) = (world.scope(), world.now());
        let deleted = world.storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert_eq!(deleted, source);
        assert_eq!(world.changes(&agent).await, 2);
        for table in ["sources", "documents", "passages", "jobs"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
        let again = world.storage.delete_source(&scope, source.id, now, None).await;
        assert_not_found(again, "source");
    })
    .await;
}

#[tokio::test]
async fn deleting_a_source_without_content_leaves_the_generation() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        let scope = world.scope();
        world.storage.delete_source(&scope, source.id, world.now(), None).await.unwrap();
        assert_eq!(world.changes(&agent).await, 0);
        assert_eq!(world.count("jobs"), 0);
    })
    .await;
}

#[tokio::test]
async fn the_last_source_of_a_file_takes_the_file_along() {
    on_each(async |world| {
        let agent = world.agent().await;
        let upload = world.upload().await;
        let one = world.source(&agent, SourceContent::File(upload.id)).await;
        let two = world.source(&agent, SourceContent::File(upload.id)).await;
        let scope = world.scope();
        world.storage.delete_source(&scope, one.id, world.now(), None).await.unwrap();
        assert_eq!((world.count("uploads"), world.count("discarded_objects")), (1, 0));
        world.storage.delete_source(&scope, two.id, world.now(), None).await.unwrap();
        assert_eq!((world.count("uploads"), world.count("discarded_objects")), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn what_was_extracted_is_listed_in_order() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.text_source(&agent).await;
        let content = extracted("Rome", 1_203);
        let documents = vec![content.documents[0].document.clone()];
        let finished = world.finish(&source, content.clone()).await;
        let passages = passages_of(world, &source, &content).await;
        let version = finished.state.searchable().unwrap().version;
        let partial = PartialReading {
            documents: 1,
            pages: vec![2],
            reasons: vec![
                WarningReason::Damaged,
                WarningReason::attachment("röm.pdf", "it is \"protected\""),
            ],
        };
        let title = Some("Rome".to_owned());
        let trained = Trained { character_count: 4, title, version, partial: Some(partial) };
        assert_eq!(finished.state, SourceState::Trained(trained));

        let scope = world.scope();
        let listed = all_pages(100, async |page| {
            world.storage.list_passages(&scope, source.id, None, page).await
        })
        .await;
        assert_eq!(listed, passages);
        let page = world.storage.list_documents(&scope, source.id, first(1)).await.unwrap();
        let listed: Vec<_> = page.items.into_iter().map(|stored| stored.document).collect();
        assert_eq!((listed, page.next), (documents, None));
        let page = world.storage.list_passages(&scope, source.id, None, first(2)).await.unwrap();
        assert_eq!(page.next, Some(Position::Numbered(1)));
    })
    .await;
}

#[tokio::test]
async fn pages_are_listed_of_a_website_only() {
    on_each(async |world| {
        let agent = world.agent().await;
        let scope = world.scope();
        let source = world.source(&agent, website(true)).await;
        let page = world.storage.list_pages(&scope, source.id, first(9)).await.unwrap();
        assert_eq!((page.items, page.next), (Vec::new(), None), "nothing was crawled yet");
        let text = world.text_source(&agent).await;
        let result = world.storage.list_pages(&scope, text.id, first(9)).await;
        assert!(matches!(result, Err(Error::InvalidOperation(_))), "{result:?}");
    })
    .await;
}

#[tokio::test]
async fn the_events_of_a_deleted_source_stay_without_its_content() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.endpoint(&[EventName::SourceTrained]).await;
        let source = world.trained(&agent, text("A canary sings."), "A canary sings.").await;
        world.trained(&agent, text("Another canary sings."), "Another canary sings.").await;
        let telling = || world.count_where("events", "payload LIKE '%canary%'");
        assert_eq!((world.count("events"), telling()), (2, 2));
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert_eq!((world.count("events"), telling()), (2, 1));
        world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        assert_eq!((world.count("events"), telling()), (2, 0));
        let condition = format!("payload LIKE '%{}%'", source.id);
        assert_eq!(world.count_where("events", &condition), 1);
    })
    .await;
}
