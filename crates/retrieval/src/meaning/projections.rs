//! The vectors of agents on this machine, brought up to date by the agent's generation as the index is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use cicerone_domain::fairness::{FairPool, Urgency};
use cicerone_domain::meaning::Space;
use cicerone_domain::ports::{AgentVectors, VectorFeed};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind, limits};

use super::file::{self, Draft};
use super::vectors::Vectors;
use crate::index::{Pool, Turns};

/// How often the content may change during one synchronisation.
const ATTEMPTS: usize = 5;
/// Projections that are changed at once, and as many in reserve for accounts below their share.
const CHANGED_AT_ONCE: u64 = 2;

/// The open projections.
pub(crate) struct Projections {
    open: Pool<Vectors>,
    turns: Turns,
    places: FairPool<Id<kind::Account>>,
}

impl Projections {
    pub(super) fn new(open_agents: u64) -> Self {
        let places = FairPool::new(CHANGED_AT_ONCE, CHANGED_AT_ONCE);
        Self { open: Pool::new(open_agents.max(1)), turns: Turns::default(), places }
    }

    /// Closes that of an agent.
    pub(crate) fn forget(&self, agent: Id<kind::Agent>) {
        self.open.remove(agent);
    }

    /// The vectors of an agent at its generation; `None` if it was deleted.
    ///
    /// Invariant: vectors of a generation hold sources that the agent has at that generation, and no others.
    pub(super) async fn in_step(
        &self,
        feed: &dyn VectorFeed,
        agent: AgentVersion,
        space: &Space,
        folder: PathBuf,
    ) -> Result<Option<Arc<Vectors>>, Error> {
        if let Some(current) = self.current(agent, space) {
            return Ok(Some(current));
        }
        let _turn = self.turns.take(agent.id).await;
        if let Some(current) = self.current(agent, space) {
            return Ok(Some(current));
        }
        let _place = self.places.acquire(agent.account_id, 1, Urgency::Question).await;
        for _ in 0..ATTEMPTS {
            let Some(content) = feed.agent_vectors(agent.id, space.id).await? else {
                self.open.remove(agent.id);
                return Ok(None);
            };
            if content.generation < agent.generation {
                // A replica of the database lags behind.
                tokio::task::yield_now().await;
                continue;
            }
            let before = self.before(agent, space, folder.clone()).await?;
            if let Some(vectors) = make(feed, before, space, folder.clone(), content).await? {
                let vectors = Arc::new(vectors);
                self.open.insert(agent, Arc::clone(&vectors), 1);
                return Ok(Some(vectors));
            }
        }
        Err(Error::unavailable(format!(
            "the vectors of `{}` did not settle at generation {}",
            agent.id, agent.generation
        )))
    }

    fn current(&self, agent: AgentVersion, space: &Space) -> Option<Arc<Vectors>> {
        let vectors = self.open.get(agent.id)?;
        let is_current = vectors.generation == agent.generation && vectors.held.space == space.id;
        is_current.then_some(vectors)
    }

    /// The vectors before the change: those that are open, or those of the files.
    async fn before(
        &self,
        agent: AgentVersion,
        space: &Space,
        folder: PathBuf,
    ) -> Result<Option<Arc<Vectors>>, Error> {
        let is_of_space = |vectors: &Arc<Vectors>| {
            vectors.held.space == space.id && vectors.held.dimension == space.dimension
        };
        if let Some(open) = self.open.get(agent.id) {
            return Ok(Some(open).filter(is_of_space));
        }
        let opened = blocking(move || Ok(file::open(&folder, 0))).await?;
        match opened {
            Ok(vectors) => Ok(Some(Arc::new(vectors)).filter(is_of_space)),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(agent_id = %agent.id, %error,
                        "the vectors of an agent are made again from the rows");
                }
                Ok(None)
            }
        }
    }
}

/// Makes the vectors of `content` out of those before and the rows; `None` if the rows changed meanwhile.
async fn make(
    feed: &dyn VectorFeed,
    before: Option<Arc<Vectors>>,
    space: &Space,
    folder: PathBuf,
    content: AgentVectors,
) -> Result<Option<Vectors>, Error> {
    let AgentVectors { generation, sources } = content;
    if let Some(before) = &before
        && before.sources().eq(sources.iter().copied())
    {
        return Ok(Some(before.at(generation)));
    }
    if sources.is_empty() {
        let gone = folder.clone();
        blocking(move || file::remove(&gone)).await?;
        if !folder.exists() {
            return Ok(Some(Vectors::none(generation, space)));
        }
    }
    let (id, dimension) = (space.id, space.dimension);
    let mut draft = blocking(move || Draft::begin(&folder, id, dimension)).await?;
    for (source, version) in sources {
        draft.source(source, version);
        let held = before.as_ref().and_then(|before| {
            let is_same = |held: &&file::HeldSource| (held.id, held.version) == (source, version);
            before.held.sources.iter().find(is_same).map(|held| (Arc::clone(before), *held))
        });
        if let Some((before, held)) = held {
            draft = blocking(move || draft.copy(&before, &held).map(|()| draft)).await?;
            continue;
        }
        let mut after = None;
        loop {
            let rows = feed.vectors(source, version, space.id, after).await?;
            let Some(rows) = rows else { return Ok(None) };
            let are_all = rows.len() < limits::FEED_PASSAGES;
            after = rows.last().map(|(position, _)| *position);
            draft = blocking(move || {
                for (position, vector) in rows {
                    if let Some(vector) = vector {
                        draft.row(position, &vector)?;
                    }
                }
                Ok(draft)
            })
            .await?;
            if are_all {
                break;
            }
        }
    }
    blocking(move || draft.finish(generation)).await.map(Some)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?.map_err(Error::unavailable)
}
