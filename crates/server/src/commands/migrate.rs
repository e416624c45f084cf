//! `cicerone migrate`.

use cicerone_storage::migrations;

use crate::alone::Alone;
use crate::cli::MigrateCommand;
use crate::configuration::{Configuration, Environment, load};
use crate::data_directory;
use crate::failure::Failure;
use crate::{output, wiring};

/// Manages the database schema.
pub(crate) fn run(environment: &Environment, command: MigrateCommand) -> Result<(), Failure> {
    let configuration = load(environment)?;
    let database = &configuration.database;
    match command {
        MigrateCommand::Run => {
            data_directory::create(configuration.data_dir())?;
            wiring::check_whole(&configuration)?;
            let names = migrations::run(database)?;
            names.iter().try_for_each(|name| output::line(&format!("applied {name}")))
        }
        MigrateCommand::Status => {
            data_directory::create(configuration.data_dir())?;
            migrations::status(database)?.iter().try_for_each(|migration| {
                let state = if migration.is_applied { "applied" } else { "pending" };
                output::line(&format!("{state} {}", migration.name))
            })
        }
        MigrateCommand::Revert => {
            let _alone = alone(&configuration)?;
            report("reverted", migrations::revert(database)?)
        }
        MigrateCommand::Redo => {
            let _alone = alone(&configuration)?;
            report("redone", migrations::redo(database)?)
        }
    }
}

/// Locks the embedded database for commands that remove data. Whether other servers use a PostgreSQL
/// database cannot be known here.
fn alone(configuration: &Configuration) -> Result<Option<Alone>, Failure> {
    let open = || Alone::open(configuration);
    configuration.is_embedded().then(open).transpose()
}

fn report(what: &str, name: Option<String>) -> Result<(), Failure> {
    match name {
        Some(name) => output::line(&format!("{what} {name}")),
        None => output::line(&"no migration is applied"),
    }
}
