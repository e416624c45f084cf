//! Brings the index of an agent up to date: applies the difference from the database in one commit.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::fairness::{FairPermit, Urgency};
use cicerone_domain::ports::{AgentContent, Wanted, WholeContent};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, Passage, kind, limits};
use tokio::sync::OwnedMutexGuard;
use tracing::Instrument as _;

use super::{Shared, merging};
use crate::search::{InMemory, Snapshot};
use crate::store::{Held, Store, Unusable, Writer, document_key};

/// Documents whose passages are read at once, so that the memory of a change is bounded.
const DOCUMENTS_AT_ONCE: usize = 100;
/// Passages with at most this many bytes are indexed in memory on the calling thread, in about a
/// millisecond.
const QUICK_BYTES: usize = 8 * 1_024;
/// How often the content may change during one synchronisation.
const ATTEMPTS: usize = 20;

/// The outcome of one attempt.
enum Outcome {
    /// The index has the content.
    Done(Arc<Snapshot>),
    /// The content of a source was replaced or deleted during the attempt.
    ContentChanged,
}

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SyncError {
    /// The database cannot be read.
    #[error(transparent)]
    Feed(Error),
    /// The index cannot be written.
    #[error("the index cannot be written")]
    Index(#[source] Unusable),
    /// The system has run out of files, memory, threads or disk space. The index stays as it is.
    #[error("the system has run out of a resource that the index needs")]
    Exhausted(#[source] Unusable),
    /// The work panicked.
    #[error("the work on the index was interrupted")]
    BrokenOff(#[from] tokio::task::JoinError),
}

impl From<tantivy::TantivyError> for SyncError {
    fn from(error: tantivy::TantivyError) -> Self {
        Unusable::from(error).into()
    }
}

impl From<Unusable> for SyncError {
    fn from(error: Unusable) -> Self {
        if error.is_exhaustion() { Self::Exhausted(error) } else { Self::Index(error) }
    }
}

/// Brings the index of an agent at least to `agent.generation`; `None` if the agent was deleted.
pub(super) async fn synchronise(
    shared: Arc<Shared>,
    agent: AgentVersion,
    urgency: Urgency,
) -> Result<Option<Arc<Snapshot>>, Error> {
    let (_place, _turn) = enter(&shared, agent, urgency).await;
    if let Some(snapshot) = shared.current(agent) {
        return Ok(Some(snapshot));
    }
    shared.tidy.lock().remove(&agent.id);
    let began = Instant::now();
    let span =
        tracing::info_span!("index_sync", agent_id = %agent.id, generation = agent.generation);
    let outcome = catch_up(&shared, agent).instrument(span).await;
    let name = if outcome.is_ok() { "done" } else { "failed" };
    metrics::counter!("cicerone_index_syncs_total", "outcome" => name).increment(1);
    metrics::histogram!("cicerone_index_sync_duration_seconds").record(began.elapsed());
    outcome
}

/// Waits for a place among the indexes that are being changed, and for the agent's turn.
///
/// Questions and warm-ups have separate places, so a question never waits for the warm-up of
/// another agent. A warm-up takes its place first and the turn of its agent last, so that a
/// question about that agent does not wait for warm-ups. A question takes its place last, so that a
/// hundred questions about one agent take one place.
pub(super) async fn enter(
    shared: &Shared,
    agent: AgentVersion,
    urgency: Urgency,
) -> (FairPermit<Id<kind::Account>>, OwnedMutexGuard<()>) {
    match urgency {
        Urgency::Question => {
            let turn = shared.turns.take(agent.id).await;
            (shared.asked.acquire(agent.account_id, 1, urgency).await, turn)
        }
        Urgency::Learning => {
            let place = shared.learning.acquire(agent.account_id, 1, urgency).await;
            (place, shared.turns.take(agent.id).await)
        }
    }
}

/// The same, for a caller that holds the agent's turn.
async fn catch_up(
    shared: &Arc<Shared>,
    agent: AgentVersion,
) -> Result<Option<Arc<Snapshot>>, Error> {
    let mut has_failed = false;
    for _ in 0..ATTEMPTS {
        if let Some(bytes) = shared.small_bytes {
            let open = shared.usable(agent.id);
            let known = open.as_ref().map(|snapshot| snapshot.generation());
            let wanted = Wanted { bytes, least: agent.generation, known };
            match shared.feed.whole_content(agent.id, wanted).await? {
                Some(WholeContent { generation, passages: Some(passages) }) => {
                    return in_memory(shared, agent, generation, passages).await.map(Some);
                }
                // The caller's row may be older than the index.
                Some(whole) if whole.generation >= agent.generation => return Ok(open),
                Some(_) => {
                    tokio::task::yield_now().await;
                    continue;
                }
                None => {}
            }
        }
        let Some(content) = shared.feed.agent_content(agent.id).await? else {
            shared.open.remove(agent.id);
            shared.folders.remove(agent.id).await?;
            return Ok(None);
        };
        if content.generation < agent.generation {
            // The content is older than the caller's row, because it was read from a replica that
            // lags behind.
            tokio::task::yield_now().await;
            continue;
        }
        // The caller's row may be older than the index.
        let version = AgentVersion { generation: content.generation, ..agent };
        if let Some(snapshot) = shared.current(version) {
            return Ok(Some(snapshot));
        }
        match apply(shared, agent.id, &content).await {
            Ok(Outcome::Done(snapshot)) => {
                shared.open.insert(agent, Arc::clone(&snapshot));
                merging::begin(shared, agent, &snapshot);
                return Ok(Some(snapshot));
            }
            Ok(Outcome::ContentChanged) => {}
            Err(SyncError::Feed(error)) => return Err(error),
            Err(error @ SyncError::Exhausted(_)) => return Err(exhausted(agent.id, error)),
            Err(error) if has_failed => return Err(Error::unavailable(error)),
            Err(error) => {
                tracing::warn!(agent = %agent.id, error = &error as &dyn std::error::Error,
                    "an index cannot be changed and is rebuilt");
                has_failed = true;
                shared.folders.remove(agent.id).await?;
            }
        }
    }
    Err(Error::unavailable(format!(
        "the content of `{}` did not reach generation {}",
        agent.id, agent.generation
    )))
}

/// Builds the index of an agent with little content.
async fn in_memory(
    shared: &Arc<Shared>,
    agent: AgentVersion,
    generation: u64,
    passages: Vec<(Id<kind::Source>, StoredPassage)>,
) -> Result<Arc<Snapshot>, Error> {
    // The folder is left from a time when the agent had more content, some of which was deleted.
    if shared.folders.has(agent.id) {
        shared.open.remove(agent.id);
        shared.folders.remove(agent.id).await?;
    }
    let bytes: usize = passages.iter().map(|(_, stored)| indexed_bytes(&stored.passage)).sum();
    let recent = shared.recent.clone();
    let make = move || Snapshot::in_memory(InMemory::new(passages)?, generation, &recent);
    let made = if bytes > QUICK_BYTES {
        tokio::task::spawn_blocking(make).await.map_err(Error::internal)?
    } else {
        make()
    };
    let snapshot = Arc::new(made.map_err(Error::internal)?);
    shared.open.insert(agent, Arc::clone(&snapshot));
    Ok(snapshot)
}

/// The bytes of a passage that are analysed.
fn indexed_bytes(passage: &Passage) -> usize {
    let optional = [&passage.title, &passage.heading];
    passage.text.len() + optional.into_iter().flatten().map(String::len).sum::<usize>()
}

/// The error if the system has run out of a resource. An index that could not be changed stays
/// behind the database, and is brought up to date at the next search.
pub(super) fn exhausted(
    agent: Id<kind::Agent>,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    metrics::counter!("cicerone_index_exhausted_total").increment(1);
    tracing::warn!(%agent, error = &error as &dyn std::error::Error,
        "the system has run out of something that an index needs");
    Error::unavailable(error)
}

/// The difference between an index and the content.
struct Difference {
    store: Store,
    /// Keys of the documents of deleted sources.
    gone: Vec<String>,
    /// The sources that the index has in another version, or does not have.
    changed: Vec<Changed>,
    /// Whether there is nothing to commit.
    is_in_step: bool,
}

/// A source that changed.
struct Changed {
    source: Id<kind::Source>,
    version: u64,
    /// The documents of the source in the index, each with its version, in order.
    held: Vec<(i64, u64)>,
}

async fn apply(
    shared: &Shared,
    agent: Id<kind::Agent>,
    content: &AgentContent,
) -> Result<Outcome, SyncError> {
    let folder = shared.folders.of(agent);
    let Difference { store, gone, changed, is_in_step } =
        open(folder, agent, content.clone()).await?;
    let recent = shared.recent.clone();
    if is_in_step {
        let snapshot =
            tokio::task::spawn_blocking(move || Snapshot::new(&store, &recent)).await??;
        return Ok(Outcome::Done(Arc::new(snapshot)));
    }
    let (store, mut writer) = tokio::task::spawn_blocking(move || {
        let writer = Writer::open(&store)?;
        gone.iter().for_each(|document| writer.remove(document));
        tantivy::Result::Ok((store, writer))
    })
    .await??;
    for source in changed {
        let Some(written) = replace(shared, writer, source).await? else {
            return Ok(Outcome::ContentChanged);
        };
        writer = written;
    }
    let AgentContent { generation, sources } = content.clone();
    let held = Held { generation, sources: sources.into_iter().collect() };
    let snapshot = tokio::task::spawn_blocking(move || {
        writer.commit(held)?;
        writer.tidy()?;
        Snapshot::new(&store, &recent)
    })
    .await??;
    tracing::debug!(%agent, generation, passages = snapshot.passages(), "an index is up to date");
    Ok(Outcome::Done(Arc::new(snapshot)))
}

/// Adds the documents of a source that the index lacks, and removes those that the source no longer
/// has; `None` if the content of the source changed in the meantime.
async fn replace(
    shared: &Shared,
    mut writer: Writer,
    Changed { source, version, held }: Changed,
) -> Result<Option<Writer>, SyncError> {
    let wanted = shared.feed.documents(source, version).await.map_err(SyncError::Feed)?;
    let Some(wanted) = wanted else { return Ok(None) };
    let wanted: BTreeMap<i64, u64> = wanted.into_iter().collect();
    for (document, version) in &held {
        if wanted.get(document) != Some(version) {
            writer.remove(&document_key(source, *document, *version));
        }
    }
    let held: HashSet<(i64, u64)> = held.into_iter().collect();
    let lacking: Vec<i64> = wanted
        .iter()
        .filter(|(document, version)| !held.contains(&(**document, **version)))
        .map(|(document, _)| *document)
        .collect();
    for documents in lacking.chunks(DOCUMENTS_AT_ONCE) {
        let mut after = None;
        loop {
            let passages = shared.feed.passages(source, version, documents, after).await;
            let Some(passages) = passages.map_err(SyncError::Feed)? else { return Ok(None) };
            let are_all = passages.len() < limits::FEED_PASSAGES;
            after =
                passages.last().map(|(document, passage)| (*document, passage.passage.position));
            let keyed: Vec<(String, StoredPassage)> = passages
                .into_iter()
                .filter_map(|(document, passage)| {
                    let version = wanted.get(&document)?;
                    Some((document_key(source, document, *version), passage))
                })
                .collect();
            writer = tokio::task::spawn_blocking(move || {
                for (document, passage) in keyed {
                    writer.add(source, &document, passage)?;
                }
                tantivy::Result::Ok(writer)
            })
            .await??;
            if are_all {
                break;
            }
        }
    }
    Ok(Some(writer))
}

/// Opens the index, or creates a new one if it is unusable, and compares it with the content.
async fn open(
    folder: PathBuf,
    agent: Id<kind::Agent>,
    content: AgentContent,
) -> Result<Difference, SyncError> {
    let usable = {
        let folder = folder.clone();
        let content = content.clone();
        tokio::task::spawn_blocking(move || compare(Store::open(&folder)?, &content)).await
    };
    // A damaged file may also cause a panic.
    let reason = match usable {
        Ok(Ok(Some(difference))) => return Ok(difference),
        Ok(Ok(None)) => "it is ahead of the rows".to_owned(),
        Ok(Err(Unusable::Missing)) => String::new(),
        Ok(Err(unusable)) if unusable.is_exhaustion() => return Err(unusable.into()),
        Ok(Err(unusable)) => unusable.to_string(),
        Err(panic) => panic.to_string(),
    };
    if !reason.is_empty() {
        tracing::warn!(%agent, reason, "an index is unusable and is rebuilt");
    }
    tokio::task::spawn_blocking(move || {
        let store = make_new(&folder)?;
        let new = |(source, version)| Changed { source, version, held: Vec::new() };
        let changed = content.sources.into_iter().map(new).collect();
        Ok(Difference { store, gone: Vec::new(), changed, is_in_step: false })
    })
    .await?
}

/// Computes the difference; `None` if the index is ahead of the database, for example after the
/// database was restored from a backup. Documents are compared for changed sources only.
fn compare(store: Store, content: &AgentContent) -> Result<Option<Difference>, Unusable> {
    let Held { generation, mut sources } = store.held()?;
    if generation > content.generation {
        return Ok(None);
    }
    let searcher = store.searcher()?;
    let mut changed = Vec::new();
    for (source, version) in content.sources.iter().copied() {
        let held = match sources.remove(&source) {
            Some(held) if held == version => continue,
            Some(_) => store.documents(&searcher, source)?,
            None => Vec::new(),
        };
        changed.push(Changed { source, version, held });
    }
    let mut gone = Vec::new();
    for source in sources.into_keys() {
        let documents = store.documents(&searcher, source)?;
        let key = |(document, version)| document_key(source, document, version);
        gone.extend(documents.into_iter().map(key));
    }
    let is_in_step = generation == content.generation && gone.is_empty() && changed.is_empty();
    let is_in_step = is_in_step && !store.holds_deleted()?;
    Ok(Some(Difference { store, gone, changed, is_in_step }))
}

fn make_new(folder: &Path) -> Result<Store, SyncError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Unusable::from(tantivy::TantivyError::from(error)).into());
        }
        _ => {}
    }
    std::fs::create_dir_all(folder).map_err(tantivy::TantivyError::from)?;
    Ok(Store::create(folder)?)
}
