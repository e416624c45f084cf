//! Accounts, keys, and the installation's own values.
//!
//! A transaction that adds, changes or removes a key locks the row of its account first. Keys and
//! secrets of an account therefore change one after the other, and the key that makes such a change
//! still exists when the change is committed.

mod managed;

use async_trait::async_trait;
use cicerone_domain::access::{AccountName, KeyHash, KeyName, KeyPatch, account_name_taken};
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::managed::SetName;
use cicerone_domain::ports::KeyStore;
use cicerone_domain::{
    Account, ApiKey, Entropy as _, Error, Id, Page, PageRequest, Permissions, SystemEntropy,
    Timestamp,
};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as DieselError};

use crate::audit;
use crate::columns::{self, from_json, id, time, to_json};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::managed::{columns as managed_columns, from_columns};
use crate::schema::{accounts, api_keys, installation};
use crate::storage::Storage;

pub(crate) use managed::check_acting;

/// The name of the secret among the installation's values. Cursors were the first to need it.
const SECRET: &str = "cursor_secret";

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = accounts)]
pub(crate) struct AccountRow {
    id: String,
    name: String,
    created_at: i64,
}

#[derive(Clone, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = api_keys, treat_none_as_default_value = false, treat_none_as_null = true)]
struct KeyRow {
    id: String,
    account_id: String,
    hash: Vec<u8>,
    name: String,
    permissions: String,
    agent_ids: Option<String>,
    is_root: bool,
    hint: String,
    expires_at: Option<i64>,
    last_used_at: Option<i64>,
    created_at: i64,
    managed_set: Option<String>,
    managed_key: Option<String>,
    managed_hash: Option<String>,
}

impl From<&Account> for AccountRow {
    fn from(account: &Account) -> Self {
        Self {
            id: account.id.to_string(),
            name: account.name.to_string(),
            created_at: account.created_at.as_millis(),
        }
    }
}

impl TryFrom<AccountRow> for Account {
    type Error = TransactionError;

    fn try_from(row: AccountRow) -> Result<Self, TransactionError> {
        Ok(Self {
            id: id("accounts.id", &row.id)?,
            name: AccountName::from_stored(row.name),
            created_at: time(row.created_at),
        })
    }
}

impl KeyRow {
    fn new(key: &ApiKey, hash: Vec<u8>, is_root: bool) -> Result<Self, TransactionError> {
        let (managed_set, managed_key, managed_hash) = managed_columns(key.managed.as_ref());
        Ok(Self {
            id: key.id.to_string(),
            account_id: key.account_id.to_string(),
            hash,
            name: key.name.to_string(),
            permissions: to_json(&key.permissions.names())?,
            agent_ids: key.agent_ids.as_ref().map(to_json).transpose()?,
            is_root,
            hint: key.hint.clone(),
            expires_at: key.expires_at.map(|end| end.as_millis()),
            last_used_at: key.last_used_at.map(|at| at.as_millis()),
            created_at: key.created_at.as_millis(),
            managed_set,
            managed_key,
            managed_hash,
        })
    }

    fn into_key(self) -> Result<ApiKey, TransactionError> {
        let permissions: Vec<String> = from_json(&self.permissions)?;
        Ok(ApiKey {
            id: id("api_keys.id", &self.id)?,
            account_id: id("api_keys.account_id", &self.account_id)?,
            name: KeyName::from_stored(self.name),
            permissions: Permissions::from_names(permissions.iter().map(String::as_str))
                .map_err(TransactionError::internal)?,
            agent_ids: self.agent_ids.as_deref().map(from_json).transpose()?,
            expires_at: self.expires_at.map(time),
            last_used_at: self.last_used_at.map(time),
            created_at: time(self.created_at),
            hint: self.hint,
            managed: from_columns((self.managed_set, self.managed_key, self.managed_hash)),
        })
    }
}

