//! Use cases of accounts and API keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::{
    Account, AccountName, ApiKey, KeyName, KeyPatch, KeySecret, Permissions, check_expiry,
};
use crate::audit::{Actor, AuditAction, AuditRecord, Origin};
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::managed::{Managed, SetName};
use crate::page::{Page, PageRequest};
use crate::ports::KeyStore;
use crate::timestamp::Timestamp;

/// A key to create.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// A human-readable name.
    pub name: KeyName,
    /// What it may do.
    pub permissions: Permissions,
    /// The agents that it is restricted to; `None` for all agents of the account.
    pub agent_ids: Option<Vec<Id<kind::Agent>>>,
    /// When it stops working; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
}

/// A newly created key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The key without its secret.
    pub key: ApiKey,
    /// Its secret; `None` in a stored answer, because secrets are not stored.
    pub secret: Option<KeySecret>,
}

/// The root key that a start found or created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootKey {
    /// The operator's own key is in place.
    Configured,
    /// The database was empty: this key was created, to be shown once.
    Generated(KeySecret),
    /// Keys exist already.
    Existing,
}

/// Accounts, keys, and the authentication of requests.
#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// Uses that are not stored yet.
    uses: Arc<Mutex<HashMap<Id<kind::ApiKey>, Timestamp>>>,
}

