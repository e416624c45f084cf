//! Bringing an agent's index in step with the rows: the difference is applied in one commit.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cicerone_domain::ports::AgentContent;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind};

use super::Shared;
use crate::search::Snapshot;
use crate::store::{Store, Unusable, Writer, content_key};

/// How often the content may change under the hands of one synchronisation.
const ATTEMPTS: usize = 20;

/// The end of one attempt.
enum Outcome {
    /// The index holds the content.
    Done(Arc<Snapshot>),
    /// A source's content was replaced or deleted meanwhile.
    ContentChanged,
}

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The rows cannot be read.
    #[error(transparent)]
    Feed(Error),
    /// The index cannot be written.
    #[error("the index cannot be written")]
    Index(#[source] Unusable),
    /// The work on it ended in a panic.
    #[error("the work on the index was broken off")]
    BrokenOff(#[from] tokio::task::JoinError),
}

impl From<tantivy::TantivyError> for Failure {
    fn from(error: tantivy::TantivyError) -> Self {
        Self::Index(error.into())
    }
}

impl From<Unusable> for Failure {
    fn from(error: Unusable) -> Self {
        Self::Index(error)
    }
}

/// Brings an agent's index at least to `agent.generation`; none where the agent is gone.
pub(super) async fn synchronise(
    shared: Arc<Shared>,
    agent: AgentVersion,
) -> Result<Option<Arc<Snapshot>>, Error> {
    let _turn = shared.turns.take(agent.id).await;
    if let Some(snapshot) = shared.current(agent) {
        return Ok(Some(snapshot));
    }
    let _writer = Arc::clone(&shared.writers).acquire_owned().await.map_err(Error::internal)?;
    let mut has_failed = false;
    for _ in 0..ATTEMPTS {
        let Some(content) = shared.feed.agent_content(agent.id).await? else {
            shared.open.remove(agent.id);
            shared.folders.remove(agent.id).await?;
            return Ok(None);
        };
        if content.generation < agent.generation {
            // What a row said cannot be unsaid: the rows are read somewhere that lags behind.
            tokio::task::yield_now().await;
            continue;
        }
        match apply(&shared, agent.id, &content).await {
            Ok(Outcome::Done(snapshot)) => {
                shared.open.insert(agent.id, Arc::clone(&snapshot));
                return Ok(Some(snapshot));
            }
            Ok(Outcome::ContentChanged) => {}
            Err(Failure::Feed(error)) => return Err(error),
            Err(error) if has_failed => return Err(Error::unavailable(error)),
            Err(error) => {
                tracing::warn!(agent = %agent.id, error = &error as &dyn std::error::Error,
                    "an index cannot be changed and is made again");
                has_failed = true;
                shared.folders.remove(agent.id).await?;
            }
        }
    }
    Err(Error::unavailable(format!(
        "the content of `{}` did not settle at generation {}",
        agent.id, agent.generation
    )))
}

/// What an index lacks and what it has too much.
struct Difference {
    store: Store,
    remove: Vec<String>,
    add: Vec<(Id<kind::Source>, u64)>,
    /// Whether there is nothing to commit.
    is_in_step: bool,
}

async fn apply(
    shared: &Shared,
    agent: Id<kind::Agent>,
    content: &AgentContent,
) -> Result<Outcome, Failure> {
    let folder = shared.folders.of(agent);
    let difference = open(folder, agent, content.clone()).await?;
    let Difference { store, remove, add, is_in_step } = difference;
    let recent = shared.recent.clone();
    if is_in_step {
        let snapshot =
            tokio::task::spawn_blocking(move || Snapshot::new(&store, &recent)).await??;
        return Ok(Outcome::Done(Arc::new(snapshot)));
    }
    let (store, mut writer) = tokio::task::spawn_blocking(move || {
        let writer = Writer::open(&store)?;
        remove.iter().for_each(|content| writer.remove(content));
        tantivy::Result::Ok((store, writer))
    })
    .await??;
    for (source, version) in add {
        let passages = shared.feed.passages(source, version).await.map_err(Failure::Feed)?;
        let Some(passages) = passages else { return Ok(Outcome::ContentChanged) };
        writer = tokio::task::spawn_blocking(move || {
            writer.add(source, version, passages)?;
            tantivy::Result::Ok(writer)
        })
        .await??;
    }
    let generation = content.generation;
    let snapshot = tokio::task::spawn_blocking(move || {
        writer.commit(generation)?;
        writer.tidy()?;
        Snapshot::new(&store, &recent)
    })
    .await??;
    tracing::debug!(%agent, generation, passages = snapshot.passages(), "an index is in step");
    Ok(Outcome::Done(Arc::new(snapshot)))
}

/// Opens the index, or makes a new one where it is of no use, and compares it with the content.
async fn open(
    folder: PathBuf,
    agent: Id<kind::Agent>,
    content: AgentContent,
) -> Result<Difference, Failure> {
    let usable = {
        let folder = folder.clone();
        let content = content.clone();
        tokio::task::spawn_blocking(move || compare(Store::open(&folder)?, &content)).await
    };
    // A damaged file may also end in a panic.
    let reason = match usable {
        Ok(Ok(Some(difference))) => return Ok(difference),
        Ok(Ok(None)) => "it is ahead of the rows".to_owned(),
        Ok(Err(Unusable::Missing)) => String::new(),
        Ok(Err(unusable)) => unusable.to_string(),
        Err(panic) => panic.to_string(),
    };
    if !reason.is_empty() {
        tracing::warn!(%agent, reason, "an index is of no use and is made again");
    }
    tokio::task::spawn_blocking(move || {
        let store = make_new(&folder)?;
        Ok(Difference { store, remove: Vec::new(), add: content.sources, is_in_step: false })
    })
    .await?
}

/// The difference between an index and the content; none where the index is ahead of the rows, as
/// after the rows were restored from a backup.
fn compare(store: Store, content: &AgentContent) -> Result<Option<Difference>, Unusable> {
    let generation = store.generation()?;
    if generation > content.generation {
        return Ok(None);
    }
    let present = store.contents()?;
    let wanted: HashSet<String> =
        content.sources.iter().map(|(source, version)| content_key(*source, *version)).collect();
    let remove: Vec<String> = present.difference(&wanted).cloned().collect();
    let add: Vec<_> = content
        .sources
        .iter()
        .filter(|(source, version)| !present.contains(&content_key(*source, *version)))
        .copied()
        .collect();
    let is_in_step = generation == content.generation && remove.is_empty() && add.is_empty();
    let is_in_step = is_in_step && !store.holds_deleted()?;
    Ok(Some(Difference { store, remove, add, is_in_step }))
}

fn make_new(folder: &Path) -> Result<Store, Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Unusable::from(tantivy::TantivyError::from(error)).into());
        }
        _ => {}
    }
    std::fs::create_dir_all(folder).map_err(tantivy::TantivyError::from)?;
    Ok(Store::create(folder)?)
}