/// The secret of the installation, within a change. It is created if it is missing.
pub(crate) fn secret(c: &mut AnyConnection) -> Result<[u8; 32], TransactionError> {
    if let Some(secret) = stored_secret(c)? {
        return Ok(secret);
    }
    let mut candidate = [0; 32];
    SystemEntropy.fill(&mut candidate);
    secret_or(c, &candidate)
}

/// The secret of the installation, `candidate` if there is none yet.
fn secret_or(c: &mut AnyConnection, candidate: &[u8; 32]) -> Result<[u8; 32], TransactionError> {
    dialect::insert_installation_once(c, SECRET, candidate)?;
    stored_secret(c)?
        .ok_or_else(|| TransactionError::internal("the installation's secret is missing"))
}

fn stored_secret(c: &mut AnyConnection) -> Result<Option<[u8; 32]>, TransactionError> {
    let row = installation::table.find(SECRET).select(installation::value);
    let stored: Option<Vec<u8>> = row.get_result(c).optional()?;
    let malformed = |bytes: Vec<u8>| {
        let cause = format!("the installation's secret has {} bytes instead of 32", bytes.len());
        TransactionError::internal(cause)
    };
    stored.map(|bytes| bytes.try_into().map_err(malformed)).transpose()
}

/// Writes the installation's secret unchanged, to test whether writes work.
pub(crate) fn rewrite_secret(c: &mut AnyConnection) -> Result<(), TransactionError> {
    diesel::update(installation::table.find(SECRET))
        .set(installation::value.eq(installation::value))
        .execute(c)?;
    Ok(())
}

