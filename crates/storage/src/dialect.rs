//! The differences between the two databases. Every match on a query's backend is in this module.

mod account_bytes;
mod agent_locks;
mod checks;
mod conversations;
mod gaps;
mod insertions;
mod new_sources;
mod source_states;
mod texts;
mod turns;
mod usage;
mod vectors;
mod widgets;

use cicerone_domain::job::Lane;
use diesel::connection::{AnsiTransactionManager, SimpleConnection as _, TransactionManager as _};
use diesel::deserialize::QueryableByName;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use diesel::sqlite::Sqlite;

use crate::connection::{AnyConnection, Either};
use crate::crawls::PageRow;
use crate::error::TransactionError;
use crate::events::EventRow;
use crate::idempotency::ClaimRow;
use crate::jobs::{JobRow, LEASED};
use crate::keys::AccountRow;
use crate::schema::{
    accounts, agents, api_keys, crawl_pages, discarded_objects, documents, events, idempotency,
    installation, jobs, passages, sources, uploads, webhook_endpoints,
};
use crate::sources::{DocumentRow, HeldSourceRow, PassageRow, SourceRow};
use crate::storage::Limits;

pub(crate) use account_bytes::add_account_bytes;
pub(crate) use agent_locks::{hold_agent, lock_agent};
pub(crate) use checks::{leased_check_run, lock_open_runs, next_check_run, results_of_run};
pub(crate) use conversations::{continue_conversation, insert_metadata, lock_conversation};
pub(crate) use gaps::insert_gap_question_once;
pub(crate) use insertions::{insert_conversation, insert_messages};
pub(crate) use new_sources::{insert_jobs, insert_sources};
pub(crate) use source_states::update_state;
pub(crate) use texts::insert_texts;
pub(crate) use turns::{TurnRow, Turns, insert_turns};
pub(crate) use usage::{add_month_usage, add_usage};
pub(crate) use vectors::{due_lacking, expect_vectors, hold_lacking, insert_vectors};
pub(crate) use widgets::{count_widget_message, lock_widget};

/// Rows of one statement: well below the 32,766 values that SQLite takes.
pub(crate) const ROWS: usize = 500;

/// A job with its source. Selected as `(JobRow::as_select(), SourceRow::as_select())`: `Work::as_select()` makes the same
/// statement, but its type takes the compiler four seconds to check in each function.
type Work = (JobRow, SourceRow);
/// A job with its source, without the text of the source.
type HeldWork = (JobRow, HeldSourceRow);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Begin {
    /// Several queries that must see the same state.
    Snapshot,
    /// Changes within a transaction that can be rolled back on their own.
    Savepoint,
    /// Changes. SQLite acquires its write lock at once, so that no later statement finds it taken.
    Write,
    /// Changes with a time limit, made by a server.
    BoundedWrite(Limits),
}

/// Runs `work` in a transaction. A failed commit cannot be repeated: if the connection is lost,
/// nobody knows whether it succeeded.
pub(crate) fn transaction<T>(
    c: &mut AnyConnection,
    begin: Begin,
    work: impl FnOnce(&mut AnyConnection) -> Result<T, TransactionError>,
) -> Result<T, TransactionError> {
    begin_transaction(c, begin)?;
    let outcome = work(c);
    end_transaction(c, outcome.is_ok())?;
    outcome
}

/// Commits after a success and rolls back after a failure. If the connection is lost, or SQLite ended the transaction
/// by itself, the rollback fails too; its error is only logged, because it is less informative than the first one.
fn end_transaction(c: &mut AnyConnection, is_commit: bool) -> Result<(), TransactionError> {
    if is_commit {
        return AnyConnection::commit_transaction(c).map_err(TransactionError::Final);
    }
    if let Err(error) = AnyConnection::rollback_transaction(c) {
        tracing::debug!(%error, "a rollback failed after another failure");
    }
    Ok(())
}

