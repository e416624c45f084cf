//! Migrations: embedded, paired, and run by one program at a time.

use std::collections::BTreeSet;

use cicerone_domain::Error;
use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connection::{Access, AnyConnection, Either, connect};
use crate::dialect::{self, Begin, transaction};
use crate::error::{OpenError, TransactionError};
use crate::schema::__diesel_schema_migrations;
use crate::sources::complete_all;
use crate::url::DatabaseUrl;

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Held on PostgreSQL while migrations run, so that servers that start at the same time take turns.
/// The number is `cicerone` in ASCII.
const ADVISORY_LOCK: i64 = 0x6369_6365_726f_6e65;

/// A migration, and whether the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationStatus {
    /// Its name: a date, a number and words.
    pub name: String,
    /// Whether it was applied.
    pub is_applied: bool,
}

/// Applies all missing migrations, or none if one fails, and returns their names. Fails with
/// [`OpenError::Newer`] if the database has migrations that this program does not know. Blocks.
pub fn run(url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
    exclusively(url, |c, statuses| {
        let missing: Vec<_> = statuses.iter().filter(|status| !status.is_applied).collect();
        for status in &missing {
            apply(c, &status.name, Direction::Up)?;
        }
        // A server of an earlier version that still ran after the migration stored documents without ids.
        complete_all(c).map_err(cause_of)?;
        Ok(missing.into_iter().map(|status| status.name.clone()).collect())
    })
}

/// Reverts the last migration and returns its name; `None` if there is none. Its data is lost.
/// Blocks.
pub fn revert(url: &DatabaseUrl) -> Result<Option<String>, OpenError> {
    exclusively(url, |c, statuses| {
        let Some(last) = statuses.iter().rfind(|status| status.is_applied) else {
            return Ok(None);
        };
        apply(c, &last.name, Direction::Down)?;
        Ok(Some(last.name.clone()))
    })
}

/// Reverts the last migration, applies it again, and returns its name. Blocks.
pub fn redo(url: &DatabaseUrl) -> Result<Option<String>, OpenError> {
    exclusively(url, |c, statuses| {
        let Some(last) = statuses.iter().rfind(|status| status.is_applied) else {
            return Ok(None);
        };
        apply(c, &last.name, Direction::Down)?;
        apply(c, &last.name, Direction::Up)?;
        Ok(Some(last.name.clone()))
    })
}

/// Every migration of this program, oldest first. Blocks.
pub fn status(url: &DatabaseUrl) -> Result<Vec<MigrationStatus>, OpenError> {
    let mut connection = connect(url, Access::Write)?;
    // A read-only connection does not wait for a writer.
    let (statuses, unknown) = stored(&mut connection).map_err(|failure| failed(url, failure))?;
    match unknown {
        Some(migration) => Err(OpenError::Newer { url: url.clone(), migration }),
        None => Ok(statuses),
    }
}

/// Returns an error unless the schema is exactly this program's.
pub(crate) fn check(url: &DatabaseUrl) -> Result<(), OpenError> {
    let statuses = status(url)?;
    match statuses.into_iter().find(|status| !status.is_applied) {
        Some(MigrationStatus { name, .. }) => {
            Err(OpenError::Pending { url: url.clone(), migration: name })
        }
        None => Ok(()),
    }
}

/// Like [`check`], over an open connection, for a health check.
pub(crate) fn check_applied(c: &mut AnyConnection) -> Result<(), TransactionError> {
    let (statuses, unknown) = stored(c)?;
    let pending = statuses.into_iter().find(|status| !status.is_applied);
    match pending.map(|status| status.name).or(unknown) {
        Some(name) => {
            let cause = format!("the database and this program differ in the migration `{name}`");
            Err(Error::unavailable(cause).into())
        }
        None => Ok(()),
    }
}

/// The migration after which the ids of existing documents are filled in. SQL cannot compute them.
const DOCUMENT_IDS: &str = "document_ids";

/// The status of each migration of this program, and one that the database has in addition, without
/// changing anything. Both databases have migrations of the same names.
fn stored(
    c: &mut AnyConnection,
) -> Result<(Vec<MigrationStatus>, Option<String>), TransactionError> {
    let mut versions = BTreeSet::new();
    if dialect::has_migrations_table(c)? {
        let column = __diesel_schema_migrations::version;
        versions.extend(__diesel_schema_migrations::table.select(column).load::<String>(c)?);
    }
    let known = migrations::<Sqlite>(SQLITE).map_err(TransactionError::internal)?;
    Ok(matched(&known, versions))
}