#[async_trait]
impl KeyStore for Storage {
    async fn insert_account(&self, account: Account) -> Result<(), Error> {
        self.db
            .write(move |c| {
                let row = AccountRow::from(&account);
                match diesel::insert_into(accounts::table).values(row).execute(c) {
                    Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
                        Err(account_name_taken(&account.name).into())
                    }
                    other => Ok(other.map(|_| ())?),
                }
            })
            .await
    }

    async fn list_accounts(&self) -> Result<Vec<Account>, Error> {
        self.db
            .read(|c| {
                accounts::table
                    .order((accounts::created_at, accounts::id))
                    .select(AccountRow::as_select())
                    .load(c)?
                    .into_iter()
                    .map(Account::try_from)
                    .collect()
            })
            .await
    }

    async fn find_account(&self, name: &str) -> Result<Option<Account>, Error> {
        let name = name.to_owned();
        self.db
            .lookup(move |c| {
                accounts::table
                    .filter(accounts::name.eq(&name))
                    .select(AccountRow::as_select())
                    .get_result(c)
                    .optional()?
                    .map(Account::try_from)
                    .transpose()
            })
            .await
    }

    async fn find_account_by_id(&self, id: Id<kind::Account>) -> Result<Option<Account>, Error> {
        self.db
            .of(id)
            .lookup(move |c| {
                accounts::table
                    .find(id.to_string())
                    .select(AccountRow::as_select())
                    .get_result(c)
                    .optional()?
                    .map(Account::try_from)
                    .transpose()
            })
            .await
    }

    async fn insert_key(
        &self,
        key: ApiKey,
        hash: KeyHash,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.db
            .write_completing(completion, move |c| {
                let account = key.account_id.to_string();
                dialect::lock_account_row(c, &account)?;
                managed::make_room(c, &account, key.created_at)?;
                let row = KeyRow::new(&key, hash.as_bytes().to_vec(), false)?;
                match diesel::insert_into(api_keys::table).values(row).execute(c) {
                    Err(DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)) => {
                        Err(Error::not_found("account", key.account_id).into())
                    }
                    other => Ok(other.map(|_| ())?),
                }
            })
            .await
    }

    async fn issue_key(
        &self,
        maker: &ApiKey,
        key: ApiKey,
        hash: KeyHash,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<ApiKey, Error> {
        let maker = maker.clone();
        self.db
            .of(maker.account_id)
            .write_completing(completion, move |c| {
                managed::insert(c, &maker, &key, hash)?;
                Ok(key.clone())
            })
            .await
    }

    async fn find_key_by_id(
        &self,
        reader: &ApiKey,
        id: Id<kind::ApiKey>,
    ) -> Result<Option<ApiKey>, Error> {
        let reader = reader.clone();
        self.db
            .of(reader.account_id)
            .lookup(move |c| Ok(managed::find(c, &reader, id)?.map(|(key, _)| key)))
            .await
    }

    async fn list_keys(
        &self,
        reader: &ApiKey,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Error> {
        let reader = reader.clone();
        self.db
            .of(reader.account_id)
            .read(move |c| managed::list(c, &reader, set.as_ref(), &page))
            .await
    }

    async fn update_key(
        &self,
        maker: &ApiKey,
        id: Id<kind::ApiKey>,
        patch: KeyPatch,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<ApiKey, Error> {
        let maker = maker.clone();
        self.db
            .of(maker.account_id)
            .write_completing(completion, move |c| managed::update(c, &maker, id, patch.clone()))
            .await
    }

    async fn remove_key(
        &self,
        remover: &ApiKey,
        id: Id<kind::ApiKey>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let remover = remover.clone();
        self.db
            .of(remover.account_id)
            .free_completing(completion, move |c| managed::remove(c, &remover, id))
            .await
    }

    async fn note_uses(&self, uses: Vec<(Id<kind::ApiKey>, Timestamp)>) -> Result<(), Error> {
        self.db.write(move |c| managed::note_uses(c, &uses)).await
    }

    async fn find_key(&self, hash: KeyHash) -> Result<Option<ApiKey>, Error> {
        self.db
            .lookup(move |c| {
                api_keys::table
                    .filter(api_keys::hash.eq(hash.as_bytes().as_slice()))
                    .select(KeyRow::as_select())
                    .get_result(c)
                    .optional()?
                    .map(KeyRow::into_key)
                    .transpose()
            })
            .await
    }

    async fn set_root_key(
        &self,
        account: Account,
        key: ApiKey,
        hash: KeyHash,
    ) -> Result<(), Error> {
        // A start with the same key writes nothing, so that it also works on a full disk.
        let (owner, wanted) = (account.name.clone(), key.clone());
        if self.db.lookup(move |c| is_root_key(c, &owner, &wanted, hash)).await? {
            return Ok(());
        }
        self.db.write(move |c| set_root_key(c, &account, &key, hash)).await
    }

    async fn insert_first_key(
        &self,
        account: Account,
        key: ApiKey,
        hash: KeyHash,
    ) -> Result<bool, Error> {
        self.db.write(move |c| insert_first_key(c, &account, &key, hash)).await
    }

    async fn has_keys(&self) -> Result<bool, Error> {
        self.db.lookup(|c| Ok(has_keys(c)?)).await
    }

    async fn delete_key(
        &self,
        id: Id<kind::ApiKey>,
        completion: Option<Completion<ApiKey>>,
    ) -> Result<Option<ApiKey>, Error> {
        let deleted = self.db.free_completing(completion, move |c| {
            let found = |c: &mut AnyConnection| -> Result<KeyRow, TransactionError> {
                let query = api_keys::table.find(id.to_string()).select(KeyRow::as_select());
                let row: Option<KeyRow> = query.get_result(c).optional()?;
                row.ok_or_else(|| Error::not_found("API key", id).into())
            };
            let account = found(c)?.account_id;
            dialect::lock_account_row(c, &account)?;
            let row = found(c)?;
            diesel::delete(api_keys::table.find(id.to_string())).execute(c)?;
            row.into_key()
        });
        match deleted.await {
            Err(Error::NotFound { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    async fn owner_of_key(&self, id: Id<kind::ApiKey>) -> Result<Option<Id<kind::Account>>, Error> {
        self.db
            .lookup(move |c| {
                let key = id.to_string();
                let found: Option<String> = api_keys::table
                    .find(&key)
                    .select(api_keys::account_id)
                    .get_result(c)
                    .optional()?;
                let found = match found {
                    Some(account) => Some(account),
                    None => audit::owner_of_deleted(c, &key)?,
                };
                found.map(|account| columns::id("api_keys.account_id", &account)).transpose()
            })
            .await
    }

    async fn installation_secret(&self, candidate: [u8; 32]) -> Result<[u8; 32], Error> {
        if let Some(secret) = self.db.lookup(stored_secret).await? {
            return Ok(secret);
        }
        self.db.write(move |c| secret_or(c, &candidate)).await
    }
}

fn has_keys(c: &mut AnyConnection) -> QueryResult<bool> {
    diesel::select(exists(api_keys::table.select(api_keys::id))).get_result(c)
}

/// Locks the account's row, so that two servers that start at the same time take turns.
fn insert_first_key(
    c: &mut AnyConnection,
    account: &Account,
    key: &ApiKey,
    hash: KeyHash,
) -> Result<bool, TransactionError> {
    dialect::insert_account_once(c, &AccountRow::from(account))?;
    let owner = dialect::lock_account(c, &account.name)?;
    if has_keys(c)? {
        return Ok(false);
    }
    let row = KeyRow { account_id: owner, ..KeyRow::new(key, hash.as_bytes().to_vec(), true)? };
    diesel::insert_into(api_keys::table).values(row).execute(c)?;
    Ok(true)
}

/// Whether [`set_root_key`] would change nothing.
fn is_root_key(
    c: &mut AnyConnection,
    owner: &AccountName,
    wanted: &ApiKey,
    hash: KeyHash,
) -> Result<bool, TransactionError> {
    let named = accounts::table.filter(accounts::name.eq(owner.as_str()));
    let id: Option<String> = named.select(accounts::id).get_result(c).optional()?;
    let Some(id) = id else { return Ok(false) };
    let row: Option<KeyRow> = api_keys::table
        .filter(api_keys::account_id.eq(id))
        .filter(api_keys::is_root.eq(true))
        .filter(api_keys::hash.eq(hash.as_bytes().to_vec()))
        .select(KeyRow::as_select())
        .get_result(c)
        .optional()?;
    let Some(row) = row else { return Ok(false) };
    let key = row.into_key()?;
    Ok(key == key.clone().reinstated(wanted))
}

/// Locks the account's row, so that two servers that start at the same time take turns.
fn set_root_key(
    c: &mut AnyConnection,
    account: &Account,
    key: &ApiKey,
    hash: KeyHash,
) -> Result<(), TransactionError> {
    dialect::insert_account_once(c, &AccountRow::from(account))?;
    let owner = dialect::lock_account(c, &account.name)?;
    let of_owner = api_keys::account_id.eq(owner.clone()).and(api_keys::is_root.eq(true));
    let with_hash = api_keys::hash.eq(hash.as_bytes().to_vec());
    let in_place: Option<KeyRow> = api_keys::table
        .filter(of_owner.clone())
        .filter(with_hash.clone())
        .select(KeyRow::as_select())
        .get_result(c)
        .optional()?;
    if let Some(row) = in_place {
        let reinstated = row.into_key()?.reinstated(key);
        diesel::update(api_keys::table.find(reinstated.id.to_string()))
            .set(KeyRow::new(&reinstated, hash.as_bytes().to_vec(), true)?)
            .execute(c)?;
        return Ok(());
    }
    let row = KeyRow { account_id: owner, ..KeyRow::new(key, hash.as_bytes().to_vec(), true)? };
    diesel::delete(api_keys::table.filter(of_owner.or(with_hash))).execute(c)?;
    diesel::insert_into(api_keys::table).values(row).execute(c)?;
    Ok(())
}