pub(crate) fn begin_transaction(c: &mut AnyConnection, begin: Begin) -> QueryResult<()> {
    match (c.either(), begin) {
        (c, Begin::Savepoint) => Either::begin_transaction(c),
        (Either::Postgres(c), Begin::Snapshot) => {
            let sql = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
            AnsiTransactionManager::begin_transaction_sql(c, sql)
        }
        (Either::Postgres(c), Begin::Write) => {
            AnsiTransactionManager::begin_transaction_sql(c, "BEGIN ISOLATION LEVEL READ COMMITTED")
        }
        // One message to the server instead of three.
        (Either::Postgres(c), Begin::BoundedWrite(limits)) => {
            let sql = format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {}; \
                 SET LOCAL lock_timeout = {}",
                limits.write.as_millis(),
                limits.read.as_millis(),
            );
            AnsiTransactionManager::begin_transaction_sql(c, &sql)
        }
        (Either::Sqlite(c), Begin::Snapshot) => {
            AnsiTransactionManager::begin_transaction_sql(c, "BEGIN")
        }
        (Either::Sqlite(c), Begin::Write | Begin::BoundedWrite(_)) => {
            AnsiTransactionManager::begin_transaction_sql(c, "BEGIN IMMEDIATE")
        }
    }
}

/// Whether diesel's table of applied migrations exists.
pub(crate) fn has_migrations_table(c: &mut AnyConnection) -> QueryResult<bool> {
    let sql = match c.either() {
        Either::Postgres(_) => "to_regclass('__diesel_schema_migrations') IS NOT NULL",
        Either::Sqlite(_) => {
            "EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '__diesel_schema_migrations')"
        }
    };
    diesel::select(diesel::dsl::sql::<Bool>(sql)).get_result(c)
}

/// Waits until no other process holds this lock number, and holds it until the transaction ends. A
/// transaction on SQLite already holds the write lock.
pub(crate) fn lock_number(c: &mut AnyConnection, number: i64) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => c.batch_execute(&format!("SELECT pg_advisory_xact_lock({number})")),
        Either::Sqlite(_) => Ok(()),
    }
}

/// Locks a key's row, so that changes of it follow each other.
pub(crate) fn lock_key(c: &mut AnyConnection, id: &str) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => {
            let query = api_keys::table.find(id).select(api_keys::id);
            query.for_update().get_result::<String>(c).optional().map(|_| ())
        }
        Either::Sqlite(_) => Ok(()),
    }
}

/// Locks an account's row, so that changes of what is counted by account follow each other.
pub(crate) fn lock_account_row(c: &mut AnyConnection, id: &str) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => {
            let query = accounts::table.find(id).select(accounts::id);
            query.for_no_key_update().get_result::<String>(c).optional().map(|_| ())
        }
        Either::Sqlite(_) => Ok(()),
    }
}

/// Locks a webhook endpoint's row, so that changes of it and claims of its deliveries follow each
/// other; new deliveries do not wait for it. Returns false if it does not exist.
pub(crate) fn lock_endpoint(c: &mut AnyConnection, id: &str) -> QueryResult<bool> {
    let query =
        webhook_endpoints::table.filter(webhook_endpoints::id.eq(id)).select(webhook_endpoints::id);
    let found: Option<String> = match c.either() {
        Either::Postgres(c) => query.for_no_key_update().get_result(c).optional()?,
        Either::Sqlite(c) => query.get_result(c).optional()?,
    };
    Ok(found.is_some())
}

/// The enabled webhook endpoints of an account with the events they subscribe to. None of them can
/// be removed until the transaction ends.
pub(crate) fn hold_endpoints(
    c: &mut AnyConnection,
    account: &str,
) -> QueryResult<Vec<(String, String)>> {
    let query = webhook_endpoints::table
        .filter(webhook_endpoints::account_id.eq(account))
        .filter(webhook_endpoints::disabled_reason.is_null())
        .order(webhook_endpoints::id)
        .select((webhook_endpoints::id, webhook_endpoints::events));
    match c.either() {
        Either::Postgres(c) => query.for_key_share().load(c),
        Either::Sqlite(c) => query.load(c),
    }
}

