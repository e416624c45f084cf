//! The project's own tasks: `cargo xtask --help`.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]
#![expect(
    clippy::indexing_slicing,
    reason = "a field that JSON lacks reads as null, and a tool may stop"
)]

mod advisories;
mod ci;
mod layers;
mod migrate;
mod openapi;
mod process;
mod rust_version;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// The gate: every check and all tests; `.ci/run` calls it
    Ci,
    /// All tests
    Test {
        /// Names of tests, or options such as --nocapture, for the test binaries
        filter: Vec<String>,
    },
    /// Checks which crate depends on which
    Layers,
    /// Checks for known vulnerabilities, with the RustSec database or the summary in this repository
    Advisories,
    /// Checks the declared Rust version: whether the dependencies allow it, and whether it compiles
    RustVersion,
    /// Writes docs/openapi.json from the code, and the types of the clients from it
    Openapi {
        /// Only checks that the file is up to date
        #[arg(long)]
        check: bool,
    },
    /// Migrations of both databases
    Migrate(migrate::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Ci => ci::run(),
        Task::Test { filter } => ci::test(&filter),
        Task::Layers => layers::check(),
        Task::Advisories => advisories::check(),
        Task::RustVersion => rust_version::check(),
        Task::Openapi { check } => openapi::run(check),
        Task::Migrate(arguments) => migrate::run(arguments),
    }
}
