//! Use cases of accounts and API keys.

use std::sync::Arc;

use crate::access::{Account, ApiKey, DEFAULT_ACCOUNT, KeySecret, Permissions, parse_key_name};
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::ports::KeyStore;
use crate::timestamp::Timestamp;

/// A key to create.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// A name for people.
    pub name: String,
    /// What it may do.
    pub permissions: Permissions,
    /// The only agents that exist for it.
    pub agent_ids: Option<Vec<Id<kind::Agent>>>,
    /// When it stops to work.
    pub expires_at: Option<Timestamp>,
}

/// What a start found or made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootKey {
    /// The operator's own key is in place.
    Configured,
    /// The database was empty: this one was made, to be shown once.
    Generated(KeySecret),
    /// Keys exist already.
    Existing,
}

/// Accounts, keys and who a request is from.
#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Keys {
    /// The use cases over these ports.
    pub fn new(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy }
    }

    /// The key that `secret` belongs to; none where it is unknown, mistyped or expired.
    ///
    /// The secret is compared by its SHA-256 in an index lookup, so the time that takes tells
    /// nothing about it.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<ApiKey>, Error> {
        let Ok(secret) = secret.parse::<KeySecret>() else { return Ok(None) };
        let key = self.store.find_key(secret.hash()).await?;
        Ok(key.filter(|key| !key.is_expired(self.clock.now())))
    }

    /// Makes sure that somebody can get in: puts the operator's root key in place, or makes one
    /// where no key exists at all.
    pub async fn ensure_root(&self, configured: Option<KeySecret>) -> Result<RootKey, Error> {
        let given = configured.is_some();
        if !given && self.store.has_keys().await? {
            return Ok(RootKey::Existing);
        }
        let now = self.clock.now();
        let id = Id::random(self.entropy.as_ref());
        let secret = configured.unwrap_or_else(|| KeySecret::generate(id, self.entropy.as_ref()));
        let account = Account {
            id: Id::random(self.entropy.as_ref()),
            name: DEFAULT_ACCOUNT.to_owned(),
            created_at: now,
        };
        let key = ApiKey {
            id,
            account_id: account.id,
            name: "root".to_owned(),
            permissions: Permissions::ALL,
            agent_ids: None,
            expires_at: None,
            created_at: now,
            hint: secret.hint(),
        };
        self.store.set_root_key(account, key, secret.hash()).await?;
        Ok(if given { RootKey::Configured } else { RootKey::Generated(secret) })
    }

    /// Adds an account. Fails with [`Error::Conflict`] where the name is taken.
    pub async fn create_account(&self, name: String) -> Result<Account, Error> {
        let account = Account {
            id: Id::random(self.entropy.as_ref()),
            name: parse_key_name("name", name)?,
            created_at: self.clock.now(),
        };
        self.store.insert_account(account.clone()).await?;
        Ok(account)
    }

    /// All accounts, oldest first.
    pub async fn accounts(&self) -> Result<Vec<Account>, Error> {
        self.store.list_accounts().await
    }

    /// Adds a key to the account of that name. The secret is in the answer and nowhere else.
    /// Fails with [`Error::NotFound`] for the account.
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
        let id = Id::random(self.entropy.as_ref());
        let secret = KeySecret::generate(id, self.entropy.as_ref());
        let key = ApiKey {
            id,
            account_id: owner.id,
            name: parse_key_name("name", new.name)?,
            permissions: new.permissions,
            agent_ids: new.agent_ids,
            expires_at: new.expires_at,
            created_at: self.clock.now(),
            hint: secret.hint(),
        };
        self.store.insert_key(key.clone(), secret.hash()).await?;
        Ok((key, secret))
    }

    /// Revokes a key. Fails with [`Error::NotFound`].
    pub async fn revoke_key(&self, id: Id<kind::ApiKey>) -> Result<(), Error> {
        if self.store.delete_key(id).await? { Ok(()) } else { Err(Error::not_found("API key", id)) }
    }

    /// The secret that cursors are signed with.
    pub async fn cursor_secret(&self) -> Result<[u8; 32], Error> {
        let mut candidate = [0; 32];
        self.entropy.fill(&mut candidate);
        self.store.installation_secret(candidate).await
    }
}
