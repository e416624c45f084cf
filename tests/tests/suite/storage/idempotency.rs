//! Idempotency: one effect and one answer for a key.

use cicerone_domain::idempotency::{Claim, Claimed};
use cicerone_domain::job::Reclaim;
use cicerone_domain::limits::{IDEMPOTENCY_LEASE_MILLIS, IDEMPOTENCY_LIFE_MILLIS};
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, Housekeeping as _, IdempotencyStore as _,
    JobStore as _, SourceStore as _, UploadStore as _,
};
use cicerone_domain::{Error, Scope, SourceContent};
use std::sync::Arc;

use super::fixture::{completion, new_account, new_id, new_job, on_each, response, text, website};

#[tokio::test]
async fn a_completed_request_is_replayed_and_another_with_its_key_refused() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        let agent = world.new_agent();
        let subject = Some((agent.id.to_string(), Some(agent.id)));
        let done = completion(&claim, "made", subject.clone());
        world.storage.insert_agent(agent, done).await.unwrap();
        assert_eq!(world.repeat("key").await, world.replay(response("made", subject)));
        let other = world.claim_with("key", 2, "t".to_owned(), world.now()).await;
        assert_eq!(other, Claimed::Reused);
    })
    .await;
}

#[tokio::test]
async fn keys_are_scoped_to_the_account() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        let theirs = new_account(&world.storage, "theirs").await;
        let print = cicerone_domain::idempotency::Fingerprint([9; 32]);
        let other = world
            .storage
            .claim(&Scope::account(theirs), &claim.key, print, "t".to_owned(), false, world.now())
            .await;
        assert!(matches!(other.unwrap(), Claimed::Granted(_)));
    })
    .await;
}

#[tokio::test]
async fn a_key_is_busy_until_its_lease_runs_out() {
    on_each(async |world| {
        let now = world.now();
        let first = world.claim_with("key", 1, "one".to_owned(), now).await;
        let Claimed::Granted(first) = first else { panic!("{first:?}") };
        let end = now.plus_millis(IDEMPOTENCY_LEASE_MILLIS);
        let before = end.plus_millis(-1);
        assert_eq!(world.claim_with("key", 1, "two".to_owned(), before).await, Claimed::InProgress);
        assert_eq!(world.claim_with("key", 2, "two".to_owned(), before).await, Claimed::Reused);
        // An expired claim had no effect, so the key is free for any request.
        let second = world.claim_with("key", 2, "two".to_owned(), end).await;
        let Claimed::Granted(second) = second else { panic!("{second:?}") };

        let late = completion(&first, "late", None);
        let insert = world.storage.insert_agent(world.new_agent(), late).await;
        assert!(matches!(insert, Err(Error::ClaimLost)), "{insert:?}");
        assert_eq!(world.count("agents"), 0, "the effect of a lost claim is rolled back");
        // The other request may have deleted the agent: the caller gets that the claim is lost.
        let (scope, late) = (world.scope(), completion(&first, "late", None));
        assert_lost(world.storage.delete_agent(&scope, world.new_agent().id, end, late).await);
        let done = completion(&second, "done", None);
        world.storage.insert_agent(world.new_agent(), done).await.unwrap();
        assert_eq!(world.count("agents"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_claim_that_nobody_took_over_completes_after_its_lease() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        world.execute("UPDATE idempotency SET lease_until = 0");
        let done = completion(&claim, "done", None);
        world.storage.insert_agent(world.new_agent(), done).await.unwrap();
        assert_eq!(world.repeat("key").await, world.replay(response("done", None)));
    })
    .await;
}

#[tokio::test]
async fn a_key_is_free_again_after_24_hours() {
    on_each(async |world| {
        let now = world.now();
        let claim = world.claim_with("key", 1, "one".to_owned(), now).await;
        let Claimed::Granted(claim) = claim else { panic!("{claim:?}") };
        world.storage.complete(&claim, response("old", None)).await.unwrap();
        let end = now.plus_millis(IDEMPOTENCY_LIFE_MILLIS);
        let early = world.claim_with("key", 1, "two".to_owned(), end.plus_millis(-1)).await;
        assert!(matches!(early, Claimed::Replay(..)), "{early:?}");
        assert_eq!(world.storage.expire_idempotency(end.plus_millis(-1)).await.unwrap(), 0);
        let again = world.claim_with("key", 2, "two".to_owned(), end).await;
        assert!(matches!(again, Claimed::Granted(_)), "{again:?}");
        let later = end.plus_millis(IDEMPOTENCY_LIFE_MILLIS);
        assert_eq!(world.storage.expire_idempotency(later).await.unwrap(), 1);
        assert_eq!(world.count("idempotency"), 0);
    })
    .await;
}

#[tokio::test]
async fn a_released_key_is_free() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        let foreign = Claim { token: "other".to_owned(), ..claim.clone() };
        world.storage.release(&foreign).await.unwrap();
        assert_eq!(world.repeat("key").await, Claimed::InProgress);
        world.storage.release(&claim).await.unwrap();
        assert!(matches!(world.repeat("key").await, Claimed::Granted(_)));
    })
    .await;
}

