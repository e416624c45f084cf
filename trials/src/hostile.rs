//! Sends real PDF files with one byte changed through the whole service: each is trained or fails
//! with a reason, and the server's process survives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, bail, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use clap::Args;
use serde_json::json;

use crate::bench::memory;
use crate::{crash, program};

/// How much to try.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// The folder with the evaluation data
    #[arg(long)]
    data: PathBuf,
    /// Number of changed files
    #[arg(long, default_value_t = 10_000)]
    rounds: usize,
}

/// The number of original files.
const FILES: usize = 20;
/// The largest original file, in bytes.
const FILE_BYTES: usize = 300_000;
/// Files in progress at the same time.
const PARALLEL: usize = 8;

/// Runs the rounds on the release binary. Returns an error if a file is neither trained nor failed,
/// or if the server's process has ended.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let files = Arc::new(files(&arguments.data.join("pdf"))?);
    let program = arguments.server.program()?;
    let server = Server::of(&program).start();
    let (pid, memory_before) = (server.pid(), memory::of(server.pid())?);
    let agent = server.client().agent().await;
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..PARALLEL {
        let (client, agent) = (server.client(), agent.clone());
        let (files, next) = (Arc::clone(&files), Arc::clone(&next));
        tasks.push(tokio::spawn(async move {
            let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
            loop {
                let round = next.fetch_add(1, Ordering::Relaxed);
                if round >= arguments.rounds {
                    return anyhow::Ok(outcomes);
                }
                let outcome = change(&client, &agent, &files, round).await?;
                *outcomes.entry(outcome).or_default() += 1;
            }
        }));
    }
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks {
        for (outcome, count) in task.await.context("a task")?? {
            *outcomes.entry(outcome).or_default() += count;
        }
    }
    for (outcome, count) in outcomes {
        println!("{count:6} {outcome}");
    }
    let memory_after = memory::of(pid)?;
    ensure!(server.pid() == pid, "the server's process has changed");
    println!("the server is still process {pid}; before: {memory_before}; after: {memory_after}");
    Ok(())
}

/// Sends a changed file through the service. Returns the outcome.
async fn change(
    client: &Client,
    agent: &str,
    files: &[(String, Vec<u8>)],
    round: usize,
) -> anyhow::Result<String> {
    let (name, bytes) = files.get(round % files.len()).context("no files")?;
    let mut bytes = bytes.clone();
    let at = crash::random_below(bytes.len() as u64) as usize;
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 + crash::random_below(255) as u8;
    }
    through(client, agent, name, bytes).await
}

/// Uploads a file, waits until it is trained or has failed, and removes it again. Returns the
/// outcome.
pub(crate) async fn through(
    client: &Client,
    agent: &str,
    name: &str,
    bytes: Vec<u8>,
) -> anyhow::Result<String> {
    let answer = client.upload(name, bytes).await;
    if answer.status == 422 {
        return Ok("refused at the upload: of no type that is read".to_owned());
    }
    let file = answer.expect(201)["id"].as_str().context("a file without an id")?.to_owned();
    let body = json!({ "type": "file", "content": file });
    let source = client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201);
    let path = format!("/v1/sources/{}", source["id"].as_str().context("a source without an id")?);
    let outcome = loop {
        let found = client.get(&path).await.expect(200);
        match found["status"].as_str() {
            Some("trained") => break "trained".to_owned(),
            Some("failed") => break format!("failed: {}", found["error_message"]),
            Some(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            None => bail!("a source without a status"),
        }
    };
    client.delete(&path).await.expect_nothing();
    Ok(outcome)
}

/// The files to change, selected evenly from all that are not too large.
fn files(folder: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).with_context(|| next.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "pdf")
                && path.metadata()?.len() <= FILE_BYTES as u64
            {
                found.push(path);
            }
        }
    }
    found.sort();
    let step = (found.len() / FILES).max(1);
    let chosen = found.into_iter().step_by(step).take(FILES);
    chosen
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, std::fs::read(&path)?))
        })
        .collect()
}
