//! Kills the server under a mixed write load and checks after every restart that it has exactly
//! what it acknowledged.

mod events;
pub(crate) mod model;
pub(crate) mod verify;
mod waiting;
pub(crate) mod writer;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use clap::Args;
use rand::Rng as _;
use tokio::sync::watch;

pub(crate) use self::events::check as check_events;
use self::model::Model;
use self::verify::{ON_THEIR_WAY, census};
use self::waiting::Waiting;
use crate::{database, program};

/// How many kills, and on which database.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    #[command(flatten)]
    database: database::Choice,
    /// Kills
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// Minutes to continue for, instead of a number of kills; at least one kill
    #[arg(long, conflicts_with = "rounds")]
    minutes: Option<u64>,
    /// Concurrent writers
    #[arg(long, default_value_t = 8)]
    writers: usize,
}

/// Longest time under load before a kill.
const LOAD_MILLIS: u64 = 800;
/// How long after a start sources may still be in progress, if the server has its database to
/// itself.
const SETTLED: Duration = Duration::from_secs(5);
/// The longest that any source may be in progress: a killed server's leases expire after half a
/// minute, and a source may be affected by two kills.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(75);
/// The states that a source may have after a kill: no source is added that fails.
const STATES: [&str; 3] = ["trained", ON_THEIR_WAY[0], ON_THEIR_WAY[1]];

/// When to stop.
enum End {
    /// After this many kills.
    Kills(usize),
    /// After the first kill from this time on.
    At(Instant),
}

impl End {
    fn of(arguments: &Arguments) -> Self {
        match arguments.minutes {
            Some(minutes) => Self::At(Instant::now() + Duration::from_secs(60 * minutes)),
            None => Self::Kills(arguments.rounds),
        }
    }

    fn is_reached(&self, kills: usize) -> bool {
        match self {
            Self::Kills(rounds) => kills >= *rounds,
            Self::At(end) => kills > 0 && Instant::now() >= *end,
        }
    }
}

/// Runs the rounds. Returns an error as soon as something is lost, half done or done twice.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let database = arguments.database.open()?;
    let is_shared = database.is_shared();
    let mut server = database.under(Server::of(&program)).start();
    let mut models: Vec<Model> = (0..arguments.writers).map(Model::new).collect();
    let (mut slowest, mut waiting) = (Duration::ZERO, Waiting::default());
    let (end, mut kills) = (End::of(&arguments), 0);
    while !end.is_reached(kills) {
        kills += 1;
        models = load(&mut server, models).await?;
        server.restart();
        let (client, started) = (server.client(), Instant::now());
        if is_shared {
            waiting.look(&client, &models).await?;
        } else {
            slowest = slowest.max(wait_until_processed(&client, &models, started, SETTLED).await?);
        }
        let checked = check(&client, &mut models, is_shared).await;
        checked.with_context(|| format!("after kill {kills}"))?;
        let acknowledged: usize = models.iter().map(Model::acknowledged).sum();
        println!("kill {kills}: {acknowledged} acknowledged writes so far, none lost");
    }
    let limit = if is_shared { LONGEST_WAIT } else { SETTLED };
    let checked = finish(&server.client(), &mut models, limit).await;
    checked.context("at the end")?;
    server.kill();
    let events = check_events(&database.url(&server))?;
    println!("{events} finished sources, each with exactly one event");
    if is_shared {
        println!("a source was in progress for up to {:.1} s", waiting.longest().as_secs_f64());
    } else {
        println!("slowest catch-up after a start: {:.0} ms", slowest.as_secs_f64() * 1_000.0);
    }
    Ok(())
}

/// Lets every writer write for a random time, then kills the server during that.
async fn load(server: &mut Server, models: Vec<Model>) -> anyhow::Result<Vec<Model>> {
    let (stop, stopped) = watch::channel(false);
    let stop = Arc::new(stop);
    let mut tasks = Vec::new();
    for mut model in models {
        let (client, stopped) = (server.client(), stopped.clone());
        tasks.push(tokio::spawn(async move {
            writer::write(&client, &mut model, stopped).await.map(|()| model)
        }));
    }
    tokio::time::sleep(Duration::from_millis(random_below(LOAD_MILLIS))).await;
    server.kill();
    stop.send_replace(true);
    let mut models = Vec::new();
    for task in tasks {
        models.push(task.await.context("a writer's task")??);
    }
    Ok(models)
}

/// Waits until no source is in progress. Returns how long after `started` that was.
pub(crate) async fn wait_until_processed(
    client: &Client,
    models: &[Model],
    started: Instant,
    limit: Duration,
) -> anyhow::Result<Duration> {
    loop {
        let mut moving = 0;
        for model in models {
            moving += model.sources_in(client, &ON_THEIR_WAY).await.len();
        }
        let elapsed = started.elapsed();
        ensure!(elapsed < limit, "{moving} sources are still in progress after {elapsed:?}");
        if moving == 0 {
            return Ok(elapsed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Repeats the requests that were cut off, each with its own key, and compares the models with the
/// server.
async fn check(client: &Client, models: &mut [Model], is_shared: bool) -> anyhow::Result<()> {
    for model in models.iter_mut() {
        writer::repeat(client, model, is_shared).await?;
    }
    for model in models.iter_mut() {
        model.verify(client, &STATES).await?;
    }
    census(client, models).await
}

/// Compares everything once more when no source is in progress any more.
async fn finish(client: &Client, models: &mut [Model], limit: Duration) -> anyhow::Result<()> {
    wait_until_processed(client, models, Instant::now(), limit).await?;
    for model in models.iter_mut() {
        model.verify(client, &["trained"]).await?;
        model.look_for_all_deleted(client).await;
    }
    census(client, models).await
}

#[expect(
    clippy::disallowed_methods,
    reason = "the moment of a kill must not be the same each time"
)]
pub(crate) fn random_below(bound: u64) -> u64 {
    rand::rng().next_u64() % bound.max(1)
}
