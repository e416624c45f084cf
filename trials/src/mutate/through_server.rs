//! Sends changed files through the whole service: each is trained or fails with a reason, and the
//! server's process survives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, ensure};
use cicerone_tests::process::Server;

use super::{Original, change};
use crate::bench::memory;
use crate::formats::End;
use crate::{hostile, program};

/// Files in progress at the same time.
const PARALLEL: usize = 8;

/// Sends `count` changed files of a format through a server.
pub(super) async fn run(
    binary: &program::ServerBinary,
    format: &'static str,
    seed: u64,
    count: usize,
    originals: &Arc<Vec<Original>>,
) -> anyhow::Result<()> {
    let server = Server::of(&binary.program()?).start();
    let pid = server.pid();
    let agent = server.client().agent().await;
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..PARALLEL {
        let (client, agent) = (server.client(), agent.clone());
        let (originals, next) = (Arc::clone(originals), Arc::clone(&next));
        tasks.push(tokio::spawn(async move {
            let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(original) = originals.get(number % originals.len()) else { break };
                if number >= count {
                    break;
                }
                let bytes = change::of(&original.bytes, seed, format, number);
                let name = format!("{number}.{format}");
                let outcome = hostile::through(&client, &agent, &name, bytes).await?;
                let outcome = match outcome.strip_prefix("failed: ") {
                    Some(reason) => format!("failed: {:?}", End::of(reason)),
                    None => outcome,
                };
                *outcomes.entry(outcome).or_default() += 1;
            }
            anyhow::Ok(outcomes)
        }));
    }
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks {
        for (outcome, count) in task.await.context("a task")?? {
            *outcomes.entry(outcome).or_default() += count;
        }
    }
    ensure!(server.pid() == pid, "the server's process has changed");
    println!("       through a server: {outcomes:?}; {}", memory::of(pid)?);
    Ok(())
}