#[tokio::test]
async fn a_completed_key_is_neither_released_nor_completed_again() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        world.storage.complete(&claim, response("refused", None)).await.unwrap();
        world.storage.release(&claim).await.unwrap();
        world.storage.complete(&claim, response("other", None)).await.unwrap();
        assert_eq!(world.repeat("key").await, world.replay(response("refused", None)));
    })
    .await;
}

#[tokio::test]
async fn a_refused_effect_leaves_its_key_claimed() {
    on_each(async |world| {
        let claim = world.claim("key").await;
        let (scope, now) = (world.scope(), world.now());
        let done = completion(&claim, "", None);
        let delete = world.storage.delete_agent(&scope, new_id(), now, done).await;
        assert!(matches!(delete, Err(Error::NotFound { .. })), "{delete:?}");
        world.storage.complete(&claim, response("404", None)).await.unwrap();
        assert_eq!(world.repeat("key").await, world.replay(response("404", None)));
    })
    .await;
}

#[tokio::test]
async fn of_64_concurrent_claims_one_is_granted() {
    on_each(async |world| {
        let other = world.reopen();
        let scope = world.scope();
        for round in 0..5 {
            let key = cicerone_domain::idempotency::IdempotencyKey::parse(&format!("k{round}"));
            let key = key.unwrap();
            let print = cicerone_domain::idempotency::Fingerprint([1; 32]);
            let now = world.now();
            let claims = (0..64).map(|number| {
                let storage = if number % 2 == 0 { &world.storage } else { &other };
                storage.claim(&scope, &key, print, format!("token {number}"), false, now)
            });
            let results = futures_util::future::join_all(claims).await;
            let granted =
                results.iter().filter(|result| matches!(result, Ok(Claimed::Granted(_)))).count();
            let busy = results.iter().filter(|r| matches!(r, Ok(Claimed::InProgress))).count();
            assert_eq!((granted, busy), (1, 63));
        }
    })
    .await;
}

#[tokio::test]
async fn every_write_completes_its_claim_with_its_effect() {
    on_each(async |world| {
        let (scope, storage) = (world.scope(), &world.storage);
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "x").await;

        let done = completion(&world.claim("source").await, "source", None);
        let new = world.new_source(&agent, text("x"));
        storage.insert_source(&scope, new, new_job(), done).await.unwrap();
        let done = completion(&world.claim("refresh").await, "refresh", None);
        storage.refresh_source(&scope, source.id, new_job(), world.now(), done).await.unwrap();
        let done = completion(&world.claim("delete-source").await, "delete source", None);
        storage.delete_source(&scope, source.id, world.now(), done).await.unwrap();
        let upload = world.new_upload();
        storage.expect_object(&upload.object_key(), world.now()).await.unwrap();
        let done = completion(&world.claim("file").await, "file", None);
        let upload = storage.insert_upload(upload, done).await.unwrap();
        let done = completion(&world.claim("delete-file").await, "delete file", None);
        storage.delete_upload(&scope, upload.id, world.now(), done).await.unwrap();
        let done = completion(&world.claim("turn").await, "turn", None);
        let turn = storage.append_turn(world.first_turn(&agent, &[]), done).await.unwrap();
        let id = turn.conversation.id;
        let done = completion(&world.claim("delete-turn").await, "delete turn", None);
        storage.delete_conversation(&scope, id, world.now(), done).await.unwrap();
        let done = completion(&world.claim("patch").await, "patch", None);
        let patch = cicerone_domain::AgentPatch::default();
        storage.update_agent(&scope, agent.id, patch, world.now(), done).await.unwrap();
        let done = completion(&world.claim("delete-agent").await, "delete agent", None);
        storage.delete_agent(&scope, agent.id, world.now(), done).await.unwrap();

        for key in [
            "source",
            "refresh",
            "delete source",
            "file",
            "delete file",
            "turn",
            "delete turn",
            "patch",
            "delete agent",
        ] {
            let stored = world.repeat(&key.replace(' ', "-")).await;
            assert_eq!(stored, world.replay(response(key, None)));
        }
    })
    .await;
}

