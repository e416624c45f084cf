//! Writers and a reader that continue whether or not there is space.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::crash::model::{Model, Pending};
use crate::crash::writer;

/// Concurrent writers.
pub(super) const WRITERS: usize = 4;
/// The pause of each between two requests: their data must not fill the disk by itself.
const PAUSE: Duration = Duration::from_millis(40);

/// The number of requests by outcome.
#[derive(Debug, Default)]
struct Counts {
    acknowledged: AtomicUsize,
    refused: AtomicUsize,
    reads: AtomicUsize,
}

/// A running load.
pub(super) struct Load {
    stop: watch::Sender<bool>,
    counts: Arc<Counts>,
    /// The writers return their models, the reader returns nothing.
    callers: JoinSet<anyhow::Result<Option<Model>>>,
}

impl Load {
    pub(super) fn start(server: &Server) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (counts, client) = (Arc::new(Counts::default()), server.client());
        let mut callers = JoinSet::new();
        for number in 0..WRITERS {
            let (counts, client) = (Arc::clone(&counts), client.clone());
            callers.spawn(write(client, Model::new(number), counts, stopped.clone()));
        }
        callers.spawn(read(client, Arc::clone(&counts), stopped));
        Self { stop, counts, callers }
    }

    /// How many writes were acknowledged.
    pub(super) fn acknowledged(&self) -> usize {
        self.counts.acknowledged.load(Ordering::Relaxed)
    }

    /// How many writes were refused because the disk was full.
    pub(super) fn refused(&self) -> usize {
        self.counts.refused.load(Ordering::Relaxed)
    }

    /// How many reads were answered.
    pub(super) fn reads(&self) -> usize {
        self.counts.reads.load(Ordering::Relaxed)
    }

    /// Returns an error if a writer or the reader has failed.
    pub(super) fn check(&mut self) -> anyhow::Result<()> {
        match self.callers.try_join_next() {
            Some(ended) => {
                ended.context("a caller's task")??;
                bail!("a caller ended too early")
            }
            None => Ok(()),
        }
    }

    /// Ends the load. Returns the models of the writers.
    pub(super) async fn end(mut self) -> anyhow::Result<Vec<Model>> {
        self.stop.send_replace(true);
        let mut models = Vec::new();
        while let Some(ended) = self.callers.join_next().await {
            models.extend(ended.context("a caller's task")??);
        }
        Ok(models)
    }
}

/// Writes. A refused request has had no effect, and is not recorded.
async fn write(
    client: Client,
    mut model: Model,
    counts: Arc<Counts>,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<Option<Model>> {
    while !*stopped.borrow() {
        let request = writer::next(&mut model);
        match send(&client, &request).await? {
            Some(answer) => {
                model.acknowledge(&request, &answer)?;
                counts.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                counts.refused.fetch_add(1, Ordering::Relaxed);
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(Some(model))
}

/// Sends a request once and without an idempotency key, which could not be released on a full disk.
/// `None` if it was refused because nothing can be written; fails on any other refusal.
pub(super) async fn send(client: &Client, request: &Pending) -> anyhow::Result<Option<Value>> {
    let Pending { method, path, body, .. } = request;
    let mut sent = client.request(method, path);
    if let Some(body) = body {
        sent = sent.json(body);
    }
    let answer = sent.try_send().await.with_context(|| format!("{method} {path}"))?;
    match answer.status {
        200 | 201 => Ok(Some(answer.json())),
        204 => Ok(Some(Value::Null)),
        503 if answer.json()["error"]["code"] == "service_unavailable" => Ok(None),
        other => bail!("{method} {path}: status {other}: {}", answer.text()),
    }
}

/// Reads, which needs no space.
async fn read(
    client: Client,
    counts: Arc<Counts>,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<Option<Model>> {
    while !*stopped.borrow() {
        let request = client.request("GET", "/v1/agents?page_size=10");
        let answer = request.try_send().await.context("reading")?;
        let status = answer.status;
        ensure!(status == 200, "a read was answered {status}: {}", answer.text());
        counts.reads.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(None)
}
