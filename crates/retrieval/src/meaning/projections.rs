//! The vectors of agents on this machine. Like the index, they are brought up to date by the
//! agent's generation.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::fairness::{FairPool, Urgency};
use cicerone_domain::meaning::Space;
use cicerone_domain::ports::{AgentVectors, VectorFeed};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind, limits};

use super::file::{self, Draft};
use super::vectors::Vectors;
use crate::index::{Folders, Pool, Turns, remove_folder};

/// How often the content may change during one synchronisation.
const ATTEMPTS: usize = 5;
/// Projections that are changed at the same time, and as many in reserve for accounts below their
/// share.
const CHANGED_AT_ONCE: u64 = 2;
/// The longest time that a question waits for vectors that are being brought up to date.
const PATIENCE: Duration = Duration::from_millis(100);

/// The projections on this machine.
pub(super) struct Projections {
    feed: Arc<dyn VectorFeed>,
    folders: Folders,
    open: Pool<Vectors>,
    turns: Turns,
    places: FairPool<Id<kind::Account>>,
}

impl Projections {
    /// Keeps the files under `folders`, and those of up to `open_agents` agents open.
    pub(super) fn new(feed: Arc<dyn VectorFeed>, folders: Folders, open_agents: u64) -> Self {
        let places = FairPool::new(CHANGED_AT_ONCE, CHANGED_AT_ONCE);
        let open = Pool::new(open_agents.max(1));
        Self { feed, folders, open, turns: Turns::default(), places }
    }

    /// The agents that have files.
    pub(super) async fn agents(&self) -> Result<Vec<Id<kind::Agent>>, Error> {
        self.folders.agents().await
    }

    /// Removes the files of an agent.
    pub(super) async fn remove(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        let _turn = self.turns.take(agent).await;
        self.remove_files(agent).await
    }

    /// The same, for a caller that holds the agent's turn.
    async fn remove_files(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        self.open.remove(agent);
        self.folders.remove(agent).await
    }

    /// Brings the files of an agent to its generation, if it has any and they differ. If the model has not answered
    /// since the start, they are removed instead, and made again after it has. Returns whether there was something to do.
    pub(super) async fn renew(
        self: &Arc<Self>,
        agent: AgentVersion,
        space: Option<&Space>,
    ) -> Result<bool, Error> {
        if !self.folders.has(agent.id) || self.hold_the_rows(agent.id, space).await? {
            return Ok(false);
        }
        match space {
            Some(space) => self.in_step(agent, space, Urgency::Learning).await.map(drop)?,
            None => self.remove(agent.id).await?,
        }
        Ok(true)
    }

    /// Whether the files of an agent hold exactly the vectors that its rows have. The files are not read, except for their
    /// description.
    async fn hold_the_rows(
        &self,
        agent: Id<kind::Agent>,
        space: Option<&Space>,
    ) -> Result<bool, Error> {
        let folder = self.folders.of(agent);
        let held = blocking(move || Ok(file::description(&folder).ok())).await?;
        let Some(held) = held else { return Ok(false) };
        if space.is_some_and(|space| !held.is_of(space)) {
            return Ok(false);
        }
        let rows = self.feed.agent_vectors(agent, held.space).await?;
        let held = held.sources.iter().map(|source| source.of);
        Ok(rows.is_some_and(|rows| held.eq(rows.sources)))
    }

    /// The vectors of an agent for a question, which waits for a change for at most [`PATIENCE`].
    /// If the change takes longer, the previous vectors are used if they are open; `None` if they
    /// are not, or if the agent was deleted.
    ///
    /// Previous vectors do not lead to outdated text, because passages are read by the version of
    /// their source.
    pub(super) async fn for_question(
        self: &Arc<Self>,
        agent: AgentVersion,
        space: &Space,
    ) -> Result<Option<Arc<Vectors>>, Error> {
        if let Some(current) = self.current(agent, space) {
            return Ok(Some(current));
        }
        let change = self.in_step(agent, space, Urgency::Question);
        match tokio::time::timeout(PATIENCE, change).await {
            Ok(vectors) => vectors,
            Err(_) => Ok(self.open.get(agent.id).filter(|vectors| is_of(vectors, space))),
        }
    }

