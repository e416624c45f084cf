//! Adds hostile sources of every kind, and waits until their processing ends.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use cicerone_tests::client::Client;
use serde_json::json;
use tokio::time::sleep;

/// The pause between two checks of a source.
const POLL: Duration = Duration::from_millis(50);

/// How a source ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It was not accepted: the status of the answer.
    Refused(u16),
    Trained,
    /// It failed, with a reason.
    Failed,
}

impl End {
    /// A word for it, in reports.
    pub(super) fn word(self) -> String {
        match self {
            Self::Refused(status) => format!("refused with {status}"),
            Self::Trained => "trained".to_owned(),
            Self::Failed => "failed".to_owned(),
        }
    }
}

/// A source to add: its type and content.
#[derive(Debug, Clone)]
pub(super) enum Material {
    Text(String),
    /// The `content` of question/answer pairs.
    Pairs(String),
    /// A website's first page.
    Website(String),
    /// A file: its name and bytes.
    File(&'static str, Vec<u8>),
}

/// Adds the source. Returns its id, or the status of a refusal.
pub(super) async fn add(
    client: &Client,
    agent: &str,
    material: Material,
) -> anyhow::Result<Result<String, u16>> {
    let (kind, content) = match material {
        Material::Text(content) => ("text", content),
        Material::Pairs(content) => ("qa", content),
        Material::Website(address) => ("website", address),
        Material::File(name, bytes) => {
            let request = client.request("POST", "/v1/files").file(name, bytes);
            let answer = request.try_send().await.context("uploading")?;
            if answer.status != 201 {
                return Ok(Err(answer.status));
            }
            let id = answer.json()["id"].as_str().context("a file without an id")?.to_owned();
            ("file", id)
        }
    };
    let body = json!({ "type": kind, "content": content });
    let path = format!("/v1/agents/{agent}/sources");
    let answer = client.request("POST", &path).json(&body).try_send().await.context("adding")?;
    if answer.status != 201 {
        return Ok(Err(answer.status));
    }
    Ok(Ok(answer.json()["id"].as_str().context("a source without an id")?.to_owned()))
}

/// Waits until processing of a source has ended. Fails if the server does not answer or the time is
/// over.
pub(super) async fn ended(client: &Client, id: &str, patience: Duration) -> anyhow::Result<End> {
    let deadline = Instant::now() + patience;
    let path = format!("/v1/sources/{id}");
    loop {
        let found = client.request("GET", &path).try_send().await.context("reading a source")?;
        match found.json()["status"].as_str() {
            Some("trained") => return Ok(End::Trained),
            Some("failed") => return Ok(End::Failed),
            _ => sleep(POLL).await,
        }
        if Instant::now() > deadline {
            bail!("a source has not ended after {} s", patience.as_secs());
        }
    }
}

/// Adds the source and waits until its processing ends.
pub(super) async fn carry_through(
    client: &Client,
    agent: &str,
    material: Material,
    patience: Duration,
) -> anyhow::Result<End> {
    match add(client, agent, material).await? {
        Ok(id) => ended(client, &id, patience).await,
        Err(status) => Ok(End::Refused(status)),
    }
}
