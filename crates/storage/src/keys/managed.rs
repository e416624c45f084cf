//! Keys as other keys manage them: within one account, and never wider than the one that is used.

use cicerone_domain::access::{KeyHash, KeyPatch, unknown_agent};
use cicerone_domain::id::kind;
use cicerone_domain::{ApiKey, Error, Id, Page, PageRequest, Timestamp};
use diesel::prelude::*;

use super::KeyRow;
use crate::agents;
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::Failure;
use crate::idempotency::erase_of;
use crate::pages::{created_before, lookahead};
use crate::schema::api_keys;
use crate::scope::Visible;

/// Adds a key that `maker` makes.
pub(super) fn insert(
    c: &mut AnyConnection,
    maker: &ApiKey,
    key: &ApiKey,
    hash: KeyHash,
) -> Result<(), Failure> {
    maker.check_no_wider(key)?;
    check_agents(c, maker, key)?;
    diesel::insert_into(api_keys::table).values(KeyRow::new(key, hash, false)?).execute(c)?;
    Ok(())
}

/// The key of that id with its hash, where it exists for `reader`.
pub(super) fn find(
    c: &mut AnyConnection,
    reader: &ApiKey,
    id: Id<kind::ApiKey>,
) -> Result<Option<(ApiKey, KeyRow)>, Failure> {
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

/// A page of the keys that exist for `reader`, newest first.
pub(super) fn list(
    c: &mut AnyConnection,
    reader: &ApiKey,
    page: &PageRequest,
) -> Result<Page<ApiKey>, Failure> {
    let mut query = api_keys::table
        .filter(api_keys::account_id.eq(reader.account_id.to_string()))
        .order((api_keys::created_at.desc(), api_keys::id.desc()))
        .select(KeyRow::as_select())
        .into_boxed();
    // Which keys a restricted one sees is not told by a column; an account has few.
    if reader.agent_ids.is_none() {
        query = query.limit(lookahead(page));
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
    keys.truncate(usize::try_from(lookahead(page)).unwrap_or(usize::MAX));
    Ok(Page::from_lookahead(keys, page.size))
}

/// Changes a key into one that is no wider than `maker`.
pub(super) fn update(
    c: &mut AnyConnection,
    maker: &ApiKey,
    id: Id<kind::ApiKey>,
    patch: KeyPatch,
) -> Result<ApiKey, Failure> {
    dialect::lock_key(c, &id.to_string())?;
    let (mut key, row) = find(c, maker, id)?.ok_or_else(|| Error::not_found("API key", id))?;
    let names_agents = patch.agent_ids.is_some();
    key.apply(patch);
    maker.check_no_wider(&key)?;
    if names_agents {
        check_agents(c, maker, &key)?;
    }
    let changed = KeyRow { hash: row.hash, ..KeyRow::new(&key, KeyHash([0; 32]), row.is_root)? };
    diesel::update(api_keys::table.find(id.to_string())).set(changed).execute(c)?;
    Ok(key)
}

/// Removes a key that exists for `remover`, and the answers that told of it.
pub(super) fn remove(
    c: &mut AnyConnection,
    remover: &ApiKey,
    id: Id<kind::ApiKey>,
) -> Result<(), Failure> {
    find(c, remover, id)?.ok_or_else(|| Error::not_found("API key", id))?;
    diesel::delete(api_keys::table.find(id.to_string())).execute(c)?;
    erase_of(c, &id.to_string())
}

/// Notes when keys were last used.
pub(super) fn note_uses(
    c: &mut AnyConnection,
    uses: &[(Id<kind::ApiKey>, Timestamp)],
) -> Result<(), Failure> {
    for (id, at) in uses {
        diesel::update(api_keys::table.find(id.to_string()))
            .set(api_keys::last_used_at.eq(at.as_millis()))
            .execute(c)?;
    }
    Ok(())
}

/// Checks that the agents of a key exist for the one that names them.
fn check_agents(c: &mut AnyConnection, maker: &ApiKey, key: &ApiKey) -> Result<(), Failure> {
    let visible = Visible::from(&maker.scope());
    for (index, id) in key.agent_ids.iter().flatten().enumerate() {
        if agents::find(c, &visible, *id)?.is_none() {
            return Err(unknown_agent(index).into());
        }
    }
    Ok(())
}
