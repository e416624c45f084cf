//! The indexes of all agents on this machine.

mod candidate;
mod folders;
mod merging;
mod opened;
mod renewal;
mod synchronisation;
mod turns;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::fairness::{FairPool, Urgency};
use cicerone_domain::meaning::Vector;
use cicerone_domain::ports::{PassageFeed, PassageIndex, Stages};
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::{Error, Id, kind};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::meaning::{Meaning, MeaningConfig, MeaningPorts, WINDOW};
use crate::search::{self, Recent, Snapshot};
use crate::store::Unusable;
pub(crate) use folders::Folders;
use merging::Merging;
use opened::Opened;
pub(crate) use opened::Pool;
pub use renewal::Behind;
pub(crate) use turns::Turns;

/// Candidates at once, and as many in reserve for accounts that have none. One takes about ten times the bytes of its
/// passages.
const CANDIDATES: u64 = 1;

/// A search runs on a separate thread if the number of passages times the bytes of the question is larger than this:
/// 20,000 passages and a question of usual length.
const LARGE_SEARCH: u64 = 20_000 * USUAL_QUESTION_BYTES;
/// A shorter question counts as one of this length.
const USUAL_QUESTION_BYTES: u64 = 60;
/// Indexes that are changed at the same time because a question waits for them, and as many in
/// reserve for accounts below their share. Each change takes 15 MB and three threads.
const ASKED: u64 = 3;
/// The same for indexes that are changed in advance.
const LEARNING: u64 = 1;
/// Searches of large indexes at once, and as many in reserve. Each takes a thread.
const LARGE_SEARCHES: u64 = 4;

/// An agent's index is in memory only if its sources have at most this many stored bytes. Indexing
/// them takes up to 5 ms, and the index takes about ten times the bytes of the passages.
const SMALL_BYTES: u64 = 64 * 1_024;

/// How long a question waits for its search, including that the index of its agent is brought up to date, before it is refused. The
/// work on the index goes on.
const QUESTION_PATIENCE: Duration = Duration::from_secs(30);
/// How long a deletion waits for the removal of its text from the index. Searches do not depend on it.
const DELETION_PATIENCE: Duration = Duration::from_secs(1);

/// The folder, next to those of the agents, with a folder of vectors for each agent.
const VECTORS: &str = "vectors";

/// The settings of the indexes.
#[derive(Debug, Clone)]
pub struct IndexConfig {
    /// The folder with a folder for each agent with much content. It may be deleted at any time.
    pub directory: PathBuf,
    /// How many indexes on the disk are kept open for searching. An open one takes about 0.3 MB and six
    /// memory maps, and more if the agent has many passages.
    pub open_agents: u64,
    /// How many bytes of memory the indexes of agents with little content (64 KiB and less) may
    /// take. They are built from the database when such an agent is asked. With 0, all indexes are
    /// on the disk.
    pub memory_bytes: u64,
}

/// The indexes of all agents on this machine. Each is brought up to date when it is searched.
#[derive(Clone)]
pub struct Index {
    shared: Arc<Shared>,
}

/// The state that all searches and synchronisations share.
struct Shared {
    feed: Arc<dyn PassageFeed>,
    folders: Folders,
    open: Opened,
    /// The generation of an agent when its files were last found to contain that generation and nothing else. Each change
    /// has another one, so that they need not be read again until then.
    tidy: Mutex<HashMap<Id<kind::Agent>, u64>>,
    /// The most stored bytes of an agent whose index is in memory; `None` if all indexes are on the
    /// disk.
    small_bytes: Option<u64>,
    /// `None` if search is by words only.
    meaning: Option<Meaning>,
    recent: Recent,
    turns: Turns,
    merging: Merging,
    asked: FairPool<Id<kind::Account>>,
    learning: FairPool<Id<kind::Account>>,
    large_searches: FairPool<Id<kind::Account>>,
    candidates: FairPool<Id<kind::Account>>,
}

impl Index {
    /// Opens the indexes under `config.directory`, which is created if it is missing. `feed` provides their
    /// content.
    pub fn open(config: IndexConfig, feed: Arc<dyn PassageFeed>) -> Result<Self, std::io::Error> {
        Self::open_with(config, feed, None)
    }