fn failed(url: &DatabaseUrl, failure: TransactionError) -> OpenError {
    OpenError::Migration { url: url.clone(), cause: cause_of(failure) }
}

fn cause_of(failure: TransactionError) -> String {
    match failure {
        TransactionError::Refused(Error::Internal(cause)) => cause.to_string(),
        TransactionError::Refused(error) => error.to_string(),
        TransactionError::Database(error) | TransactionError::Final(error) => error.to_string(),
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs `work` with every migration's status, in one transaction and excluding other processes.
fn exclusively<T>(
    url: &DatabaseUrl,
    work: impl FnOnce(&mut AnyConnection, &[MigrationStatus]) -> Result<T, BoxError>,
) -> Result<T, OpenError> {
    let mut connection = connect(url, Access::Write)?;
    transaction(&mut connection, Begin::Write, |c| {
        dialect::lock_number(c, ADVISORY_LOCK)?;
        let (statuses, unknown) = compare(c).map_err(TransactionError::internal)?;
        if let Some(migration) = unknown {
            return Ok(Err(OpenError::Newer { url: url.clone(), migration }));
        }
        work(c, &statuses).map(Ok).map_err(TransactionError::internal)
    })
    .unwrap_or_else(|failure| Err(failed(url, failure)))
}

/// Like [`stored`], within the transaction of a change. Creates the table if it is missing.
fn compare(c: &mut AnyConnection) -> Result<(Vec<MigrationStatus>, Option<String>), BoxError> {
    match c.either() {
        Either::Postgres(c) => Ok(matched(&migrations::<Pg>(POSTGRES)?, applied(c)?)),
        Either::Sqlite(c) => Ok(matched(&migrations::<Sqlite>(SQLITE)?, applied(c)?)),
    }
}

/// Every embedded migration, oldest first.
fn migrations<DB: diesel::backend::Backend>(
    source: EmbeddedMigrations,
) -> Result<Vec<Box<dyn Migration<DB>>>, BoxError>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    let mut migrations = source.migrations()?;
    migrations.sort_by(|a, b| a.name().version().cmp(&b.name().version()));
    Ok(migrations)
}

/// The versions of the applied migrations.
fn applied<DB: diesel::backend::Backend>(
    c: &mut impl MigrationHarness<DB>,
) -> Result<BTreeSet<String>, BoxError> {
    Ok(c.applied_migrations()?.iter().map(MigrationVersion::to_string).collect())
}

fn matched<DB: diesel::backend::Backend>(
    migrations: &[Box<dyn Migration<DB>>],
    mut applied: BTreeSet<String>,
) -> (Vec<MigrationStatus>, Option<String>) {
    let statuses = migrations.iter().map(|migration| MigrationStatus {
        name: migration.name().to_string(),
        is_applied: applied.remove(&migration.name().version().to_string()),
    });
    (statuses.collect(), applied.pop_first())
}

fn apply(c: &mut AnyConnection, name: &str, direction: Direction) -> Result<(), BoxError> {
    match c.either() {
        Either::Postgres(c) => apply_one(c, migrations::<Pg>(POSTGRES)?, name, direction)?,
        Either::Sqlite(c) => apply_one(c, migrations::<Sqlite>(SQLITE)?, name, direction)?,
    }
    if matches!(direction, Direction::Up) && name.ends_with(DOCUMENT_IDS) {
        complete_all(c).map_err(cause_of)?;
    }
    Ok(())
}

fn apply_one<DB: diesel::backend::Backend>(
    c: &mut impl MigrationHarness<DB>,
    migrations: Vec<Box<dyn Migration<DB>>>,
    name: &str,
    direction: Direction,
) -> Result<(), BoxError> {
    let migration = migrations
        .into_iter()
        .find(|migration| migration.name().to_string() == name)
        .ok_or_else(|| format!("there is no migration `{name}`"))?;
    match direction {
        Direction::Up => c.run_migration(migration.as_ref())?,
        Direction::Down => c.revert_migration(migration.as_ref())?,
    };
    Ok(())
}
