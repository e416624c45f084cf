//! The program cicerone: configuration, wiring, telemetry and subcommands.
//!
//! The entire program is in this library, so that the binary and the one that the tests start are the same. [`main`]
//! reads the command line, and each subcommand has a module of its own in `commands`.

mod alone;
mod api_client;
mod cli;
mod commands;
mod configuration;
mod data_directory;
mod database_file;
mod failure;
mod file_lock;
mod leftovers;
mod output;
mod shutdown;
mod supervisor;
mod telemetry;
mod wiring;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use cli::{Cli, Command, PlanArguments};
use configuration::Environment;
use failure::Failure;

/// Runs the program with this process's arguments and environment.
///
/// Exits with 0 on success, with 1 if the work failed, with 2 if the command line or a setting is
/// wrong, and with 3 if a backup is incomplete. All but the first print a line on standard error.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(Command::ReadWorker { .. }) = cli.command {
        return cicerone_ingestion::serve_reader();
    }
    if let Some(Command::Plan(arguments)) = &cli.command {
        return plan(&cli.environment(), arguments);
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Exits with 0 if there is nothing to do, with 2 if there is, and with 1 if the work failed for any reason.
fn plan(environment: &Environment, arguments: &PlanArguments) -> ExitCode {
    match commands::declared::plan(environment, arguments) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(2),
        Err(failure) => {
            failure.report();
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    let environment = cli.environment();
    let Some(command) = cli.command else {
        return output::print(&Cli::command().render_long_help().to_string());
    };
    match command {
        // `main` handles these before this.
        Command::ReadWorker { .. } | Command::Plan(_) => Ok(()),
        Command::Serve => commands::serve::run(&environment),
        Command::Ask(arguments) => commands::ask::run(environment, arguments),
        Command::Mcp(arguments) => commands::mcp::run(environment, arguments),
        Command::Read(arguments) => commands::read::run(&environment, &arguments),
        Command::Apply(arguments) => commands::declared::apply(&environment, &arguments),
        Command::Export(arguments) => commands::declared::export(&environment, &arguments),
        Command::Import(arguments) => commands::import::run(&environment, &arguments),
        Command::Account { command } => commands::account::run(&environment, command),
        Command::Key { command } => commands::key::run(&environment, command),
        Command::Migrate { command } => commands::migrate::run(&environment, command),
        Command::Backup { file } => commands::backup::run(&environment, &file),
        Command::Restore { file } => commands::restore::run(&environment, &file),
        Command::Config { command } => commands::config::run(&environment, command),
        Command::Health => commands::health::run(&environment),
        Command::Openapi => commands::openapi::run(&environment),
        Command::Completions { shell } => commands::completions::run(shell),
    }
}
