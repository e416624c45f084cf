//! The store ports: accounts and keys, agents, sources, uploads, conversations, idempotency.
//!
//! Every method fails with [`Error::Unavailable`] if the database cannot be reached, is busy beyond its timeout or has
//! no space, and with [`Error::Internal`] if its content is not valid; in both cases nothing was changed. A method that
//! takes a [`Completion`] fails with [`Error::ClaimLost`], changing nothing, if the claim is no longer held.

use async_trait::async_trait;
use bytes::Bytes;

use crate::access::{Account, ApiKey, KeyHash, KeyPatch, Scope};
use crate::agent::{Agent, AgentFilter, AgentPatch};
use crate::audit::{AuditFilter, AuditRecord};
use crate::content::{PublicText, StoredDocument, StoredPassage};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::{Claim, Claimed, Completion, Fingerprint, IdempotencyKey, KeptAnswer};
use crate::job::NewJob;
use crate::managed::SetName;
use crate::page::{Page, PageRequest};
use crate::source::{CrawledPage, QaPair, Source, SourcePatch, SourceStatus, SourceType};
use crate::statistics::{DayRange, DayStatistics};
use crate::timestamp::Timestamp;
use crate::upload::{ObjectKey, Upload};
use crate::usage::{AccountQuotas, Consumption, Day, DayUsage, UsageFilter};

