//! What is carried out while the disk is full, and what is refused.

use cicerone_domain::Error;
use cicerone_domain::idempotency::{Claim, Claimed, Completion, Fingerprint, IdempotencyKey};
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, IdempotencyStore as _, KeyStore as _,
    SourceStore as _, UploadStore as _, WebhookStore as _, WidgetStore as _,
};
use cicerone_domain::webhook::EventName;
use cicerone_storage::{Storage, StorageOptions};

use super::fixture::{World, completion, on_each, website};
use super::keys::{stored, wide};

/// The same database on a full disk: no disk has room for this reserve. PostgreSQL reserves nothing.
fn on_full_disk(world: &World) -> Storage {
    let options = StorageOptions { reserve_bytes: 1 << 60, ..StorageOptions::default() };
    Storage::open(&world.url, &options).unwrap()
}

/// Claims a key for a request.
async fn claim(world: &World, storage: &Storage, key: &str, deletes: bool) -> Result<Claim, Error> {
    let (scope, print, now) = (world.scope(), Fingerprint([1; 32]), world.now());
    let key = IdempotencyKey::parse(key).unwrap();
    match storage.claim(&scope, &key, print, "token".to_owned(), deletes, now).await? {
        Claimed::Granted(claim) => Ok(claim),
        other => panic!("the key is not free: {other:?}"),
    }
}

#[tokio::test]
async fn everything_can_be_deleted_also_by_requests_with_idempotency_keys() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "Rome").await;
        let upload = world.upload().await;
        let conversation = world.conversation(&agent, &[]).await;
        let widget = world.widget(&agent).await;
        let endpoint = world.endpoint(&[EventName::SourceTrained]).await;
        let mut keys = Vec::new();
        for _ in 0..3 {
            keys.push(stored(world, wide(world)).await);
        }
        let (scope, now) = (world.scope(), world.now());
        let storage = on_full_disk(world);
        if world.url.sqlite_path().is_some() {
            let refused = storage.insert_agent(world.new_agent(), None).await;
            assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
            let refused = claim(world, &storage, "addition", false).await;
            assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        }
        let keyed = async |key: &str| -> Option<Completion<()>> {
            completion(&claim(world, &storage, key, true).await.unwrap(), "gone", None)
        };
        let account = world.account;
        storage.delete_widget(&scope, widget, keyed("widget").await).await.unwrap();
        storage.delete_endpoint(account, endpoint.id, keyed("endpoint").await).await.unwrap();
        storage.remove_key(&keys[0], keys[1].id, keyed("key").await).await.unwrap();
        assert!(storage.delete_key(keys[2].id, None).await.unwrap().is_some());
        let id = conversation.id;
        storage.delete_conversation(&scope, id, now, keyed("conversation").await).await.unwrap();
        storage.delete_source(&scope, source.id, now, keyed("source").await).await.unwrap();
        storage.delete_upload(&scope, upload.id, now, keyed("upload").await).await.unwrap();
        storage.delete_agent(&scope, agent.id, now, keyed("agent").await).await.unwrap();
        for table in ["widgets", "webhook_endpoints", "sources", "uploads", "agents"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
        assert_eq!(world.count("api_keys"), 1);
        assert_eq!(world.count_where("idempotency", "state = 'completed'"), 7);
        // The request turned out to have no effect.
        let late = claim(world, &storage, "late", true).await.unwrap();
        storage.release(&late).await.unwrap();
        assert_eq!(world.count("idempotency"), 7);
        storage.close().await;
    })
    .await;
}