    /// The vectors of an agent at its generation; `None` if it was deleted.
    ///
    /// Invariant: the vectors of a generation are those of the sources that the agent has at that
    /// generation, and no others.
    pub(super) async fn in_step(
        self: &Arc<Self>,
        agent: AgentVersion,
        space: &Space,
        urgency: Urgency,
    ) -> Result<Option<Arc<Vectors>>, Error> {
        if let Some(current) = self.current(agent, space) {
            return Ok(Some(current));
        }
        let turn = self.turns.take(agent.id).await;
        if let Some(current) = self.current(agent, space) {
            return Ok(Some(current));
        }
        let place = self.places.acquire(agent.account_id, 1, urgency).await;
        let (projections, space) = (Arc::clone(self), space.clone());
        let change = async move {
            let (_turn, _place) = (turn, place);
            projections.catch_up(agent, &space).await
        };
        // In a task of its own: if the caller no longer waits, the change must still be finished.
        tokio::spawn(change).await.map_err(Error::internal)?
    }

    /// The same, for a caller that holds the agent's turn and a place.
    async fn catch_up(
        &self,
        agent: AgentVersion,
        space: &Space,
    ) -> Result<Option<Arc<Vectors>>, Error> {
        let feed = self.feed.as_ref();
        for _ in 0..ATTEMPTS {
            let Some(content) = feed.agent_vectors(agent.id, space.id).await? else {
                self.remove_files(agent.id).await?;
                return Ok(None);
            };
            if content.generation < agent.generation {
                // A replica of the database lags behind.
                tokio::task::yield_now().await;
                continue;
            }
            let folder = self.folders.of(agent.id);
            let before = self.before(agent, space, folder.clone()).await?;
            if let Some(vectors) = make(feed, before, space, folder, content).await? {
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
        let is_current = vectors.generation == agent.generation && is_of(&vectors, space);
        is_current.then_some(vectors)
    }

    /// The previous vectors: the open ones, or those in the files.
    async fn before(
        &self,
        agent: AgentVersion,
        space: &Space,
        folder: PathBuf,
    ) -> Result<Option<Arc<Vectors>>, Error> {
        if let Some(open) = self.open.get(agent.id) {
            return Ok(Some(open).filter(|vectors| is_of(vectors, space)));
        }
        let opened = blocking(move || Ok(file::open(&folder, 0))).await?;
        match opened {
            Ok(vectors) => Ok(Some(Arc::new(vectors)).filter(|vectors| is_of(vectors, space))),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(agent_id = %agent.id, %error,
                        "the vector files of an agent are rebuilt from the database");
                }
                Ok(None)
            }
        }
    }
}

/// Whether vectors belong to a space.
fn is_of(vectors: &Vectors, space: &Space) -> bool {
    vectors.held.is_of(space)
}

/// Makes the vectors of `content` from the previous ones and the database; `None` if the content
/// changed in the meantime.
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
        blocking(move || remove_folder(&folder)).await?;
        return Ok(Some(Vectors::none(generation, space)));
    }
    let (id, dimension) = (space.id, space.dimension);
    let mut draft = blocking(move || Draft::begin(&folder, id, dimension)).await?;
    for source in sources {
        draft.source(source);
        let held = before.as_ref().and_then(|before| {
            let is_same = |held: &&file::HeldSource| held.of == source;
            before.held.sources.iter().find(is_same).map(|held| (Arc::clone(before), *held))
        });
        if let Some((before, held)) = held {
            draft = blocking(move || draft.copy(&before, &held).map(|()| draft)).await?;
            continue;
        }
        let mut after = None;
        loop {
            let rows = feed.vectors(source.id, source.version, space.id, after).await?;
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

#[cfg(test)]
mod tests;