/// Locks the rows of these uploads, so that no source begins to use them.
pub(crate) fn lock_uploads(c: &mut AnyConnection, ids: &[String]) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => {
            let query = uploads::table.filter(uploads::id.eq_any(ids)).select(uploads::id);
            query.order(uploads::id).for_update().load::<String>(c).map(|_| ())
        }
        Either::Sqlite(_) => Ok(()),
    }
}

/// Locks an upload's row so that it cannot be removed. Returns false if it does not exist in the
/// account.
pub(crate) fn hold_upload(c: &mut AnyConnection, account: &str, id: &str) -> QueryResult<bool> {
    let query = uploads::table
        .filter(uploads::id.eq(id))
        .filter(uploads::account_id.eq(account))
        .select(uploads::id);
    let found: Option<String> = match c.either() {
        Either::Postgres(c) => query.for_key_share().get_result(c).optional()?,
        Either::Sqlite(c) => query.get_result(c).optional()?,
    };
    Ok(found.is_some())
}

/// Raises the number of an agent's content and returns it. The upper half is a counter, the lower
/// half is a random number from the database.
pub(crate) fn raise_generation(c: &mut AnyConnection, agent: &str) -> QueryResult<i64> {
    let drawn = match c.either() {
        Either::Postgres(_) => "floor(random() * 4294967296)::bigint",
        Either::Sqlite(_) => "(random() & 4294967295)",
    };
    let next = format!("((index_generation >> 32) + 1) << 32 | {drawn}");
    diesel::update(agents::table.find(agent))
        .set(agents::index_generation.eq(diesel::dsl::sql::<BigInt>(&next)))
        .returning(agents::index_generation)
        .get_result(c)
}

/// The queued job of an account in a lane that has been due the longest, with its source.
/// PostgreSQL locks both rows and skips those that another worker has locked; SQLite has one
/// writer.
pub(crate) fn next_job(
    c: &mut AnyConnection,
    lane: Lane,
    account: &str,
    now: i64,
) -> QueryResult<Option<Work>> {
    let query = jobs::table
        .inner_join(sources::table)
        .filter(jobs::state.eq(crate::jobs::QUEUED))
        .filter(jobs::lane.eq(lane.name()))
        .filter(jobs::account_id.eq(account))
        .filter(jobs::due_at.le(now))
        .order((jobs::due_at, jobs::queued_at, jobs::id))
        .limit(1);
    match c.either() {
        Either::Postgres(c) => query
            .select((JobRow::as_select(), SourceRow::as_select()))
            .for_update()
            .skip_locked()
            .get_result(c)
            .optional(),
        Either::Sqlite(c) => {
            query.select((JobRow::as_select(), SourceRow::as_select())).get_result(c).optional()
        }
    }
}

/// Those of these jobs that are queued and have not crashed, and whose sources belong to an agent and have at most `bytes`
/// stored bytes, with their sources, in the order in which they are due. Locked as by [`next_job`].
pub(crate) fn small_jobs(
    c: &mut AnyConnection,
    ids: &[String],
    agent: &str,
    bytes: i64,
) -> QueryResult<Vec<Work>> {
    let query = jobs::table
        .inner_join(sources::table)
        .filter(jobs::id.eq_any(ids))
        .filter(jobs::state.eq(crate::jobs::QUEUED))
        .filter(jobs::crashes_in_all.eq(0))
        .filter(sources::agent_id.eq(agent))
        .filter(sources::stored_bytes.le(bytes))
        .order((jobs::due_at, jobs::queued_at, jobs::id));
    match c.either() {
        Either::Postgres(c) => query
            .select((JobRow::as_select(), SourceRow::as_select()))
            .for_update()
            .skip_locked()
            .load(c),
        Either::Sqlite(c) => query.select((JobRow::as_select(), SourceRow::as_select())).load(c),
    }
}

