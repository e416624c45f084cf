//! Accounts, keys, and the installation's own secret.

use std::sync::Arc;

use cicerone_domain::access::{Account, AccountName, ActingKey, KeyHash, KeyName, KeyPatch};
use cicerone_domain::audit::{Actor, AuditAction, AuditRecord, Origin};
use cicerone_domain::idempotency::{Claimed, Completion};
use cicerone_domain::ports::{KeyStore as _, WebhookStore as _};
use cicerone_domain::webhook::{EndpointPatch, EventName, WebhookSecret};
use cicerone_domain::{
    ApiKey, Error, Permission, Permissions, SystemEntropy, Timestamp, WebhookEndpoint, limits,
};
use futures_util::StreamExt as _;

use super::fixture::{
    World, all_pages, assert_conflict, assert_not_found, completion, new_account, new_id, new_key,
    on_each,
};

#[tokio::test]
async fn accounts_are_found_by_name_and_listed_oldest_first() {
    on_each(async |world| {
        let mut account = Account {
            id: new_id(),
            name: AccountName::parse("Ütopia").unwrap(),
            created_at: world.now(),
        };
        world.storage.insert_account(account.clone()).await.unwrap();
        assert_eq!(world.storage.find_account("Ütopia").await.unwrap(), Some(account.clone()));
        assert_eq!(world.storage.find_account("ütopia").await.unwrap(), None);
        let by_id = world.storage.find_account_by_id(account.id).await.unwrap();
        assert_eq!(by_id.as_ref(), Some(&account));
        assert_eq!(world.storage.find_account_by_id(new_id()).await.unwrap(), None);

        let names: Vec<String> = world
            .storage
            .list_accounts()
            .await
            .unwrap()
            .into_iter()
            .map(|a| a.name.to_string())
            .collect();
        assert_eq!(names, ["ours", "Ütopia"]);

        account.id = new_id();
        assert_conflict(world.storage.insert_account(account).await);
        assert_eq!(world.count("accounts"), 2);
    })
    .await;
}

