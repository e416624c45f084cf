//! Kills the server under a mixed write load and checks, after every restart, that everything it
//! acknowledged is there.

mod events;
mod model;
mod writer;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::process::Server;
use clap::Args;
use rand::Rng as _;
use tokio::sync::watch;

pub(crate) use self::events::check as check_events;
use self::model::Model;
use crate::process;

/// How long to try.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: process::ServerBinary,
    /// Kills
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// Writers at once
    #[arg(long, default_value_t = 8)]
    writers: usize,
}

/// Longest time under load before a kill.
const LOAD_MILLIS: u64 = 800;
/// How long after a start no source may still be on its way.
const SETTLED: Duration = Duration::from_secs(5);

/// Runs the rounds on the release binary with SQLite. Fails on the first thing lost, half done or
/// done twice.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let mut server = Server::of(&program).start();
    let mut models: Vec<Model> = (0..arguments.writers).map(Model::new).collect();
    let mut slowest = Duration::ZERO;
    for round in 1..=arguments.rounds {
        models = load(&mut server, models).await?;
        server.restart();
        let started = Instant::now();
        slowest = slowest.max(settle(&server, &mut models, started).await?);
        for model in &mut models {
            model.verify(&server.client()).await.with_context(|| format!("after kill {round}"))?;
        }
        let acknowledged: usize = models.iter().map(Model::acknowledged).sum();
        println!("kill {round}: {acknowledged} acknowledged writes so far, all there");
    }
    for model in &models {
        model.wait_until_still(&server.client()).await?;
    }
    server.kill();
    let checked = check_events(&server.data().join("cicerone.db"))?;
    println!("{checked} finished sources, each with exactly one event");
    println!("slowest return to rest after a start: {:.0} ms", slowest.as_secs_f64() * 1_000.0);
    Ok(())
}

/// Writes with every writer for a random while, then kills the server under them.
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

/// Repeats what was cut off, each request with its own key, and waits until no source is on its
/// way. Gives how long that took.
async fn settle(
    server: &Server,
    models: &mut [Model],
    started: Instant,
) -> anyhow::Result<Duration> {
    let client = server.client();
    loop {
        let mut moving = 0;
        for model in models.iter() {
            moving += model.moving(&client).await?;
        }
        if moving == 0 {
            break;
        }
        ensure!(started.elapsed() < SETTLED, "{moving} sources are still on their way");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let settled = started.elapsed();
    ensure!(settled < SETTLED, "sources were on their way for {settled:?}");
    for model in models.iter_mut() {
        writer::repeat(&client, model).await?;
    }
    Ok(settled)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the moment of a kill must not be the same each time"
)]
pub(crate) fn random_below(bound: u64) -> u64 {
    rand::rng().next_u64() % bound.max(1)
}
