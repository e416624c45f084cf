//! Fills the disk under a mixed load, again and again: acknowledged changes are kept, others are
//! refused correctly, something can be deleted while the disk is full, and the server recovers by
//! itself as soon as there is space.

mod load;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_storage::DatabaseUrl;
use cicerone_tests::client::Client;
use cicerone_tests::disk::{Ballast, Disk};
use cicerone_tests::process::Server;
use clap::Args;
use diesel::prelude::*;
use diesel::sql_types::Text;
use serde_json::json;
use tempfile::TempDir;

use self::load::{Load, WRITERS};
use crate::bench::memory;
use crate::crash::model::{Model, Pending};
use crate::crash::verify::census;
use crate::crash::{LONGEST_WAIT, check_events, random_below, wait_until_processed};
use crate::latency::millis;
use crate::program;

/// How often to fill the disk, and its size.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// How often the disk is filled
    #[arg(long, default_value_t = 20)]
    points: usize,
    /// Seconds for which it stays full each time
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// The size of the disk in megabytes
    #[arg(long, default_value_t = 64)]
    megabytes: u32,
}

/// The longest time with free space before the disk is filled.
const SPACE_MILLIS: u64 = 1_000;
/// How soon a write must succeed after space was freed.
const RECOVERED: Duration = Duration::from_secs(10);
/// The least free bytes before the disk is filled: otherwise the data alone fills it.
const LEAST_FREE: u64 = 2 * 1_024 * 1_024;
/// The states that a source may have at the end. Its processing may have met the full disk too
/// often.
const STATES: [&str; 2] = ["trained", "failed"];

/// Runs the trial, and always unmounts the disk. Returns an error if a promise is broken.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    // Declared before the server, so that the server ends first.
    let disk = Disk::new(arguments.megabytes).context("mounting a disk")?;
    let data = TempDir::with_prefix_in("data-", disk.path()).context("making a folder")?;
    let mut server = Server::of(&program).start_in(data);
    let deleted = Deleted::new(&server, arguments.points).await;
    let mut load = Load::start(&server);
    let mut after = Model::new(WRITERS);
    let full = Duration::from_secs(arguments.seconds);
    let mut slowest = Duration::ZERO;
    for point in 1..=arguments.points {
        let recovered = fill(&server, &disk, &mut load, &mut after, &deleted, full)
            .await
            .with_context(|| format!("at point {point}"))?;
        slowest = slowest.max(recovered);
        println!(
            "{point}: {} writes acknowledged so far, {} refused; a write after {:.0} ms of space",
            load.acknowledged(),
            load.refused(),
            millis(recovered)
        );
    }
    let (refused, reads) = (load.refused(), load.reads());
    let mut models = load.end().await?;
    models.push(after);
    wait_until_processed(&server.client(), &models, Instant::now(), LONGEST_WAIT).await?;

    server.terminate();
    let status = server.wait();
    ensure!(status.success(), "the server ended with {status}: {}", server.stderr());
    let database = server.data().join("cicerone.db");
    check_integrity(&database)?;
    let events = check_events(&DatabaseUrl::sqlite(database))?;
    server.restart();
    let failed = verify(&server.client(), &mut models).await?;
    ensure!(refused > 0 || arguments.points == 0, "nothing was refused: the disk was never full");
    println!(
        "{} points, {} writes acknowledged and all there, {refused} refused and none of them there, \
         {reads} reads; {events} finished sources, {failed} of them failed; slowest write after \
         there was space: {:.0} ms",
        arguments.points,
        models.iter().map(Model::acknowledged).sum::<usize>(),
        millis(slowest),
    );
    Ok(())
}