#[tokio::test]
async fn a_key_is_found_by_its_hash_until_it_is_deleted() {
    on_each(async |world| {
        assert!(!world.storage.has_keys().await.unwrap());
        let (_, unknown) = new_key(world.account);
        let (key, hash) = new_key(world.account);
        world.storage.insert_key(key.clone(), hash, None).await.unwrap();
        assert!(world.storage.has_keys().await.unwrap());
        assert_eq!(world.storage.find_key(hash).await.unwrap(), Some(key.clone()));
        assert_eq!(world.storage.find_key(unknown).await.unwrap(), None);

        let (mut all, other) = new_key(world.account);
        all.permissions = Permissions::ALL;
        (all.agent_ids, all.expires_at) = (None, None);
        world.storage.insert_key(all.clone(), other, None).await.unwrap();
        assert_eq!(world.storage.find_key(other).await.unwrap(), Some(all));

        assert_eq!(world.storage.delete_key(key.id, None).await.unwrap(), Some(key.clone()));
        assert_eq!(world.storage.delete_key(key.id, None).await.unwrap(), None);
        assert_eq!(world.storage.find_key(hash).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_key_of_no_account_is_refused() {
    on_each(async |world| {
        let (key, hash) = new_key(new_id());
        assert_not_found(world.storage.insert_key(key, hash, None).await, "account");
        assert!(!world.storage.has_keys().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn the_root_key_replaces_the_one_before_and_nothing_else() {
    on_each(async |world| {
        let account = default_account(world);
        let (ordinary, ordinary_hash) = new_key(world.account);
        world.storage.insert_key(ordinary, ordinary_hash, None).await.unwrap();

        let (old, old_hash) = new_key(account.id);
        world.storage.set_root_key(account.clone(), old.clone(), old_hash).await.unwrap();
        assert_eq!(world.storage.find_key(old_hash).await.unwrap(), Some(old));

        // A later start has another account id: the account with the same name is meant.
        let again = Account { id: new_id(), ..account.clone() };
        let (new, new_hash) = new_key(again.id);
        world.storage.set_root_key(again.clone(), new.clone(), new_hash).await.unwrap();
        assert_eq!(world.storage.find_key(old_hash).await.unwrap(), None);
        let stored = world.storage.find_key(new_hash).await.unwrap();
        assert_eq!(stored, Some(ApiKey { account_id: account.id, ..new.clone() }));
        assert!(world.storage.find_key(ordinary_hash).await.unwrap().is_some());

        // The same root key again keeps its id and gets its permissions back.
        world.execute("UPDATE api_keys SET permissions = '[]', agent_ids = '[]', expires_at = 1");
        let (same, _) = new_key(again.id);
        world.storage.set_root_key(again, same.clone(), new_hash).await.unwrap();
        let restored = world.storage.find_key(new_hash).await.unwrap().unwrap();
        assert_eq!(restored.id, new.id);
        assert_eq!(restored.permissions, same.permissions);
        assert_eq!((restored.agent_ids, restored.expires_at), (same.agent_ids, same.expires_at));
        assert_eq!(world.count("accounts"), 2);
    })
    .await;
}

#[tokio::test]
async fn an_ordinary_key_can_become_the_root_key() {
    on_each(async |world| {
        let (key, hash) = new_key(world.account);
        world.storage.insert_key(key, hash, None).await.unwrap();
        let account = Account {
            id: world.account,
            name: AccountName::parse("ours").unwrap(),
            created_at: world.now(),
        };
        let (root, _) = new_key(world.account);
        world.storage.set_root_key(account, root.clone(), hash).await.unwrap();
        assert_eq!(world.storage.find_key(hash).await.unwrap(), Some(root));
        assert_eq!(world.count("api_keys"), 1);
    })
    .await;
}

#[tokio::test]
async fn the_first_installation_secret_stays() {
    on_each(async |world| {
        assert_eq!(world.storage.installation_secret([1; 32]).await.unwrap(), [1; 32]);
        assert_eq!(world.storage.installation_secret([2; 32]).await.unwrap(), [1; 32]);
        let other = world.reopen();
        assert_eq!(other.installation_secret([3; 32]).await.unwrap(), [1; 32]);
    })
    .await;
}

#[tokio::test]
async fn servers_that_start_together_agree_on_one_root_key() {
    on_each(async |world| {
        let others: Vec<_> = (0..4).map(|_| world.reopen()).collect();
        let (_, hash) = new_key(world.account);
        let starts = others.iter().map(|storage| {
            let account = default_account(world);
            let (key, _) = new_key(account.id);
            storage.set_root_key(account, key, hash)
        });
        for result in futures_util::future::join_all(starts).await {
            result.unwrap();
        }
        assert_eq!((world.count("accounts"), world.count("api_keys")), (2, 1));
        new_account(&world.storage, "after").await;
    })
    .await;
}

#[tokio::test]
async fn of_servers_that_start_together_one_makes_the_first_key() {
    on_each(async |world| {
        let others: Vec<_> = (0..4).map(|_| world.reopen()).collect();
        let starts = others.iter().map(async |storage| {
            let account = default_account(world);
            let (key, hash) = new_key(account.id);
            (storage.insert_first_key(account, key, hash).await.unwrap(), hash)
        });
        let made = futures_util::future::join_all(starts).await;
        assert_eq!(made.iter().filter(|(is_first, _)| *is_first).count(), 1, "{made:?}");
        for (is_first, hash) in made {
            assert_eq!(world.storage.find_key(hash).await.unwrap().is_some(), is_first);
        }
        assert_eq!((world.count("accounts"), world.count("api_keys")), (2, 1));
    })
    .await;
}

fn default_account(world: &World) -> Account {
    let name = AccountName::parse("default").unwrap();
    Account { id: new_id(), name, created_at: world.now() }
}

/// A key with all permissions and without restrictions.
pub(super) fn wide(world: &World) -> (ApiKey, KeyHash) {
    let (key, hash) = new_key(world.account);
    let key = ApiKey { permissions: Permissions::ALL, agent_ids: None, expires_at: None, ..key };
    (key, hash)
}

pub(super) async fn stored(world: &World, (key, hash): (ApiKey, KeyHash)) -> ApiKey {
    world.storage.insert_key(key.clone(), hash, None).await.unwrap();
    key
}

#[tokio::test]
async fn a_key_changes_and_removes_only_keys_that_it_covers() {
    on_each(async |world| {
        let end = |millis| Some(Timestamp::from_millis(millis));
        let narrow = Permissions::from_names(["keys:write", "agents:read"]).unwrap();
        let (key, hash) = wide(world);
        let maker = ApiKey { permissions: narrow, expires_at: end(20), ..key };
        let maker = stored(world, (maker, hash)).await;
        let patch = KeyPatch { expires_at: Some(end(20)), ..KeyPatch::default() };
        let patch = KeyPatch { permissions: Some(narrow), ..patch };
        for (permissions, expires_at) in
            [(Permissions::ALL, end(20)), (narrow, end(21)), (narrow, None)]
        {
            let (key, hash) = wide(world);
            let wider = stored(world, (ApiKey { permissions, expires_at, ..key }, hash)).await;
            let changed = world.storage.update_key(&maker, wider.id, patch.clone(), None).await;
            let removed = world.storage.remove_key(&maker, wider.id, None).await;
            for refused in [changed.map(drop), removed] {
                let is_refused =
                    matches!(refused, Err(Error::Forbidden(_) | Error::InvalidOperation(_)));
                assert!(is_refused, "{refused:?}");
            }
            assert_eq!(world.storage.find_key(hash).await.unwrap(), Some(wider));
        }
        let (key, hash) = wide(world);
        let alike = ApiKey { permissions: narrow, expires_at: end(20), ..key };
        let alike = stored(world, (alike, hash)).await;
        world.storage.update_key(&maker, alike.id, patch.clone(), None).await.unwrap();
        world.storage.update_key(&maker, maker.id, patch, None).await.unwrap();
        world.storage.remove_key(&maker, alike.id, None).await.unwrap();
        assert_eq!(world.storage.find_key(hash).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn what_a_maker_may_do_is_what_it_may_when_the_change_is_committed() {
    on_each(async |world| {
        let storage = &world.storage;
        let owner = stored(world, wide(world)).await;
        let maker = stored(world, wide(world)).await;
        let other = stored(world, wide(world)).await;
        let narrow = Permissions::from_names(["keys:write"]).unwrap();
        let patch = KeyPatch { permissions: Some(narrow), ..KeyPatch::default() };
        storage.update_key(&owner, maker.id, patch, None).await.unwrap();
        // The value `maker` still has the permissions from when its request was authenticated.
        let (key, hash) = wide(world);
        let refused = storage.issue_key(&maker, key.clone(), hash, None).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        let refused = storage.remove_key(&maker, other.id, None).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");

        storage.remove_key(&owner, maker.id, None).await.unwrap();
        let refused = storage.issue_key(&maker, key, hash, None).await.map(drop);
        let changed = storage.update_key(&maker, other.id, KeyPatch::default(), None).await;
        let removed = storage.remove_key(&maker, other.id, None).await;
        for refused in [refused, changed.map(drop), removed] {
            assert!(matches!(refused, Err(Error::Unauthorized)), "{refused:?}");
        }
        assert_eq!(world.count("api_keys"), 2);
    })
    .await;
}

/// A completion of a change that `key` makes and that needs this permission.
fn made_by<T>(key: &ApiKey, permission: Permission, at: Timestamp) -> Option<Completion<T>> {
    let record = AuditRecord {
        id: new_id(),
        account_id: key.account_id,
        at,
        actor: Actor::ApiKey { id: key.id, name: key.name.clone() },
        action: AuditAction::WebhookEndpointCreated,
        target_id: None,
        origin: Origin::default(),
        count: 1,
    };
    let acting = ActingKey { key: key.clone(), permission, at };
    Some(Completion::recording(move |_: &T| record.clone()).by(Some(acting)))
}

#[tokio::test]
async fn the_key_that_makes_a_change_is_checked_in_its_transaction() {
    on_each(async |world| {
        let storage = &world.storage;
        let existing = world.endpoint(&EventName::CHOICES).await;
        let attempt = async |key: &ApiKey| {
            let (now, needs) = (world.now(), Permission::WebhooksWrite);
            let endpoint = WebhookEndpoint { id: new_id(), ..existing.clone() };
            let secret = || WebhookSecret::generate(&SystemEntropy);
            let made = made_by(key, needs, now);
            let made = storage.insert_endpoint(endpoint, secret(), made).await.map(drop);
            let patch = EndpointPatch::default();
            let (account, id) = (world.account, existing.id);
            let changed = made_by(key, needs, now);
            let changed = storage.update_endpoint(account, id, patch, now, changed).await.map(drop);
            let rotated = made_by(key, needs, now);
            let rotated =
                storage.rotate_secret(account, id, secret(), now, rotated).await.map(drop);
            [made, changed, rotated]
        };
        let key = stored(world, wide(world)).await;
        for outcome in attempt(&key).await {
            outcome.unwrap();
        }
        let before = (world.count("webhook_endpoints"), world.count("audit_log"));
        let set = |change: &str| {
            world.execute(&format!("UPDATE api_keys SET {change} WHERE id = '{}'", key.id));
        };
        set("agent_ids = '[]'");
        for outcome in attempt(&key).await {
            assert!(matches!(outcome, Err(Error::KeyChanged)), "{outcome:?}");
        }
        set("permissions = '[\"webhooks:read\"]'");
        for outcome in attempt(&key).await {
            let lacks = Permission::WebhooksWrite;
            assert!(matches!(outcome, Err(Error::Forbidden(p)) if p == lacks), "{outcome:?}");
        }
        set("expires_at = 1");
        for outcome in attempt(&key).await {
            assert!(matches!(outcome, Err(Error::Unauthorized)), "{outcome:?}");
        }
        storage.delete_key(key.id, None).await.unwrap();
        for outcome in attempt(&key).await {
            assert!(matches!(outcome, Err(Error::Unauthorized)), "{outcome:?}");
        }
        assert_eq!((world.count("webhook_endpoints"), world.count("audit_log")), before);
    })
    .await;
}

#[tokio::test]
async fn of_a_deletion_and_what_the_key_makes_at_once_nothing_is_left_over() {
    on_each(async |world| {
        let storages = [Arc::new(world.reopen()), Arc::new(world.reopen())];
        for _ in 0..20 {
            let maker = stored(world, wide(world)).await;
            let (key, hash) = wide(world);
            let permission = Permission::KeysWrite;
            let completion = made_by(&maker, permission, world.now());
            let (made, deleted) = tokio::join!(
                storages[0].issue_key(&maker, key.clone(), hash, completion),
                storages[1].delete_key(maker.id, None),
            );
            assert_eq!(deleted.unwrap(), Some(maker));
            // Either order is fine, but a refused key must not exist.
            let found = world.storage.find_key(hash).await.unwrap();
            assert_eq!(found.is_some(), made.is_ok(), "{made:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_account_has_so_many_keys_and_expired_ones_give_way() {
    on_each(async |world| {
        let maker = stored(world, wide(world)).await;
        let others = (1..limits::ACCOUNT_KEYS).map(|number| {
            let (key, hash) = wide(world);
            let expires_at = (number <= 2).then_some(Timestamp::from_millis(5));
            let created_at = Timestamp::from_millis(1);
            world.storage.insert_key(ApiKey { expires_at, created_at, ..key }, hash, None)
        });
        // Only a few at a time: of a thousand at once, some would wait too long for a connection.
        let inserted = futures_util::stream::iter(others).buffer_unordered(8);
        inserted.for_each(|inserted| async { inserted.unwrap() }).await;
        assert_eq!(world.count("api_keys"), 1_000);
        let new = |at| {
            let (key, hash) = wide(world);
            (ApiKey { created_at: Timestamp::from_millis(at), ..key }, hash)
        };
        // Nothing has expired yet.
        let (key, hash) = new(4);
        assert_conflict(world.storage.insert_key(key.clone(), hash, None).await);
        assert_conflict(world.storage.issue_key(&maker, key, hash, None).await);
        let (key, hash) = new(5);
        world.storage.issue_key(&maker, key, hash, None).await.unwrap();
        assert_eq!(world.count("api_keys"), 999);
        stored(world, new(6)).await;
        let (key, hash) = new(7);
        assert_conflict(world.storage.insert_key(key, hash, None).await);
        // Another account has its own limit.
        let (key, hash) = new(7);
        let theirs = new_account(&world.storage, "theirs").await;
        stored(world, (ApiKey { account_id: theirs, ..key }, hash)).await;
    })
    .await;
}

#[tokio::test]
async fn a_key_that_another_makes_is_no_wider_and_names_agents_that_exist() {
    on_each(async |world| {
        let agent = world.agent().await;
        let maker = stored(world, wide(world)).await;
        let (key, hash) = wide(world);
        let key = ApiKey { agent_ids: Some(vec![agent.id]), ..key };
        let made = world.storage.issue_key(&maker, key.clone(), hash, None).await.unwrap();
        assert_eq!(made, key);
        assert_eq!(world.storage.find_key(hash).await.unwrap(), Some(key.clone()));

        let (wider, other) = wide(world);
        let refused = world.storage.issue_key(&key, wider.clone(), other, None).await;
        assert!(matches!(refused, Err(Error::InvalidOperation(_))), "{refused:?}");
        let lost = ApiKey { agent_ids: Some(vec![agent.id, new_id()]), ..wider };
        let refused = world.storage.issue_key(&maker, lost, other, None).await;
        let is_named =
            |error: &Error| matches!(error, Error::Invalid(bad) if bad.first().param == "agent_ids[1]");
        assert!(refused.as_ref().is_err_and(is_named), "{refused:?}");
        assert_eq!(world.count("api_keys"), 2);
    })
    .await;
}

#[tokio::test]
async fn keys_are_read_and_changed_within_an_account_and_what_the_reader_sees() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (reader, _) = wide(world);
        let mut made = Vec::new();
        for number in 0..5 {
            let (key, hash) = wide(world);
            let agent_ids = (number % 2 == 0).then(|| vec![agent.id]);
            let created_at = Timestamp::from_millis(number);
            let key = ApiKey { agent_ids, created_at, ..key };
            world.storage.insert_key(key.clone(), hash, None).await.unwrap();
            made.insert(0, key);
        }
        let inside = ApiKey { agent_ids: Some(vec![agent.id]), ..reader.clone() };
        let stranger =
            ApiKey { account_id: new_account(&world.storage, "theirs").await, ..reader.clone() };
        let seen_inside: Vec<_> =
            made.iter().filter(|key| key.agent_ids.is_some()).cloned().collect();
        for (reader, expected) in [(&reader, &made), (&inside, &seen_inside), (&stranger, &vec![])]
        {
            for size in [1, 2, 10] {
                let list =
                    all_pages(size, |page| world.storage.list_keys(reader, None, page)).await;
                assert_eq!(&list, expected, "page_size {size}");
            }
        }

        let reader = stored(world, wide(world)).await;
        let (key, hash) = wide(world);
        let inside = stored(world, (ApiKey { agent_ids: Some(vec![agent.id]), ..key }, hash)).await;
        let (key, hash) = wide(world);
        let key = ApiKey { account_id: stranger.account_id, ..key };
        let stranger = stored(world, (key, hash)).await;
        let (open, patch) = (
            &made[1],
            KeyPatch { name: Some(KeyName::parse("New").unwrap()), ..KeyPatch::default() },
        );
        for reader in [&inside, &stranger] {
            assert_eq!(world.storage.find_key_by_id(reader, open.id).await.unwrap(), None);
            let changed = world.storage.update_key(reader, open.id, patch.clone(), None).await;
            assert_not_found(changed, "API key");
            assert_not_found(world.storage.remove_key(reader, open.id, None).await, "API key");
        }
        let changed = world.storage.update_key(&reader, open.id, patch, None).await.unwrap();
        assert_eq!(changed, ApiKey { name: KeyName::parse("New").unwrap(), ..open.clone() });
        let found = world.storage.find_key_by_id(&reader, open.id).await.unwrap();
        assert_eq!(found, Some(changed));
    })
    .await;
}

#[tokio::test]
async fn answers_that_contain_a_key_are_erased_with_it() {
    on_each(async |world| {
        let maker = stored(world, wide(world)).await;
        let (key, hash) = wide(world);
        let claim = world.claim("make").await;
        let kept = completion(&claim, "kept", Some((key.id.to_string(), None)));
        world.storage.issue_key(&maker, key.clone(), hash, kept).await.unwrap();
        assert!(matches!(world.repeat("make").await, Claimed::Replay(..)));
        world.storage.remove_key(&maker, key.id, None).await.unwrap();
        assert!(matches!(world.repeat("make").await, Claimed::Erased(_)));
        assert_eq!(world.storage.find_key(hash).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn the_last_use_of_keys_is_noted_and_those_that_are_gone_are_passed_over() {
    on_each(async |world| {
        let (key, hash) = wide(world);
        world.storage.insert_key(key.clone(), hash, None).await.unwrap();
        let now = world.now();
        world.storage.note_uses(vec![(new_id(), now), (key.id, now)]).await.unwrap();
        let found = world.storage.find_key(hash).await.unwrap();
        assert_eq!(found, Some(ApiKey { last_used_at: Some(now), ..key }));
    })
    .await;
}
