//! Accounts, keys, and the installation's own secret.

use cicerone_domain::access::{Account, KeyHash, KeyPatch};
use cicerone_domain::idempotency::Claimed;
use cicerone_domain::ports::KeyStore as _;
use cicerone_domain::{ApiKey, Error, Permissions, Timestamp};

use super::fixture::{
    World, all_pages, assert_conflict, assert_not_found, completion, new_account, new_id, new_key,
    on_each,
};

#[tokio::test]
async fn accounts_are_found_by_name_and_listed_oldest_first() {
    on_each(async |world| {
        let mut account =
            Account { id: new_id(), name: "Ütopia".to_owned(), created_at: world.now() };
        world.storage.insert_account(account.clone()).await.unwrap();
        assert_eq!(world.storage.find_account("Ütopia").await.unwrap(), Some(account.clone()));
        assert_eq!(world.storage.find_account("ütopia").await.unwrap(), None);

        let names: Vec<String> =
            world.storage.list_accounts().await.unwrap().into_iter().map(|a| a.name).collect();
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
        let (key, hash) = new_key(world.account);
        world.storage.insert_key(key.clone(), hash, None).await.unwrap();
        assert!(world.storage.has_keys().await.unwrap());
        assert_eq!(world.storage.find_key(hash).await.unwrap(), Some(key.clone()));
        assert_eq!(world.storage.find_key(KeyHash([0; 32])).await.unwrap(), None);

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
        let account = Account { id: new_id(), name: "default".to_owned(), created_at: world.now() };
        let (ordinary, ordinary_hash) = new_key(world.account);
        world.storage.insert_key(ordinary, ordinary_hash, None).await.unwrap();

        let (old, old_hash) = new_key(account.id);
        world.storage.set_root_key(account.clone(), old.clone(), old_hash).await.unwrap();
        assert_eq!(world.storage.find_key(old_hash).await.unwrap(), Some(old));

        // A later start names another account id: the one of that name is meant.
        let again = Account { id: new_id(), ..account.clone() };
        let (new, new_hash) = new_key(again.id);
        world.storage.set_root_key(again.clone(), new.clone(), new_hash).await.unwrap();
        assert_eq!(world.storage.find_key(old_hash).await.unwrap(), None);
        let stored = world.storage.find_key(new_hash).await.unwrap();
        assert_eq!(stored, Some(ApiKey { account_id: account.id, ..new.clone() }));
        assert!(world.storage.find_key(ordinary_hash).await.unwrap().is_some());

        // The same root key once more leaves even its id.
        let (same, _) = new_key(again.id);
        world.storage.set_root_key(again, same, new_hash).await.unwrap();
        assert_eq!(world.storage.find_key(new_hash).await.unwrap().unwrap().id, new.id);
        assert_eq!(world.count("accounts"), 2);
    })
    .await;
}

#[tokio::test]
async fn an_ordinary_key_can_become_the_root_key() {
    on_each(async |world| {
        let (key, hash) = new_key(world.account);
        world.storage.insert_key(key, hash, None).await.unwrap();
        let account =
            Account { id: world.account, name: "ours".to_owned(), created_at: world.now() };
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
        let starts = others.iter().map(|storage| {
            let account =
                Account { id: new_id(), name: "default".to_owned(), created_at: world.now() };
            let (key, _) = new_key(account.id);
            storage.set_root_key(account, key, KeyHash([9; 32]))
        });
        for result in futures_util::future::join_all(starts).await {
            result.unwrap();
        }
        assert_eq!((world.count("accounts"), world.count("api_keys")), (2, 1));
        new_account(&world.storage, "after").await;
    })
    .await;
}

/// A key of everything that is restricted to nothing.
fn wide(world: &World) -> (ApiKey, KeyHash) {
    let (key, hash) = new_key(world.account);
    let key = ApiKey { permissions: Permissions::ALL, agent_ids: None, expires_at: None, ..key };
    (key, hash)
}

#[tokio::test]
async fn a_key_that_another_makes_is_no_wider_and_names_agents_that_exist() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (maker, _) = wide(world);
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
            |error: &Error| matches!(error, Error::Invalid(f) if f.param == "agent_ids[1]");
        assert!(refused.as_ref().is_err_and(is_named), "{refused:?}");
        assert_eq!(world.count("api_keys"), 1);
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
                let list = all_pages(size, |page| world.storage.list_keys(reader, page)).await;
                assert_eq!(&list, expected, "page_size {size}");
            }
        }

        let (open, patch) =
            (&made[1], KeyPatch { name: Some("New".to_owned()), ..KeyPatch::default() });
        for reader in [&inside, &stranger] {
            assert_eq!(world.storage.find_key_by_id(reader, open.id).await.unwrap(), None);
            let changed = world.storage.update_key(reader, open.id, patch.clone(), None).await;
            assert_not_found(changed, "API key");
            assert_not_found(world.storage.remove_key(reader, open.id, None).await, "API key");
        }
        let changed = world.storage.update_key(&reader, open.id, patch, None).await.unwrap();
        assert_eq!(changed, ApiKey { name: "New".to_owned(), ..open.clone() });
        let found = world.storage.find_key_by_id(&reader, open.id).await.unwrap();
        assert_eq!(found, Some(changed));
    })
    .await;
}

#[tokio::test]
async fn a_removed_key_takes_the_answers_that_told_of_it_with_it() {
    on_each(async |world| {
        let (maker, _) = wide(world);
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
