//! Use cases of the audit log.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::{ApiKey, Scope, key_id_of};
use crate::audit::{Actor, AuditAction, AuditFilter, AuditRecord, Origin};
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id::{Id, IdRuns, kind};
use crate::page::{Page, PageRequest};
use crate::ports::{AuditStore, KeyStore};
use crate::timestamp::Timestamp;

/// The maximum number of keys and addresses whose failures are remembered at a time; others are ignored.
const MOST_FAILURES: usize = 10_000;

/// The failures of a key from an address since they were last stored.
#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    at: Timestamp,
    request_id: Id<kind::Request>,
}

type Pending = HashMap<(Id<kind::ApiKey>, Option<IpAddr>), Failures>;

/// Writes and reads the audit log.
#[derive(Clone)]
pub struct Audit {
    store: Arc<dyn AuditStore>,
    keys: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    ids: Arc<IdRuns>,
    /// Failed authentications that are not stored yet.
    failures: Arc<Mutex<Pending>>,
}

impl Audit {
    /// The use cases over these ports.
    pub fn new(
        store: Arc<dyn AuditStore>,
        keys: Arc<dyn KeyStore>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { store, keys, clock, entropy, ids: Arc::default(), failures: Arc::default() }
    }

    /// The record of a change that the holder of `key` makes now, for the transaction of that change.
    pub fn record(
        &self,
        key: &ApiKey,
        action: AuditAction,
        target_id: Option<String>,
        origin: Origin,
    ) -> AuditRecord {
        AuditRecord {
            id: self.ids.next(self.entropy.as_ref()),
            account_id: key.account_id,
            at: self.clock.now(),
            actor: Actor::ApiKey { id: key.id, name: key.name.clone() },
            action,
            target_id,
            origin,
            count: 1,
        }
    }

    /// Stores a record of something that the holder of `key` does now and that changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn note(
        &self,
        key: &ApiKey,
        action: AuditAction,
        target_id: Option<String>,
        origin: Origin,
    ) -> Result<(), Error> {
        self.store.insert_records(vec![self.record(key, action, target_id, origin)]).await
    }

    /// Remembers a request whose `secret` was not valid until [`Audit::store_failures`] stores it. A secret that names
    /// no key belongs to no account and is ignored.
    pub fn note_failure(
        &self,
        secret: &str,
        address: Option<IpAddr>,
        request_id: Id<kind::Request>,
    ) {
        let Some(key) = key_id_of(secret) else { return };
        let at = self.clock.now();
        let mut failures = self.failures();
        if failures.len() >= MOST_FAILURES && !failures.contains_key(&(key, address)) {
            return;
        }
        let entry = failures.entry((key, address)).or_insert(Failures { count: 0, at, request_id });
        *entry = Failures { count: entry.count.saturating_add(1), at, request_id };
    }

    /// Stores the failed authentications that were noted since the last time, one record for each key and address.
    /// Those of keys that no account had are omitted.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn store_failures(&self) -> Result<(), Error> {
        let failures = std::mem::take(&mut *self.failures());
        let outcome = self.store_these(&failures).await;
        if outcome.is_err() {
            // The next call stores them.
            let mut pending = self.failures();
            for (of, failure) in failures {
                let entry = pending.entry(of).or_insert(Failures { count: 0, ..failure });
                entry.count = entry.count.saturating_add(failure.count);
            }
        }
        outcome
    }

    async fn store_these(&self, failures: &Pending) -> Result<(), Error> {
        let mut records = Vec::new();
        for ((key, address), failure) in failures {
            let Some(account_id) = self.keys.owner_of_key(*key).await? else { continue };
            records.push(AuditRecord {
                id: self.ids.next(self.entropy.as_ref()),
                account_id,
                at: failure.at,
                actor: Actor::Unknown,
                action: AuditAction::AuthenticationFailed,
                target_id: Some(key.to_string()),
                origin: Origin { address: *address, request_id: Some(failure.request_id) },
                count: failure.count,
            });
        }
        if records.is_empty() { Ok(()) } else { self.store.insert_records(records).await }
    }

    /// The account's records, newest first. A key that is restricted to agents sees none, because records are about the
    /// whole account.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn list(
        &self,
        scope: &Scope,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditRecord>, Error> {
        if scope.agents.is_some() {
            return Ok(Page { items: Vec::new(), next: None });
        }
        self.store.list_records(scope.account, filter, page).await
    }

    fn failures(&self) -> MutexGuard<'_, Pending> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
