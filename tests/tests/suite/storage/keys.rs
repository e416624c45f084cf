//! Accounts, keys, and the installation's own secret.

use cicerone_domain::access::{Account, KeyHash};
use cicerone_domain::ports::KeyStore as _;
use cicerone_domain::{ApiKey, Permissions};

use super::fixture::{assert_conflict, assert_not_found, new_account, new_id, new_key, on_each};

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
        world.storage.insert_key(key.clone(), hash).await.unwrap();
        assert!(world.storage.has_keys().await.unwrap());
        assert_eq!(world.storage.find_key(hash).await.unwrap(), Some(key.clone()));
        assert_eq!(world.storage.find_key(KeyHash([0; 32])).await.unwrap(), None);

        let (mut all, other) = new_key(world.account);
        all.permissions = Permissions::ALL;
        (all.agent_ids, all.expires_at) = (None, None);
        world.storage.insert_key(all.clone(), other).await.unwrap();
        assert_eq!(world.storage.find_key(other).await.unwrap(), Some(all));

        assert!(world.storage.delete_key(key.id).await.unwrap());
        assert!(!world.storage.delete_key(key.id).await.unwrap());
        assert_eq!(world.storage.find_key(hash).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_key_of_no_account_is_refused() {
    on_each(async |world| {
        let (key, hash) = new_key(new_id());
        assert_not_found(world.storage.insert_key(key, hash).await, "account");
        assert!(!world.storage.has_keys().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn the_root_key_replaces_the_one_before_and_nothing_else() {
    on_each(async |world| {
        let account = Account { id: new_id(), name: "default".to_owned(), created_at: world.now() };
        let (ordinary, ordinary_hash) = new_key(world.account);
        world.storage.insert_key(ordinary, ordinary_hash).await.unwrap();

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
        world.storage.insert_key(key, hash).await.unwrap();
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
