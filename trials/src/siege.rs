//! Attacks on the release binary by one account, or by callers without a key, while another account
//! must be served as usual.
//!
//! Each siege prints one line: what was attempted, what the other account experienced before and
//! during it, the server's memory and files, and whether the server withstood it. `SECURITY.md`
//! says which limit each siege tests.

mod answers;
mod arena;
mod bombs;
mod connections;
mod copies;
mod dimensions;
mod documents;
mod filters;
mod floods;
mod headings;
mod idle;
mod keys;
mod largest;
mod malformed;
mod model;
mod readers;
mod repetitions;
mod report;
mod restores;
mod sources;
mod two_servers;
mod victim;
mod watch;
mod widget;

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use anyhow::ensure;
use clap::Args;
use tokio::task::LocalSet;

use self::arena::Field;
use self::report::Report;
use crate::{database, open_files, program};

/// Which sieges to run, and their size.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    #[command(flatten)]
    database: database::Choice,
    /// Only the sieges whose names begin with one of these
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// The seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A smoke run: fewer attackers and shorter waits
    #[arg(long)]
    quick: bool,
}

/// Open files that this program needs for its attackers.
const FILES: u64 = 6_000;

/// A siege in progress.
type Siege = Pin<Box<dyn Future<Output = anyhow::Result<Report>>>>;
/// A siege's name, and the function that begins it.
type Entry = (&'static str, fn(Field) -> Siege);

/// The sieges, in the order in which they are run.
const SIEGES: [Entry; 30] = [
    ("headings-text", |field| Box::pin(headings::text(field))),
    ("headings-file", |field| Box::pin(headings::file(field))),
    ("headings-page", |field| Box::pin(headings::page(field))),
    ("headings-pairs", |field| Box::pin(headings::pairs(field))),
    ("largest", |field| Box::pin(largest::run(field))),
    ("filters", |field| Box::pin(filters::run(field))),
    ("idle-soft-limit", |field| Box::pin(idle::soft(field))),
    ("idle-hard-limit", |field| Box::pin(idle::hard(field))),
    ("answers", |field| Box::pin(answers::lists(field))),
    ("turns", |field| Box::pin(answers::turns(field))),
    ("readers-without-key", |field| Box::pin(readers::of_a_file(field))),
    ("readers-with-key", |field| Box::pin(readers::of_a_list(field))),
    ("slow-documents", |field| Box::pin(floods::documents::run(field))),
    ("slow-sites", |field| Box::pin(floods::sites::run(field))),
    ("slow-uploads", |field| Box::pin(floods::uploads::run(field))),
    ("streams", |field| Box::pin(floods::streams::run(field))),
    ("widget", |field| Box::pin(widget::run(field))),
    ("cold-agents", |field| Box::pin(floods::agents::run(field))),
    ("texts", |field| Box::pin(floods::texts::run(field))),
    ("removals", |field| Box::pin(floods::removals::run(field))),
    ("searches", |field| Box::pin(floods::searches::run(field))),
    ("keys", |field| Box::pin(keys::run(field))),
    ("rate", |field| Box::pin(keys::rate(field))),
    ("repetitions", |field| Box::pin(repetitions::run(field))),
    ("restores", |field| Box::pin(restores::run(field))),
    ("killed-copies", |field| Box::pin(copies::run(field))),
    ("bombs", |field| Box::pin(bombs::run(field))),
    ("two-servers", |field| Box::pin(two_servers::run(field))),
    ("malformed", |field| Box::pin(malformed::run(field))),
    ("dimensions", |field| Box::pin(dimensions::run(field))),
];

/// Runs the sieges one after the other. Fails if the server did not withstand one of them.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    open_files::allow(FILES)?;
    let field = Field {
        program: arguments.server.program()?,
        database: arguments.database,
        seed: arguments.seed,
        is_quick: arguments.quick,
    };
    let is_wanted = |name: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|start| name.starts_with(start))
    };
    let mut fell = Vec::new();
    let mut count = 0;
    for (name, siege) in SIEGES.into_iter().filter(|(name, _)| is_wanted(name)) {
        count += 1;
        if !carry_out(name, siege(field.clone())).await {
            fell.push(name);
        }
    }
    ensure!(count > 0, "there is no siege with that name");
    ensure!(fell.is_empty(), "{} of {count} sieges fell: {}", fell.len(), fell.join(", "));
    println!("all {count} sieges held");
    Ok(())
}

/// Runs a siege and prints its line. Returns whether the server withstood it.
async fn carry_out(name: &str, siege: Siege) -> bool {
    let begun = Instant::now();
    // A driver panics if something unexpected happens: then this siege has failed, and the next one
    // begins.
    let siege = LocalSet::new().run_until(async { tokio::task::spawn_local(siege).await }).await;
    let report = match siege {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => broken(format!("{error:#}")),
        Err(error) => broken(error.try_into_panic().map_or_else(|error| error.to_string(), said)),
    };
    println!("{}", report.line(name, begun.elapsed()));
    report.is_held()
}

fn broken(reason: String) -> Report {
    let mut report = Report::default();
    report.fell(reason);
    report
}

/// The message of a panic.
fn said(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "a driver panicked".to_owned())
}