/// Accounts and their keys.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Adds an account. Fails with [`Error::Conflict`] if the name is taken.
    async fn insert_account(&self, account: Account) -> Result<(), Error>;
    /// All accounts, oldest first.
    async fn list_accounts(&self) -> Result<Vec<Account>, Error>;
    /// The account of that name; names are unique.
    async fn find_account(&self, name: &str) -> Result<Option<Account>, Error>;
    /// As [`find_account`](Self::find_account), by id.
    async fn find_account_by_id(&self, id: Id<kind::Account>) -> Result<Option<Account>, Error>;
    /// Adds a key. Fails with [`Error::NotFound`] if its account does not exist, and with
    /// [`Error::Conflict`] if the account has [`ACCOUNT_KEYS`](crate::limits::ACCOUNT_KEYS) that have not
    /// expired.
    async fn insert_key(
        &self,
        key: ApiKey,
        hash: KeyHash,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
    /// Adds a key that `maker` creates, for agents that exist for it. `maker` is checked as it is stored now. Fails
    /// with [`Error::Unauthorized`] if it has been deleted, with what [`ApiKey::check_no_wider`] fails with, with
    /// [`Error::Invalid`] for an agent that does not exist, and with [`Error::Conflict`] as [`KeyStore::insert_key`]
    /// does.
    async fn issue_key(
        &self,
        maker: &ApiKey,
        key: ApiKey,
        hash: KeyHash,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<ApiKey, Error>;
    /// The key of that id, if it exists for `reader`.
    async fn find_key_by_id(
        &self,
        reader: &ApiKey,
        id: Id<kind::ApiKey>,
    ) -> Result<Option<ApiKey>, Error>;
    /// Keys that exist for `reader`, newest first; only those that are managed in `set`, if it is given.
    async fn list_keys(
        &self,
        reader: &ApiKey,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Error>;
    /// Applies a change that `maker` makes to a key that it covers. Fails as [`KeyStore::issue_key`]
    /// does, with [`Error::NotFound`], and with what [`ApiKey::check_covers`] fails with.
    async fn update_key(
        &self,
        maker: &ApiKey,
        id: Id<kind::ApiKey>,
        patch: KeyPatch,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<ApiKey, Error>;
    /// Removes a key that `remover` covers. Fails with [`Error::Unauthorized`] if `remover` has been deleted, with
    /// [`Error::NotFound`], and with what [`ApiKey::check_covers`] fails with.
    async fn remove_key(
        &self,
        remover: &ApiKey,
        id: Id<kind::ApiKey>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
    /// Records when keys were last used; deleted keys are ignored.
    async fn note_uses(&self, uses: Vec<(Id<kind::ApiKey>, Timestamp)>) -> Result<(), Error>;
    /// The key with that hash, even if it has expired.
    async fn find_key(&self, hash: KeyHash) -> Result<Option<ApiKey>, Error>;
    /// Makes `key` (with `hash`) the one root key of `account`, creating the account if it does not exist; an earlier
    /// root key stops working. One transaction. If the root key already has this hash, it stays the same key and gets
    /// the permissions, agents and expiry of `key`.
    async fn set_root_key(&self, account: Account, key: ApiKey, hash: KeyHash)
    -> Result<(), Error>;
    /// Makes `key` (with `hash`) the root key of `account`, creating the account if it does not exist, and returns true;
    /// if any key exists, changes no key and returns false. One transaction: of servers that start together, one adds a key.
    async fn insert_first_key(
        &self,
        account: Account,
        key: ApiKey,
        hash: KeyHash,
    ) -> Result<bool, Error>;
    /// Whether any key exists.
    async fn has_keys(&self) -> Result<bool, Error>;
    /// Removes a key of any account and returns it; `None` if there is none.
    async fn delete_key(
        &self,
        id: Id<kind::ApiKey>,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<Option<ApiKey>, Error>;
    /// The account that a key belongs to, or belonged to before it was deleted.
    async fn owner_of_key(&self, id: Id<kind::ApiKey>) -> Result<Option<Id<kind::Account>>, Error>;
    /// The installation's own secret for signing cursors: 32 random bytes, `candidate` if none
    /// is stored yet.
    async fn installation_secret(&self, candidate: [u8; 32]) -> Result<[u8; 32], Error>;
}

/// Agents and the identities by which sets manage them.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// Adds an agent. Fails with [`Error::Conflict`] if another one has the same managed identity.
    async fn insert_agent(
        &self,
        agent: Agent,
        completion: Option<Completion<Agent>>,
    ) -> Result<Agent, Error>;
    /// `None` if the account has no such agent.
    async fn find_agent(&self, scope: &Scope, id: Id<kind::Agent>) -> Result<Option<Agent>, Error>;
    /// Agents, newest first.
    async fn list_agents(
        &self,
        scope: &Scope,
        filter: AgentFilter,
        page: PageRequest,
    ) -> Result<Page<Agent>, Error>;
    /// Applies a change. Fails with [`Error::NotFound`], and with [`Error::Conflict`] if another agent has the same
    /// managed identity.
    async fn update_agent(
        &self,
        scope: &Scope,
        id: Id<kind::Agent>,
        patch: AgentPatch,
        now: Timestamp,
        completion: Option<Completion<Agent>>,
    ) -> Result<Agent, Error>;
    /// Removes an agent with its sources, their documents, passages, pages and jobs, its
    /// conversations, and the stored answers that contain any of it; uploads that no other source
    /// uses are removed and their objects noted as discarded. Fails with [`Error::NotFound`].
    async fn delete_agent(
        &self,
        scope: &Scope,
        id: Id<kind::Agent>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
}

/// Which sources a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceFilter {
    /// Only those with this status.
    pub status: Option<SourceStatus>,
    /// Only those with this type.
    pub source_type: Option<SourceType>,
    /// Only those that are managed in this set.
    pub set: Option<SetName>,
}

/// Sources and what was extracted from them.
#[async_trait]
pub trait SourceStore: Send + Sync {
    /// Adds a source in the state pending, with the job `job` to process it. Fails with
    /// [`Error::NotFound`] if the agent is not in `scope`, with [`Error::Invalid`] on `content` if it
    /// names an upload that does not exist in the account, with [`Error::Conflict`] if another source of the agent has
    /// the same managed identity, and with [`Error::BytesExceeded`].
    async fn insert_source(
        &self,
        scope: &Scope,
        source: Source,
        job: NewJob,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error>;
    /// `None` if the account's agent has no such source.
    async fn find_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
    ) -> Result<Option<Source>, Error>;
    /// Sources of an agent, newest first. Fails with [`Error::NotFound`] if the agent is not in
    /// `scope`.
    async fn list_sources(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: SourceFilter,
        page: PageRequest,
    ) -> Result<Page<Source>, Error>;
    /// Applies a change. Fails with [`Error::NotFound`], as [`Source::apply`] does, and with [`Error::Conflict`] if another
    /// source of its agent has the same managed identity.
    async fn update_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        patch: SourcePatch,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error>;
    /// Starts a refresh: the source goes to processing and the job `job` is queued. Fails with [`Error::NotFound`],
    /// with [`Error::InvalidOperation`] if it is not a website, and with [`Error::Conflict`] while it is being
    /// processed, and with [`Error::BytesExceeded`] if the account already stores more than it may.
    async fn refresh_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        job: NewJob,
        now: Timestamp,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error>;
    /// Adds pairs to the content of a source: it goes to processing and the job `job` is queued. Fails with
    /// [`Error::NotFound`], as [`Source::add_pairs`] does, and with [`Error::BytesExceeded`].
    async fn add_pairs(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        pairs: Vec<QaPair>,
        job: NewJob,
        now: Timestamp,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error>;
    /// Removes a source with its documents, passages, pages and job, and the stored answers that
    /// contain it; raises the agent's generation if it had content; removes its upload if no
    /// other source uses it, noting the object as discarded. Returns what it was. Fails with
    /// [`Error::NotFound`].
    async fn delete_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<Source, Error>;
    /// The document with that id, of the last trained content of its source.
    async fn find_document(
        &self,
        scope: &Scope,
        id: Id<kind::Document>,
    ) -> Result<Option<StoredDocument>, Error>;
    /// The first [`PUBLIC_TEXT_BYTES`](crate::limits::PUBLIC_TEXT_BYTES) of a document of any account, if its agent
    /// publishes its sources.
    async fn find_public_text(&self, id: Id<kind::Document>) -> Result<Option<PublicText>, Error>;
    /// What was extracted from it, in order. Fails with [`Error::NotFound`].
    async fn list_documents(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        page: PageRequest,
    ) -> Result<Page<StoredDocument>, Error>;
    /// Its passages, in order, or those of one document. Fails with [`Error::NotFound`].
    async fn list_passages(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        document: Option<Id<kind::Document>>,
        page: PageRequest,
    ) -> Result<Page<StoredPassage>, Error>;
    /// The pages that its last crawl has visited, whether it is running, failed or completed, in the order in which
    /// they were found. Fails with [`Error::NotFound`], and with [`Error::InvalidOperation`] if it is not a website.
    async fn list_pages(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        page: PageRequest,
    ) -> Result<Page<CrawledPage>, Error>;
}

/// Uploaded files: the rows.
#[async_trait]
pub trait UploadStore: Send + Sync {
    /// Records that an object is about to be written. It is discarded at `deadline` unless
    /// [`UploadStore::insert_upload`] is committed before, so that a crash leaves no orphan.
    async fn expect_object(&self, key: &ObjectKey, deadline: Timestamp) -> Result<(), Error>;
    /// Adds an upload whose object is written, and takes back its note. Fails with
    /// [`Error::BytesExceeded`]; the note then stays.
    async fn insert_upload(
        &self,
        upload: Upload,
        completion: Option<Completion<Upload>>,
    ) -> Result<Upload, Error>;
    /// `None` if the account has no such upload.
    async fn find_upload(
        &self,
        scope: &Scope,
        id: Id<kind::Upload>,
    ) -> Result<Option<Upload>, Error>;
    /// Removes an upload and notes its object as discarded. Fails with [`Error::NotFound`], and
    /// with [`Error::Conflict`] while a source uses it.
    async fn delete_upload(
        &self,
        scope: &Scope,
        id: Id<kind::Upload>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
}

/// Uploaded files: the bytes.
#[async_trait]
pub trait ObjectStore: Send + Sync {
    /// Writes an object atomically, replacing one with that name.
    async fn put(&self, key: &ObjectKey, bytes: Bytes) -> Result<(), Error>;
    /// Reads an object; `None` if it does not exist.
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>, Error>;
    /// Removes an object, and what an interrupted [`ObjectStore::put`] left of it; no error if
    /// there is neither.
    async fn delete(&self, key: &ObjectKey) -> Result<(), Error>;
}

/// Where bytes are kept outside of memory, without a name: files while they arrive, and answers whose clients read slowly.
#[async_trait]
pub trait Spool: Send + Sync {
    /// A new, empty file.
    fn file(&self) -> Box<dyn SpooledFile>;
    /// Writes `bytes` to a file that is then read piece by piece.
    async fn put_aside(&self, bytes: Bytes) -> Result<Box<dyn PutAside>, Error>;
}

/// Bytes outside of memory, which are read once, from their beginning to their end.
///
/// Invariant: they are removed when this handle is dropped and when the process ends, even if the process is killed.
#[async_trait]
pub trait PutAside: Send {
    /// The next piece, of at most `most` bytes; empty at the end. If it fails, nothing more can be read.
    async fn next(&mut self, most: usize) -> Result<Bytes, Error>;
}

/// A file that is written once, from its beginning to its end, and then read.
///
/// Invariant: it is removed when this handle is dropped and when the process ends, even if the process is killed.
#[async_trait]
pub trait SpooledFile: Send {
    /// Adds a piece at the end. If it fails, the file is no longer usable.
    async fn append(&mut self, piece: Bytes) -> Result<(), Error>;
    /// Everything that was written.
    async fn into_bytes(self: Box<Self>) -> Result<Bytes, Error>;
}

/// The audit log. Records of changes are written with these: see [`Completion`].
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Adds records that do not belong to a change.
    async fn insert_records(&self, records: Vec<AuditRecord>) -> Result<(), Error>;
    /// An account's records, newest first.
    async fn list_records(
        &self,
        account: Id<kind::Account>,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditRecord>, Error>;
}

/// The usage and quotas of accounts. Messages are counted by the store that keeps them.
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// What an account may use in a month; the defaults if it does not exist.
    async fn account_quotas(&self, account: Id<kind::Account>) -> Result<AccountQuotas, Error>;
    /// Sets the quotas of the account of that name, unless `change` is `None`. Returns the account and the quotas that
    /// apply. Fails with [`Error::NotFound`].
    async fn set_quotas(
        &self,
        name: &str,
        change: Option<AccountQuotas>,
    ) -> Result<(Id<kind::Account>, AccountQuotas), Error>;
    /// What an account used in the month of UTC that begins on the day `month`.
    async fn consumption(
        &self,
        account: Id<kind::Account>,
        month: Day,
    ) -> Result<Consumption, Error>;
    /// Bytes of an account's sources, with what was extracted from them, and of its files.
    async fn kept_bytes(&self, account: Id<kind::Account>) -> Result<u64, Error>;
    /// Usage by day and agent, the latest day first, ties by agent.
    async fn list_usage(
        &self,
        scope: &Scope,
        filter: UsageFilter,
        page: PageRequest,
    ) -> Result<Page<DayUsage>, Error>;
    /// The outcome of an agent's messages by day, latest day first, without days that have no messages. Fails with
    /// [`Error::NotFound`].
    async fn list_statistics(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        days: DayRange,
        page: PageRequest,
    ) -> Result<Page<DayStatistics>, Error>;
}

/// Idempotency records.
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Claims a key of the scope's account for a request: a separate short transaction. An expired record and a claim
    /// whose lease has expired count as free. `token` names the new claim; `scope` is what the caller can see. A request
    /// that deletes claims its key on a full disk too.
    async fn claim(
        &self,
        scope: &Scope,
        key: &IdempotencyKey,
        fingerprint: Fingerprint,
        token: String,
        deletes: bool,
        now: Timestamp,
    ) -> Result<Claimed, Error>;
    /// Stores the response to a request that had no effect (a 404, 409 or 422). Does nothing if the claim was lost.
    async fn complete(&self, claim: &Claim, answer: KeptAnswer) -> Result<(), Error>;
    /// Frees the key: the request was refused or failed, and may be repeated.
    async fn release(&self, claim: &Claim) -> Result<(), Error>;
}

/// Whether the database can serve.
#[async_trait]
pub trait Health: Send + Sync {
    /// Succeeds if the database responds and has the schema of this program.
    async fn check(&self) -> Result<(), Error>;
    /// Succeeds unless writes fail because the disk is full or the database does not accept them. Writes only if the
    /// last write failed in this way, at most once a second.
    async fn check_writes(&self) -> Result<(), Error>;
}