    /// The same, with search by meaning if `meaning` is given.
    pub fn open_with(
        config: IndexConfig,
        feed: Arc<dyn PassageFeed>,
        meaning: Option<(MeaningPorts, MeaningConfig)>,
    ) -> Result<Self, std::io::Error> {
        let open = Opened::new(config.open_agents, config.memory_bytes);
        let vectors = config.directory.join(VECTORS);
        let folders = Folders::open(config.directory)?;
        let meaning = match meaning {
            Some((ports, how)) => {
                let vectors = Folders::open(vectors)?;
                Some(Meaning::new(ports, how, vectors, config.open_agents))
            }
            None => {
                remove_folder(&vectors)?;
                None
            }
        };
        let shared = Shared {
            feed,
            folders,
            open,
            tidy: Mutex::default(),
            small_bytes: (config.memory_bytes > 0).then_some(SMALL_BYTES),
            meaning,
            recent: Recent::default(),
            turns: Turns::default(),
            merging: Merging::default(),
            asked: FairPool::new(ASKED, ASKED),
            learning: FairPool::new(LEARNING, LEARNING),
            large_searches: FairPool::new(LARGE_SEARCHES, LARGE_SEARCHES),
            candidates: FairPool::new(CANDIDATES, CANDIDATES),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// How many indexes are open for searching, on the disk or in memory.
    pub fn open_agents(&self) -> u64 {
        u64::try_from(self.shared.open.count()).unwrap_or(u64::MAX)
    }

    /// An index with content at least as new as `agent`; `None` if the agent was deleted.
    async fn in_step(
        &self,
        agent: AgentVersion,
        urgency: Urgency,
    ) -> Result<Option<Arc<Snapshot>>, Error> {
        if let Some(snapshot) = self.shared.current(agent) {
            return Ok(Some(snapshot));
        }
        // If the caller is cancelled, the change must still be finished.
        let work = synchronisation::synchronise(Arc::clone(&self.shared), agent, urgency);
        detached(agent.id, "an index is not up to date", work).await
    }

    /// Searches the index of an agent, which is rebuilt if it cannot be read.
    async fn search_repaired(
        &self,
        agent: AgentVersion,
        query: &Query,
        limit: usize,
    ) -> Result<Found, Error> {
        let urgency = Urgency::Question;
        let Some(snapshot) = self.in_step(agent, urgency).await? else {
            return Ok(Found::default());
        };
        match self.search_in(snapshot, agent.account_id, query, limit).await? {
            Ok(found) => Ok(found),
            Err(error) if Unusable::is_exhaustion(&error) => {
                Err(synchronisation::exhausted(agent.id, error))
            }
            Err(error) => {
                tracing::warn!(agent = %agent.id, %error, "an index cannot be read and is rebuilt");
                self.discard(agent.id).await?;
                let Some(snapshot) = self.in_step(agent, urgency).await? else {
                    return Ok(Found::default());
                };
                let found = self.search_in(snapshot, agent.account_id, query, limit).await?;
                found.map_err(Error::unavailable)
            }
        }
    }

    /// Runs `work` to its end, but waits at most [`DELETION_PATIENCE`]. A later failure is logged.
    async fn briefly<F>(agent: Id<kind::Agent>, work: F) -> Result<(), Error>
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let stays = "deleted text stays in the index until the next search or sweep";
        timeout(DELETION_PATIENCE, detached(agent, stays, work)).await.unwrap_or(Ok(()))
    }

    /// Searches on this thread if that takes a fraction of a millisecond, otherwise on one for slow work.
    async fn search_in(
        &self,
        snapshot: Arc<Snapshot>,
        account: Id<kind::Account>,
        query: &Query,
        limit: usize,
    ) -> Result<Result<Found, Unusable>, Error> {
        if !is_large(snapshot.passages(), query) || snapshot.is_known(query, limit) {
            return Ok(snapshot.search(query, limit).map_err(Unusable::from));
        }
        let place = self.shared.large_searches.acquire(account, 1, Urgency::Question).await;
        let query = query.clone();
        let work = move || {
            // Held until the thread is free, even if the caller is cancelled.
            let _place = place;
            snapshot.search(&query, limit).map_err(Unusable::from)
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }

    /// Closes an index that cannot be read, so that it is rebuilt.
    async fn discard(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        let _turn = self.shared.turns.take(agent).await;
        self.shared.open.remove(agent);
        self.shared.folders.remove(agent).await
    }
}

impl Shared {
    /// The open index of an agent, if it has exactly this content and its folder (if it has one)
    /// still exists.
    ///
    /// Invariant: a higher generation alone does not make an index current. If the database was restored to an earlier
    /// state, an old index is ahead of it and has content that the database no longer has. Whether an index may be
    /// ahead is decided with the database: see [`synchronisation::synchronise`].
    fn current(&self, agent: AgentVersion) -> Option<Arc<Snapshot>> {
        self.usable(agent.id).filter(|snapshot| snapshot.generation() == agent.generation)
    }

    /// The open index of an agent, whatever content it has, if its folder (if it has one) still
    /// exists.
    fn usable(&self, agent: Id<kind::Agent>) -> Option<Arc<Snapshot>> {
        let snapshot = self.open.get(agent)?;
        (snapshot.is_in_memory() || self.folders.exists(agent)).then_some(snapshot)
    }
}

#[async_trait]
impl PassageIndex for Index {
    async fn search(
        &self,
        agent: AgentVersion,
        query: &Query,
        limit: usize,
    ) -> Result<Found, Error> {
        let search = self.search_repaired(agent, query, limit);
        timeout(QUESTION_PATIENCE, search).await.map_err(|_| Error::Overloaded)?
    }

    async fn meaning(&self, agent: AgentVersion, query: &Query, stages: &Stages) -> Option<Vector> {
        match &self.shared.meaning {
            Some(meaning) => meaning.question(agent, query, stages).await,
            None => None,
        }
    }

    fn stands_alone(&self, question: &str) -> bool {
        search::stands_alone(question)
    }

    async fn search_with(
        &self,
        agent: AgentVersion,
        query: &Query,
        vector: Option<Vector>,
        limit: usize,
    ) -> Result<Found, Error> {
        let (Some(meaning), Some(vector)) = (&self.shared.meaning, vector) else {
            return self.search(agent, query, limit).await;
        };
        let found = self.search(agent, query, limit.max(WINDOW)).await?;
        // The contribution depends on more than the query.
        let found = Found { id: None, ..found };
        Ok(meaning.add(agent, vector, query, found, limit).await)
    }

    async fn candidate(
        &self,
        agent: (Id<kind::Account>, Id<kind::Agent>),
        source: Id<kind::Source>,
    ) -> Result<Option<Arc<dyn PassageIndex>>, Error> {
        let candidate = candidate::make(self, agent, source).await?;
        Ok(candidate.map(|candidate| Arc::new(candidate) as Arc<dyn PassageIndex>))
    }

    async fn synchronise(&self, agent: AgentVersion) -> Result<(), Error> {
        let exists = self.in_step(agent, Urgency::Learning).await?.is_some();
        match &self.shared.meaning {
            Some(meaning) if exists => meaning.synchronise(agent).await,
            Some(_) | None => Ok(()),
        }
    }

    async fn purge(&self, agent: AgentVersion) -> Result<(), Error> {
        let index = self.clone();
        Self::briefly(agent.id, async move { index.synchronise(agent).await }).await
    }

    async fn remove(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        let index = self.clone();
        let work = async move {
            index.discard(agent).await?;
            match &index.shared.meaning {
                Some(meaning) => meaning.remove(agent).await,
                None => Ok(()),
            }
        };
        Self::briefly(agent, work).await
    }
}

/// Runs `work` to its end in a task of its own, even if the caller stops waiting. A failure after that is logged, with what it
/// `means`.
async fn detached<T, F>(agent: Id<kind::Agent>, means: &'static str, work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        let done = tokio::spawn(work).await.map_err(Error::internal).flatten();
        if let Err(Err(error)) = sender.send(done) {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(agent_id = %agent, error, "{means}");
        }
    });
    receiver.await.map_err(Error::internal)?
}

/// Removes a folder, if there is one.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a search takes so long that it needs a separate thread.
fn is_large(passages: u64, query: &Query) -> bool {
    let bytes = query.text.len() + query.context.iter().map(String::len).sum::<usize>();
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).max(USUAL_QUESTION_BYTES);
    passages.saturating_mul(bytes) > LARGE_SEARCH
}

#[cfg(test)]
mod tests {
    use cicerone_domain::retrieval::Query;

    use super::is_large;

    #[test]
    fn a_long_question_makes_a_search_large_as_many_passages_do() {
        let asked = |bytes: usize| Query { text: "x".repeat(bytes), ..Query::default() };
        assert!(!is_large(2_300, &asked(200)));
        assert!(!is_large(20_000, &asked(10)));
        assert!(is_large(20_001, &asked(10)));
        assert!(is_large(700, &asked(3_900)));
        let followed_up = Query { context: vec!["x".repeat(3_900)], ..asked(10) };
        assert!(is_large(700, &followed_up));
    }
}