/// Fills the disk at a random moment, keeps it full for this time and frees the space. Returns how
/// long after that a write succeeds.
async fn fill(
    server: &Server,
    disk: &Disk,
    load: &mut Load,
    after: &mut Model,
    deleted: &Deleted,
    time: Duration,
) -> anyhow::Result<Duration> {
    tokio::time::sleep(Duration::from_millis(random_below(SPACE_MILLIS))).await;
    let ballast = Ballast::new(disk.path()).context("filling the disk")?;
    let free = ballast.bytes();
    ensure!(free >= LEAST_FREE, "only {free} bytes were free: try more `--megabytes`");
    let end = Instant::now() + time;
    while Instant::now() < end {
        // Space that the server frees in the meantime is not filled: it is reserved for deletions, and changes must not
        // use it.
        load.check()?;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    memory::of(server.pid()).with_context(|| format!("the server ended: {}", server.stderr()))?;
    delete_on_full_disk(server, deleted).await?;
    ballast.remove()?;
    let recovered = recover(&server.client(), after).await?;
    until_ready(server, 200).await?;
    Ok(recovered)
}

/// Deletes a source while the disk is full, after `/readyz` has said that writes fail.
async fn delete_on_full_disk(server: &Server, deleted: &Deleted) -> anyhow::Result<()> {
    until_ready(server, 503).await?;
    let Deleted { client, agent } = deleted;
    let list = client.get(&format!("/v1/agents/{agent}/sources?page_size=1")).await.expect(200);
    let source = list["data"][0]["id"].as_str().context("no source is left to be deleted")?;
    let path = format!("/v1/sources/{source}");
    // Claiming the key of a deletion needs space, too.
    let answer = client.request("DELETE", &path).idempotent(source).send().await;
    ensure!(answer.status == 204, "a deletion on the full disk: {}", answer.text());
    let answer = client.get(&format!("/v1/sources/{source}")).await;
    ensure!(answer.status == 404, "a deleted source still exists: {}", answer.text());
    Ok(())
}

/// Waits until `/readyz` answers with this status.
async fn until_ready(server: &Server, status: u16) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let answer = server.client().get("/readyz").await;
        if answer.status == status {
            return Ok(());
        }
        ensure!(began.elapsed() < RECOVERED, "`/readyz` answers {}, not {status}", answer.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sources of a separate account, one of which is deleted each time the disk is full.
struct Deleted {
    client: Client,
    agent: String,
}

impl Deleted {
    async fn new(server: &Server, sources: usize) -> Self {
        let client = server.account("deleted on the full disk");
        let agent = client.agent().await;
        for number in 0..sources {
            let text = format!("Source {number} is to be deleted. ").repeat(100);
            client.text(&agent, &text).await;
        }
        Self { client, agent }
    }
}

/// Retries a write until it succeeds. Returns how long that took.
async fn recover(client: &Client, after: &mut Model) -> anyhow::Result<Duration> {
    let request = Pending {
        method: "POST",
        path: "/v1/agents".to_owned(),
        body: Some(json!({ "name": "Made when there was space again" })),
        key: String::new(),
    };
    let began = Instant::now();
    loop {
        if let Some(answer) = load::send(client, &request).await? {
            after.acknowledge(&request, &answer)?;
            return Ok(began.elapsed());
        }
        ensure!(
            began.elapsed() < RECOVERED,
            "a write is still refused {RECOVERED:?} after space was freed"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Checks that the server has exactly what it acknowledged. Returns how many sources failed.
async fn verify(client: &Client, models: &mut [Model]) -> anyhow::Result<usize> {
    let mut failed = 0;
    for model in models.iter_mut() {
        model.verify(client, &STATES).await?;
        model.look_for_all_deleted(client).await;
        failed += model.sources_in(client, &["failed"]).await.len();
    }
    census(client, models).await?;
    Ok(failed)
}

/// One finding of SQLite's check of a file; `ok` if it is intact.
#[derive(QueryableByName)]
struct Finding {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

/// Checks that a database is intact. It must not be open elsewhere.
fn check_integrity(file: &Path) -> anyhow::Result<()> {
    let path = file.to_str().context("a path that is not UTF-8")?;
    let mut connection = SqliteConnection::establish(path).context("opening the database")?;
    let findings: Vec<Finding> =
        diesel::sql_query("PRAGMA integrity_check").load(&mut connection)?;
    let findings: Vec<&str> = findings.iter().map(|one| one.integrity_check.as_str()).collect();
    ensure!(findings == ["ok"], "the database is damaged: {}", findings.join("; "));
    Ok(())
}
