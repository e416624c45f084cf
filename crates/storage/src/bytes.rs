//! How many bytes each account stores.
//!
//! A source counts with its content, and with the text of its documents twice: as a whole and in
//! passages. Vectors count with the documents of their passages; `vector_bytes` is their share. The
//! total of an account is one number in its row, so that checking it costs the same for any total.
//!
//! Invariant: every transaction that adds, changes or removes a source, its documents or a file
//! changes that number by the same amount. The account's row is locked last, after agents, sources,
//! jobs, files, runs of checks and states of vectors. Keys and webhook endpoints, which change under
//! the account's lock, are never locked together with these.

use cicerone_domain::usage::check_bytes;
use cicerone_domain::{Id, Source, kind};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::columns::{narrow, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{accounts, documents, sources};
use crate::usage::quota;

/// The bytes of a document with its passages.
const OF_DOCUMENT: &str = "\
    coalesce(octet_length(url), 0) + coalesce(octet_length(title), 0) \
    + coalesce(octet_length(warnings), 0) \
    + coalesce((SELECT octet_length(t.text) FROM document_texts t \
        WHERE t.source_id = documents.source_id AND t.position = documents.position), 0) \
    + coalesce((SELECT sum(octet_length(p.text) + coalesce(octet_length(p.title), 0) \
        + coalesce(octet_length(p.heading), 0) + coalesce(octet_length(p.url), 0)) \
        FROM passages p WHERE p.source_id = documents.source_id \
        AND p.document = documents.position), 0)";
/// The bytes of a source whose documents are counted.
const OF_SOURCE: &str = "octet_length(content) \
    + coalesce((SELECT sum(d.stored_bytes) FROM documents d WHERE d.source_id = sources.id), 0)";

/// The bytes of the vectors of a source whose documents are counted.
const OF_VECTORS: &str =
    "coalesce((SELECT sum(d.vector_bytes) FROM documents d WHERE d.source_id = sources.id), 0)";

/// Counts the bytes of a source again, after its new documents were counted. The caller must hold
/// the lock of the source's row.
pub(crate) fn recount(c: &mut AnyConnection, source: &Source) -> Result<(), TransactionError> {
    let id = source.id.to_string();
    let new =
        documents::table.filter(documents::source_id.eq(&id)).filter(documents::stored_bytes.eq(0));
    diesel::update(new).set(documents::stored_bytes.eq(sql::<BigInt>(OF_DOCUMENT))).execute(c)?;
    let target = || sources::table.find(&id);
    let before: i64 = target().select(sources::stored_bytes).get_result(c)?;
    let after: i64 = diesel::update(target())
        .set((
            sources::stored_bytes.eq(sql::<BigInt>(OF_SOURCE)),
            sources::vector_bytes.eq(sql::<BigInt>(OF_VECTORS)),
        ))
        .returning(sources::stored_bytes)
        .get_result(c)?;
    change(c, &source.account_id.to_string(), after - before)
}

/// The same for several sources of one account, and checks the account's quota.
pub(crate) fn recount_all(
    c: &mut AnyConnection,
    default: Option<u64>,
    account: Id<kind::Account>,
    ids: &[String],
) -> Result<(), TransactionError> {
    let new = documents::table
        .filter(documents::source_id.eq_any(ids))
        .filter(documents::stored_bytes.eq(0));
    diesel::update(new).set(documents::stored_bytes.eq(sql::<BigInt>(OF_DOCUMENT))).execute(c)?;
    let target = || sources::table.filter(sources::id.eq_any(ids));
    let before: Vec<i64> = target().select(sources::stored_bytes).load(c)?;
    let after: Vec<i64> = diesel::update(target())
        .set((
            sources::stored_bytes.eq(sql::<BigInt>(OF_SOURCE)),
            sources::vector_bytes.eq(sql::<BigInt>(OF_VECTORS)),
        ))
        .returning(sources::stored_bytes)
        .get_results(c)?;
    let more = after.iter().sum::<i64>() - before.iter().sum::<i64>();
    change_within(c, default, account, more)
}

/// Changes the number of bytes that an account stores.
pub(crate) fn change(
    c: &mut AnyConnection,
    account: &str,
    by: i64,
) -> Result<(), TransactionError> {
    if by != 0 {
        dialect::add_account_bytes(c, account, by)?;
    }
    Ok(())
}

/// The same, and checks the account's quota: see [`check_bytes`]. `default` applies to an account without its own
/// quota. The change locks the account's row, so that concurrent additions are checked one after the other.
pub(crate) fn change_within(
    c: &mut AnyConnection,
    default: Option<u64>,
    account: Id<kind::Account>,
    by: i64,
) -> Result<(), TransactionError> {
    if by == 0 {
        return check(c, default, account, 0);
    }
    let Some((kept, own)) = dialect::add_account_bytes(c, &account.to_string(), by)? else {
        return Ok(());
    };
    let limit = quota(own).resolve(default);
    Ok(check_bytes(limit, narrow("accounts.stored_bytes", kept)?, 0)?)
}

/// The bytes of an account's sources and files.
pub(crate) fn kept(c: &mut AnyConnection, account: &str) -> Result<u64, TransactionError> {
    let kept: Option<i64> =
        accounts::table.find(account).select(accounts::stored_bytes).get_result(c).optional()?;
    narrow("accounts.stored_bytes", kept.unwrap_or_default())
}

/// Checks that an account may store `more` bytes: see [`check_bytes`]. `default` applies to an account without its own
/// quota.
///
/// Locks the row of an account with a quota, so that concurrent additions are checked one after the
/// other.
pub(crate) fn check(
    c: &mut AnyConnection,
    default: Option<u64>,
    account: Id<kind::Account>,
    more: u64,
) -> Result<(), TransactionError> {
    let account = account.to_string();
    let own: Option<Option<i64>> =
        accounts::table.find(&account).select(accounts::bytes_kept).get_result(c).optional()?;
    let limit = quota(own.flatten()).resolve(default);
    if limit.is_none() {
        return Ok(());
    }
    dialect::lock_account_row(c, &account)?;
    Ok(check_bytes(limit, kept(c, &account)?, more)?)
}

/// Whether an account may keep `more` bytes. It does not lock the account's row, so that another transaction may take
/// the room in between.
pub(crate) fn has_room(
    c: &mut AnyConnection,
    default: Option<u64>,
    account: &str,
    more: u64,
) -> Result<bool, TransactionError> {
    let own: Option<Option<i64>> =
        accounts::table.find(account).select(accounts::bytes_kept).get_result(c).optional()?;
    let limit = quota(own.flatten()).resolve(default);
    Ok(limit.is_none() || check_bytes(limit, kept(c, account)?, more).is_ok())
}

/// The bytes of a source without documents.
pub(crate) fn of_content(source: &Source) -> i64 {
    wide(source.content.bytes())
}

/// Counts a source that was added with its bytes, and checks its account's quota.
pub(crate) fn add_source(
    c: &mut AnyConnection,
    default: Option<u64>,
    source: &Source,
) -> Result<(), TransactionError> {
    change_within(c, default, source.account_id, of_content(source))
}

/// The same for several new sources of one account.
pub(crate) fn add_sources<'a>(
    c: &mut AnyConnection,
    default: Option<u64>,
    account: Id<kind::Account>,
    new: impl Iterator<Item = &'a Source>,
) -> Result<(), TransactionError> {
    change_within(c, default, account, new.map(of_content).sum())
}
