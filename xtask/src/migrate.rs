//! Migrations of both databases, with the code that the server runs.

use std::fs;

use anyhow::{Context as _, ensure};
use cicerone_storage::{DatabaseUrl, migrations};
use cicerone_tests_postgres::Cluster;
use clap::{Args, Subcommand};
use time::{OffsetDateTime, macros::format_description};

use crate::process;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// The database, which may be a production one; without it, temporary databases of both kinds,
    /// which show whether the migrations can be applied and reverted
    #[arg(long, global = true)]
    database_url: Option<String>,
}

#[derive(Subcommand)]
enum Action {
    /// Applies all missing migrations
    Run,
    /// Reverts the last migration; its data is lost
    Revert,
    /// Reverts the last migration and applies it again
    Redo,
    /// Lists every migration, and whether the database has it
    Status,
    /// Creates a pair of empty migrations, one for each database
    New {
        /// Words joined by underscores, such as add_webhook_secrets
        name: String,
    },
}

/// Carries out the action.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    if let Action::New { name } = &arguments.action {
        return new(name);
    }
    if let Some(url) = &arguments.database_url {
        let url = DatabaseUrl::parse(url).context("`--database-url`")?;
        return act(&arguments.action, &url);
    }
    let folder = tempfile::tempdir().context("making a temporary folder")?;
    throw_away(&arguments.action, &DatabaseUrl::sqlite(folder.path().join("cicerone.db")))?;
    match Cluster::shared() {
        Some(cluster) => throw_away(&arguments.action, &cluster.empty_database()),
        None => {
            println!("skipped: PostgreSQL is not installed: apt-get install postgresql");
            Ok(())
        }
    }
}

/// On a new database everything is applied first, so that there is something to revert.
fn throw_away(action: &Action, url: &DatabaseUrl) -> anyhow::Result<()> {
    match action {
        Action::Revert | Action::Redo => drop(migrations::run(url)?),
        Action::Run | Action::Status | Action::New { .. } => {}
    }
    act(action, url)
}

fn act(action: &Action, url: &DatabaseUrl) -> anyhow::Result<()> {
    match action {
        Action::Run => match migrations::run(url)?.as_slice() {
            [] => println!("{url}: nothing to apply"),
            applied => applied.iter().for_each(|name| println!("{url}: applied {name}")),
        },
        Action::Revert => report(url, "reverted", migrations::revert(url)?),
        Action::Redo => report(url, "reverted and applied", migrations::redo(url)?),
        Action::Status => {
            for migration in migrations::status(url)? {
                let state = if migration.is_applied { "applied" } else { "missing" };
                println!("{url}: {state} {}", migration.name);
            }
        }
        Action::New { name } => new(name)?,
    }
    Ok(())
}

fn report(url: &DatabaseUrl, done: &str, name: Option<String>) {
    match name {
        Some(name) => println!("{url}: {done} {name}"),
        None => println!("{url}: no migration is applied"),
    }
}

fn new(name: &str) -> anyhow::Result<()> {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    ensure!(!name.is_empty() && name.chars().all(is_word), "`{name}`: lower case and underscores");
    let folders = process::root().join("migrations");
    let stamp = format_description!("[year]-[month]-[day]-[hour][minute][second]");
    let folder = format!("{}_{name}", OffsetDateTime::now_utc().format(stamp)?);
    for database in ["sqlite", "postgres"] {
        let folder = folders.join(database).join(&folder);
        fs::create_dir_all(&folder)?;
        process::write(&folder.join("up.sql"), "-- As in the other database.\n")?;
        process::write(&folder.join("down.sql"), "-- Takes it back.\n")?;
    }
    Ok(())
}