impl Keys {
    /// The use cases over these ports.
    pub fn new(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy, uses: Arc::default() }
    }

    /// The key that `secret` belongs to; `None` if it is unknown, mistyped or expired.
    ///
    /// The secret is compared by its SHA-256 in an index lookup, so the time that it takes reveals nothing about it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn authenticate(&self, secret: &str) -> Result<Option<ApiKey>, Error> {
        let Ok(secret) = secret.parse::<KeySecret>() else { return Ok(None) };
        let key = self.store.find_key(secret.hash()).await?;
        Ok(key.filter(|key| !key.is_expired(self.clock.now())))
    }

    /// Ensures that there is a key with which the service can be used: installs the operator's root key, with all
    /// permissions even if it was changed, or creates one if there are no keys.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn ensure_root(&self, configured: Option<KeySecret>) -> Result<RootKey, Error> {
        if configured.is_none() && self.store.has_keys().await? {
            return Ok(RootKey::Existing);
        }
        let now = self.clock.now();
        let id = Id::random(self.entropy.as_ref());
        let account = Account {
            id: Id::random(self.entropy.as_ref()),
            name: AccountName::default(),
            created_at: now,
        };
        let key = |secret: &KeySecret| ApiKey {
            id,
            account_id: account.id,
            name: KeyName::of_root(),
            permissions: Permissions::ALL,
            agent_ids: None,
            expires_at: None,
            last_used_at: None,
            created_at: now,
            hint: secret.hint(),
            managed: None,
        };
        if let Some(secret) = configured {
            let key = key(&secret);
            self.store.set_root_key(account, key, secret.hash()).await?;
            return Ok(RootKey::Configured);
        }
        let secret = KeySecret::generate(id, self.entropy.as_ref());
        let key = key(&secret);
        // Another server that starts at the same time may have been faster.
        let is_first = self.store.insert_first_key(account, key, secret.hash()).await?;
        Ok(if is_first { RootKey::Generated(secret) } else { RootKey::Existing })
    }

    /// Adds an account.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] if the name is taken.
    pub async fn create_account(&self, name: AccountName) -> Result<Account, Error> {
        let account =
            Account { id: Id::random(self.entropy.as_ref()), name, created_at: self.clock.now() };
        self.store.insert_account(account.clone()).await?;
        Ok(account)
    }

    /// The account of a key.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn account(&self, id: Id<kind::Account>) -> Result<Account, Error> {
        let found = self.store.find_account_by_id(id).await?;
        found.ok_or_else(|| Error::not_found("account", id))
    }

    /// All accounts, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn accounts(&self) -> Result<Vec<Account>, Error> {
        self.store.list_accounts().await
    }

    /// Adds a key to the account of that name. The secret is only in the result.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the account, [`Error::Invalid`] for an expiry in the past, and [`Error::Conflict`] as
    /// [`KeyStore::insert_key`] does.
    pub async fn create_key(
        &self,
        account: &str,
        new: NewKey,
    ) -> Result<(ApiKey, KeySecret), Error> {
        let owner = self
            .store
            .find_account(account)
            .await?
            .ok_or_else(|| Error::not_found("account", account))?;
        if let Some(end) = new.expires_at {
            check_expiry(end, self.clock.now())?;
        }
        let (key, secret) = self.made(owner.id, new);
        let record = self.by_operator(&key, AuditAction::ApiKeyCreated);
        let completion = Completion::recording(move |()| record.clone());
        self.store.insert_key(key.clone(), secret.hash(), Some(completion)).await?;
        Ok((key, secret))
    }

    /// Creates a key for the caller's account with at most the caller's permissions: see [`ApiKey::check_no_wider`].
    /// The secret is only in the result of this call; the completion stores the response without it.
    ///
    /// # Errors
    ///
    /// As [`KeyStore::issue_key`].
    pub async fn issue(
        &self,
        caller: &ApiKey,
        new: NewKey,
        completion: Option<Completion<Issued>>,
    ) -> Result<Issued, Error> {
        let (key, secret) = self.made(caller.account_id, new);
        let kept = |key: &ApiKey| Issued { key: key.clone(), secret: None };
        let completion = completion.map(|completion| completion.over(kept));
        let key = self.store.issue_key(caller, key, secret.hash(), completion).await?;
        Ok(Issued { key, secret: Some(secret) })
    }

    /// The key with this id.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none that the caller may manage.
    pub async fn find(&self, caller: &ApiKey, id: Id<kind::ApiKey>) -> Result<ApiKey, Error> {
        let found = self.store.find_key_by_id(caller, id).await?;
        found.ok_or_else(|| Error::not_found("API key", id))
    }

    /// Keys, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn list(
        &self,
        caller: &ApiKey,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Error> {
        self.store.list_keys(caller, set, page).await
    }

    /// Changes a key that the caller's key covers into one that it still covers.
    ///
    /// # Errors
    ///
    /// Those of [`KeyStore::update_key`].
    pub async fn update(
        &self,
        caller: &ApiKey,
        id: Id<kind::ApiKey>,
        patch: KeyPatch,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<ApiKey, Error> {
        self.store.update_key(caller, id, patch, completion).await
    }

    /// Deletes a key that the caller's key covers.
    ///
    /// # Errors
    ///
    /// Those of [`KeyStore::remove_key`], and [`Error::InvalidOperation`] for the caller's own.
    pub async fn delete(
        &self,
        caller: &ApiKey,
        id: Id<kind::ApiKey>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        if id == caller.id {
            let text = "a key cannot delete itself; use another one, or the command line";
            return Err(Error::InvalidOperation(text.to_owned()));
        }
        self.store.remove_key(caller, id, completion).await
    }

    /// Remembers that a key was used, until [`Keys::store_uses`] stores it.
    pub fn note_use(&self, id: Id<kind::ApiKey>) {
        let now = self.clock.now();
        self.uses().insert(id, now);
    }

    /// Stores the uses that were noted since the last call. If that fails, the next call stores them.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn store_uses(&self) -> Result<(), Error> {
        let uses = std::mem::take(&mut *self.uses());
        if uses.is_empty() {
            return Ok(());
        }
        let outcome = self.store.note_uses(uses.iter().map(|(id, at)| (*id, *at)).collect()).await;
        if outcome.is_err() {
            // The next call stores them; uses noted since then are newer and are kept.
            let mut noted = self.uses();
            for (id, at) in uses {
                noted.entry(id).or_insert(at);
            }
        }
        outcome
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<Id<kind::ApiKey>, Timestamp>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new key as it is stored, and its secret.
    fn made(&self, account: Id<kind::Account>, new: NewKey) -> (ApiKey, KeySecret) {
        let id = Id::random(self.entropy.as_ref());
        let secret = KeySecret::generate(id, self.entropy.as_ref());
        let key = ApiKey {
            id,
            account_id: account,
            name: new.name,
            permissions: new.permissions,
            agent_ids: new.agent_ids,
            expires_at: new.expires_at,
            last_used_at: None,
            created_at: self.clock.now(),
            hint: secret.hint(),
            managed: new.managed,
        };
        (key, secret)
    }

    /// Revokes a key of any account.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn revoke_key(&self, id: Id<kind::ApiKey>) -> Result<(), Error> {
        let keys = self.clone();
        let completion = Completion::recording(move |key: &ApiKey| {
            keys.by_operator(key, AuditAction::ApiKeyDeleted)
        });
        let deleted = self.store.delete_key(id, Some(completion)).await?;
        deleted.map(drop).ok_or_else(|| Error::not_found("API key", id))
    }

    /// The record of what the operator does to a key.
    fn by_operator(&self, key: &ApiKey, action: AuditAction) -> AuditRecord {
        AuditRecord {
            id: Id::random(self.entropy.as_ref()),
            account_id: key.account_id,
            at: self.clock.now(),
            actor: Actor::CommandLine,
            action,
            target_id: Some(key.id.to_string()),
            origin: Origin::default(),
            count: 1,
        }
    }

    /// The secret that cursors are signed with.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn cursor_secret(&self) -> Result<[u8; 32], Error> {
        let mut candidate = [0; 32];
        self.entropy.fill(&mut candidate);
        self.store.installation_secret(candidate).await
    }
}