/// Loads the rows of a statement that diesel cannot express.
pub(crate) fn load_sql<T>(c: &mut AnyConnection, sql: &str) -> QueryResult<Vec<T>>
where
    T: QueryableByName<Pg> + QueryableByName<Sqlite> + 'static,
{
    match c.either() {
        Either::Postgres(c) => diesel::sql_query(sql).load(c),
        Either::Sqlite(c) => diesel::sql_query(sql).load(c),
    }
}

/// The job of a lease that is still valid, with its source; both rows are locked.
pub(crate) fn leased_job(
    c: &mut AnyConnection,
    id: &str,
    token: &str,
) -> QueryResult<Option<HeldWork>> {
    let query = jobs::table
        .inner_join(sources::table)
        .filter(jobs::id.eq(id))
        .filter(jobs::lease_token.eq(token))
        .filter(jobs::state.eq(LEASED));
    match c.either() {
        Either::Postgres(c) => query
            .select((JobRow::as_select(), HeldSourceRow::as_select()))
            .for_update()
            .get_result(c)
            .optional(),
        Either::Sqlite(c) => {
            query.select((JobRow::as_select(), HeldSourceRow::as_select())).get_result(c).optional()
        }
    }
}

/// Those of these jobs that are leased with this token, with their sources, locked as by [`leased_job`] in the order of
/// their ids.
pub(crate) fn leased_jobs(
    c: &mut AnyConnection,
    ids: &[String],
    token: &str,
) -> QueryResult<Vec<HeldWork>> {
    let query = jobs::table
        .inner_join(sources::table)
        .filter(jobs::id.eq_any(ids))
        .filter(jobs::lease_token.eq(token))
        .filter(jobs::state.eq(LEASED))
        .order(jobs::id);
    match c.either() {
        Either::Postgres(c) => {
            query.select((JobRow::as_select(), HeldSourceRow::as_select())).for_update().load(c)
        }
        Either::Sqlite(c) => {
            query.select((JobRow::as_select(), HeldSourceRow::as_select())).load(c)
        }
    }
}

/// Jobs whose lease ended at or before `until`, with their sources, at most `limit`. PostgreSQL skips those that
/// another server is reclaiming.
pub(crate) fn abandoned_jobs(
    c: &mut AnyConnection,
    until: i64,
    limit: i64,
) -> QueryResult<Vec<HeldWork>> {
    let query = jobs::table
        .inner_join(sources::table)
        .filter(jobs::state.eq(LEASED))
        .filter(jobs::lease_until.le(until))
        .order((jobs::lease_until, jobs::id))
        .limit(limit);
    match c.either() {
        Either::Postgres(c) => query
            .select((JobRow::as_select(), HeldSourceRow::as_select()))
            .for_update()
            .skip_locked()
            .load(c),
        Either::Sqlite(c) => {
            query.select((JobRow::as_select(), HeldSourceRow::as_select())).load(c)
        }
    }
}

/// The record of an idempotency key, locked until the transaction ends.
pub(crate) fn lock_record(
    c: &mut AnyConnection,
    account: &str,
    key: &str,
) -> QueryResult<Option<ClaimRow>> {
    let query = idempotency::table.find((account, key));
    match c.either() {
        Either::Postgres(c) => {
            query.select(ClaimRow::as_select()).for_update().get_result(c).optional()
        }
        Either::Sqlite(c) => query.select(ClaimRow::as_select()).get_result(c).optional(),
    }
}

/// Adds an idempotency record. Returns false if the key already has one.
pub(crate) fn insert_record(c: &mut AnyConnection, row: &ClaimRow) -> QueryResult<bool> {
    let statement = || diesel::insert_into(idempotency::table).values(row).on_conflict_do_nothing();
    let count = match c.either() {
        Either::Postgres(c) => statement().execute(c)?,
        Either::Sqlite(c) => statement().execute(c)?,
    };
    Ok(count == 1)
}

