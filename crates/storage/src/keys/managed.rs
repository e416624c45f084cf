//! Management of keys by other keys: within one account, and never with more rights than the acting
//! key.

use cicerone_domain::access::{ActingKey, KeyHash, KeyPatch, may_add_key, unknown_agent};
use cicerone_domain::id::kind;
use cicerone_domain::managed::SetName;
use cicerone_domain::{ApiKey, Error, Id, Page, PageRequest, Timestamp};
use diesel::prelude::*;

use super::KeyRow;
use crate::agents;
use crate::columns::narrow;
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::idempotency::erase_of;
use crate::managed::written;
use crate::pages::created_before;
use crate::schema::api_keys;
use crate::scope::Visible;

/// Checks the key that makes a change, and locks its account's row: the key cannot change until the
/// transaction ends.
pub(crate) fn check_acting(
    c: &mut AnyConnection,
    acting: &ActingKey,
) -> Result<(), TransactionError> {
    dialect::lock_account_row(c, &acting.key.account_id.to_string())?;
    let stored = stored(c, &acting.key)?;
    Ok(acting.check(stored.as_ref())?)
}

/// The key as it is stored now. Locks its account's row.
fn current(c: &mut AnyConnection, key: &ApiKey) -> Result<ApiKey, TransactionError> {
    dialect::lock_account_row(c, &key.account_id.to_string())?;
    stored(c, key)?.ok_or_else(|| Error::Unauthorized.into())
}

fn stored(c: &mut AnyConnection, key: &ApiKey) -> Result<Option<ApiKey>, TransactionError> {
    api_keys::table
        .find(key.id.to_string())
        .filter(api_keys::account_id.eq(key.account_id.to_string()))
        .select(KeyRow::as_select())
        .get_result(c)
        .optional()?
        .map(KeyRow::into_key)
        .transpose()
}

/// Makes room for one more key of an account, whose row is locked. Removes expired keys with the
/// answers that contain them if needed. Fails as [`may_add_key`] does.
pub(super) fn make_room(
    c: &mut AnyConnection,
    account: &str,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let of_account = || api_keys::table.filter(api_keys::account_id.eq(account));
    let check = |c: &mut AnyConnection| -> Result<Result<(), Error>, TransactionError> {
        let count: i64 = of_account().count().get_result(c)?;
        Ok(may_add_key(narrow("count", count)?))
    };
    if check(c)?.is_ok() {
        return Ok(());
    }
    let expired = of_account()
        .filter(api_keys::is_root.eq(false))
        .filter(api_keys::expires_at.le(now.as_millis()));
    let removed: Vec<String> = diesel::delete(expired).returning(api_keys::id).get_results(c)?;
    for id in removed {
        erase_of(c, &id)?;
    }
    Ok(check(c)??)
}

/// Adds a key that `maker` creates.
pub(super) fn insert(
    c: &mut AnyConnection,
    maker: &ApiKey,
    key: &ApiKey,
    hash: KeyHash,
) -> Result<(), TransactionError> {
    let maker = &current(c, maker)?;
    maker.check_no_wider(key)?;
    make_room(c, &key.account_id.to_string(), key.created_at)?;
    check_agents(c, maker, key)?;
    let row = KeyRow::new(key, hash.as_bytes().to_vec(), false)?;
    let outcome = diesel::insert_into(api_keys::table).values(row).execute(c);
    written(outcome, key.managed.as_ref(), "another API key")
}

/// The key with that id and its hash, if it is visible to `reader`.
pub(super) fn find(
    c: &mut AnyConnection,
    reader: &ApiKey,
    id: Id<kind::ApiKey>,
) -> Result<Option<(ApiKey, KeyRow)>, TransactionError> {
    let row: Option<KeyRow> = api_keys::table
        .find(id.to_string())
        .filter(api_keys::account_id.eq(reader.account_id.to_string()))
        .select(KeyRow::as_select())
        .get_result(c)
        .optional()?;
    let Some(row) = row else { return Ok(None) };
    let key = row.clone().into_key()?;
    Ok(reader.sees(&key).then_some((key, row)))
}