#[tokio::test]
async fn a_lost_claim_rolls_the_effect_back() {
    on_each(async |world| {
        let (scope, storage) = (world.scope(), &world.storage);
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "x").await;
        let upload = world.upload().await;
        let conversation = world.conversation(&agent, &[]).await;
        let pending = world.new_upload();
        storage.expect_object(&pending.object_key(), world.now()).await.unwrap();
        let lost = world.claim("key").await;
        storage.release(&lost).await.unwrap();
        let tables = ["agents", "sources", "jobs", "passages", "uploads", "discarded_objects"];
        let before = tables.map(|table| world.count(table));

        let now = world.now();
        let new = world.new_source(&agent, website(false));
        let done = completion(&lost, "", None);
        assert_lost(storage.insert_source(&scope, new, new_job(), done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.refresh_source(&scope, source.id, new_job(), now, done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.delete_source(&scope, source.id, now, done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.insert_upload(pending, done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.delete_upload(&scope, upload.id, now, done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.append_turn(world.first_turn(&agent, &[]), done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.append_turn(world.next_turn(&conversation, "?"), done).await);
        let done = completion(&lost, "", None);
        assert_lost(storage.delete_conversation(&scope, conversation.id, now, done).await);

        assert_eq!(tables.map(|table| world.count(table)), before);
        assert_eq!((world.count("conversations"), world.count("messages")), (1, 2));
        assert_eq!(world.stored_source(&source).await, source);
        assert_eq!(world.changes(&agent).await, 1);
    })
    .await;
}

#[tokio::test]
async fn deleting_a_thing_erases_the_answers_that_contain_it() {
    on_each(async |world| {
        let (scope, storage) = (world.scope(), &world.storage);
        let agent = world.agent().await;
        let source = world.source(&agent, website(false)).await;
        let conversation = world.conversation(&agent, &[]).await;
        let upload = world.upload().await;
        let subjects = [
            (agent.id.to_string(), Some(agent.id)),
            (source.id.to_string(), Some(agent.id)),
            (conversation.id.to_string(), Some(agent.id)),
            (upload.id.to_string(), None),
        ];
        let mut keys = Vec::new();
        for (number, subject) in subjects.into_iter().enumerate() {
            let key = format!("key-{number}");
            let claim = world.claim(&key).await;
            storage.complete(&claim, response("secret", Some(subject))).await.unwrap();
            keys.push(key);
        }
        let erased = async || {
            let mut erased = Vec::new();
            for key in &keys {
                erased.push(matches!(world.repeat(key).await, Claimed::Erased(_)));
            }
            erased
        };
        assert_eq!(erased().await, [false; 4]);
        storage.delete_source(&scope, source.id, world.now(), None).await.unwrap();
        assert_eq!(erased().await, [false, true, false, false]);
        storage.delete_conversation(&scope, conversation.id, world.now(), None).await.unwrap();
        assert_eq!(erased().await, [false, true, true, false]);
        storage.delete_upload(&scope, upload.id, world.now(), None).await.unwrap();
        assert_eq!(erased().await, [false, true, true, true]);
        storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
        assert_eq!(erased().await, [true; 4]);
        assert_eq!(world.count_where("idempotency", "body IS NOT NULL"), 0);
        let other = world.claim_with("key-0", 2, "t".to_owned(), world.now()).await;
        assert_eq!(other, Claimed::Reused, "an erased key is still taken");
    })
    .await;
}

#[tokio::test]
async fn deleting_an_agent_erases_the_answers_about_everything_of_it() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        let upload = world.upload().await;
        let source = world.source(&agent, SourceContent::File(upload.id)).await;
        for (key, subject) in [
            ("source", (source.id.to_string(), Some(agent.id))),
            ("file", (upload.id.to_string(), None)),
            ("other", (other.id.to_string(), Some(other.id))),
        ] {
            let claim = world.claim(key).await;
            world.storage.complete(&claim, response("secret", Some(subject))).await.unwrap();
        }
        let scope = world.scope();
        world.storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
        assert!(matches!(world.repeat("source").await, Claimed::Erased(_)));
        assert!(matches!(world.repeat("file").await, Claimed::Erased(_)));
        assert!(matches!(world.repeat("other").await, Claimed::Replay(..)));
    })
    .await;
}

#[tokio::test]
async fn the_claims_of_a_process_that_died_are_freed_when_the_only_one_starts() {
    on_each(async |world| {
        world.claim("open").await;
        let done = world.claim("done").await;
        world.storage.complete(&done, response("kept", None)).await.unwrap();
        let event_id = Arc::new(new_id);
        world.storage.reclaim(Reclaim::Expired, world.now(), event_id.clone()).await.unwrap();
        assert_eq!(world.repeat("open").await, Claimed::InProgress);
        world.storage.reclaim(Reclaim::All, world.now(), event_id).await.unwrap();
        assert!(matches!(world.repeat("open").await, Claimed::Granted(_)));
        assert_eq!(world.repeat("done").await, world.replay(response("kept", None)));
    })
    .await;
}

#[track_caller]
fn assert_lost<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::ClaimLost)), "expected a lost claim, got {result:?}");
}