/// Adds an account unless one with its name exists.
pub(crate) fn insert_account_once(c: &mut AnyConnection, row: &AccountRow) -> QueryResult<()> {
    let statement = || {
        let insert = diesel::insert_into(accounts::table).values(row);
        insert.on_conflict(accounts::name).do_nothing()
    };
    match c.either() {
        Either::Postgres(c) => statement().execute(c).map(|_| ()),
        Either::Sqlite(c) => statement().execute(c).map(|_| ()),
    }
}

/// The id of the account with that name; its row is locked.
pub(crate) fn lock_account(c: &mut AnyConnection, name: &str) -> QueryResult<String> {
    let query = accounts::table.filter(accounts::name.eq(name)).select(accounts::id);
    match c.either() {
        Either::Postgres(c) => query.for_no_key_update().get_result(c),
        Either::Sqlite(c) => query.get_result(c),
    }
}

/// Stores a value of the installation unless it exists.
pub(crate) fn insert_installation_once(
    c: &mut AnyConnection,
    name: &str,
    value: &[u8],
) -> QueryResult<()> {
    let statement = || {
        diesel::insert_into(installation::table)
            .values((installation::name.eq(name), installation::value.eq(value)))
            .on_conflict_do_nothing()
    };
    match c.either() {
        Either::Postgres(c) => statement().execute(c).map(|_| ()),
        Either::Sqlite(c) => statement().execute(c).map(|_| ()),
    }
}

/// Records that an object is to be removed at `due_at`, replacing an earlier record.
pub(crate) fn discard_object(c: &mut AnyConnection, key: &str, due_at: i64) -> QueryResult<()> {
    let statement = || {
        diesel::insert_into(discarded_objects::table)
            .values((discarded_objects::object_key.eq(key), discarded_objects::due_at.eq(due_at)))
            .on_conflict(discarded_objects::object_key)
            .do_update()
            .set(discarded_objects::due_at.eq(due_at))
    };
    match c.either() {
        Either::Postgres(c) => statement().execute(c).map(|_| ()),
        Either::Sqlite(c) => statement().execute(c).map(|_| ()),
    }
}

pub(crate) fn insert_documents(c: &mut AnyConnection, rows: &[DocumentRow]) -> QueryResult<()> {
    for rows in rows.chunks(ROWS) {
        let statement = || diesel::insert_into(documents::table).values(rows);
        match c.either() {
            Either::Postgres(c) => statement().execute(c)?,
            Either::Sqlite(c) => statement().execute(c)?,
        };
    }
    Ok(())
}

/// Adds events.
pub(crate) fn insert_events(c: &mut AnyConnection, rows: &[EventRow<'_>]) -> QueryResult<()> {
    for rows in rows.chunks(ROWS) {
        let statement = || diesel::insert_into(events::table).values(rows);
        match c.either() {
            Either::Postgres(c) => statement().execute(c)?,
            Either::Sqlite(c) => statement().execute(c)?,
        };
    }
    Ok(())
}

/// Adds pages of a crawl.
pub(crate) fn insert_crawl_pages(c: &mut AnyConnection, rows: &[PageRow]) -> QueryResult<()> {
    for rows in rows.chunks(ROWS) {
        let statement = || diesel::insert_into(crawl_pages::table).values(rows);
        match c.either() {
            Either::Postgres(c) => statement().execute(c)?,
            Either::Sqlite(c) => statement().execute(c)?,
        };
    }
    Ok(())
}

pub(crate) fn insert_passages(c: &mut AnyConnection, rows: &[PassageRow]) -> QueryResult<()> {
    for rows in rows.chunks(ROWS) {
        let statement = || diesel::insert_into(passages::table).values(rows);
        match c.either() {
            Either::Postgres(c) => statement().execute(c)?,
            Either::Sqlite(c) => statement().execute(c)?,
        };
    }
    Ok(())
}