/// A page of the keys that are visible to `reader`, newest first; only those of `set`, if it is given.
pub(super) fn list(
    c: &mut AnyConnection,
    reader: &ApiKey,
    set: Option<&SetName>,
    page: &PageRequest,
) -> Result<Page<ApiKey>, TransactionError> {
    let mut query = api_keys::table
        .filter(api_keys::account_id.eq(reader.account_id.to_string()))
        .order((api_keys::created_at.desc(), api_keys::id.desc()))
        .select(KeyRow::as_select())
        .into_boxed();
    // No column records which keys a restricted key can see, so all are read: at most `limits::ACCOUNT_KEYS`.
    if reader.agent_ids.is_none() {
        query = query.limit(page.lookahead());
    }
    if let Some(set) = set {
        query = query.filter(api_keys::managed_set.eq(set.as_str()));
    }
    if let Some((at, id)) = created_before(page)? {
        query = query
            .filter(api_keys::created_at.le(at))
            .filter(api_keys::created_at.lt(at).or(api_keys::id.lt(id)));
    }
    let mut keys = Vec::new();
    for row in query.load(c)? {
        let key = row.into_key()?;
        if reader.sees(&key) {
            keys.push(key);
        }
    }
    keys.truncate(usize::try_from(page.lookahead()).unwrap_or(usize::MAX));
    Ok(Page::from_lookahead(keys, page.size))
}

/// Changes a key that `maker` covers. The new key may not have more rights than `maker`.
pub(super) fn update(
    c: &mut AnyConnection,
    maker: &ApiKey,
    id: Id<kind::ApiKey>,
    patch: KeyPatch,
) -> Result<ApiKey, TransactionError> {
    let maker = &current(c, maker)?;
    dialect::lock_key(c, &id.to_string())?;
    let (mut key, row) = find(c, maker, id)?.ok_or_else(|| Error::not_found("API key", id))?;
    maker.check_covers(&key)?;
    let names_agents = patch.agent_ids.is_some();
    key.apply(patch);
    maker.check_no_wider(&key)?;
    if names_agents {
        check_agents(c, maker, &key)?;
    }
    let changed = KeyRow::new(&key, row.hash, row.is_root)?;
    let outcome = diesel::update(api_keys::table.find(id.to_string())).set(changed).execute(c);
    written(outcome, key.managed.as_ref(), "another API key")?;
    Ok(key)
}

/// Removes a key that `remover` covers, and the answers that contain it.
pub(super) fn remove(
    c: &mut AnyConnection,
    remover: &ApiKey,
    id: Id<kind::ApiKey>,
) -> Result<(), TransactionError> {
    let remover = &current(c, remover)?;
    let (key, _) = find(c, remover, id)?.ok_or_else(|| Error::not_found("API key", id))?;
    remover.check_covers(&key)?;
    diesel::delete(api_keys::table.find(id.to_string())).execute(c)?;
    erase_of(c, &id.to_string())
}

/// Stores when keys were last used.
pub(super) fn note_uses(
    c: &mut AnyConnection,
    uses: &[(Id<kind::ApiKey>, Timestamp)],
) -> Result<(), TransactionError> {
    // Sorted, so that two servers that store uses of the same keys do not deadlock.
    let mut uses = uses.to_vec();
    uses.sort_by_key(|(id, _)| id.to_string());
    for (id, at) in uses {
        diesel::update(api_keys::table.find(id.to_string()))
            .set(api_keys::last_used_at.eq(at.as_millis()))
            .execute(c)?;
    }
    Ok(())
}

/// Checks that the agents of a key exist for the key that names them.
fn check_agents(
    c: &mut AnyConnection,
    maker: &ApiKey,
    key: &ApiKey,
) -> Result<(), TransactionError> {
    let visible = Visible::from(&maker.scope());
    for (index, id) in key.agent_ids.iter().flatten().enumerate() {
        if agents::find(c, &visible, *id)?.is_none() {
            return Err(unknown_agent(index).into());
        }
    }
    Ok(())
}
