//! The index port, and the feed that keeps an index up to date with the rows.

use std::sync::Arc;

use async_trait::async_trait;

use crate::content::StoredPassage;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::meaning::Vector;
use crate::ports::Stages;
use crate::retrieval::{AgentVersion, Found, Query};

/// Finds passages. The index is a projection of the rows: if it is deleted, it is rebuilt.
#[async_trait]
pub trait PassageIndex: Send + Sync {
    /// The `limit` best passages of an agent, best first, over content at least as new as
    /// `agent.generation`: missing changes are applied first. Fails with [`Error::Unavailable`] if
    /// the rows or the disk cannot be reached.
    async fn search(
        &self,
        agent: AgentVersion,
        query: &Query,
        limit: usize,
    ) -> Result<Found, Error>;
    /// The vector of a query from the embedding model, if searches also use meaning. `None` if they do not, or if the
    /// model does not respond within a short time. `stages` are notified if the model is called.
    async fn meaning(
        &self,
        _agent: AgentVersion,
        _query: &Query,
        _stages: &Stages,
    ) -> Option<Vector> {
        None
    }
    /// Whether a question names its subject and does not refer to earlier messages.
    fn stands_alone(&self, _question: &str) -> bool {
        true
    }
    /// [`PassageIndex::search`], also by meaning if there is a vector of the query.
    async fn search_with(
        &self,
        agent: AgentVersion,
        query: &Query,
        _vector: Option<Vector>,
        limit: usize,
    ) -> Result<Found, Error> {
        self.search(agent, query, limit).await
    }
    /// The agent's content as it would be if the running crawl of one of its websites ended now: an index in memory
    /// that is searched by words only, regardless of the requested generation, and removed when it is dropped. `None`
    /// if the sources of the agent take more than [`GUARD_BYTES`](crate::limits::GUARD_BYTES), or if it was deleted.
    ///
    /// Few of them exist at a time; accounts take turns.
    async fn candidate(
        &self,
        _agent: (Id<kind::Account>, Id<kind::Agent>),
        _source: Id<kind::Source>,
    ) -> Result<Option<Arc<dyn PassageIndex>>, Error> {
        Ok(None)
    }
    /// Applies missing changes, so that the next search need not. Searches take precedence.
    async fn synchronise(&self, agent: AgentVersion) -> Result<(), Error>;
    /// Removes deleted text from this machine, as [`PassageIndex::synchronise`] does. If that takes more than a moment, because
    /// the index is being changed, it continues after this returns.
    async fn purge(&self, agent: AgentVersion) -> Result<(), Error> {
        self.synchronise(agent).await
    }
    /// Removes an agent's index from this machine. If that takes more than a moment, it continues after this returns.
    async fn remove(&self, agent: Id<kind::Agent>) -> Result<(), Error>;
}

/// The searchable content of an agent, by number, read at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentContent {
    /// The agent's generation.
    pub generation: u64,
    /// Each source that has content, with its version: different content never has the same pair.
    pub sources: Vec<(Id<kind::Source>, u64)>,
}

/// The conditions under which all passages of an agent are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Only if the stored content of its sources takes at most this many bytes.
    pub bytes: u64,
    /// Only from this generation on.
    pub least: u64,
    /// Not at this generation, whose passages are known.
    pub known: Option<u64>,
}

impl Wanted {
    /// Whether the passages are wanted at this generation.
    pub fn is_wanted(&self, generation: u64) -> bool {
        generation >= self.least && self.known != Some(generation)
    }
}

/// All passages of an agent, read at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeContent {
    /// The agent's generation.
    pub generation: u64,
    /// The passages of each source that has content, in order; `None` if they are not wanted at this generation.
    pub passages: Option<Vec<(Id<kind::Source>, StoredPassage)>>,
}

/// The rows from which an index is built.
///
/// A source changes document by document: an unchanged document keeps its position and version when its source's
/// version rises, and no other text of the source ever has the same pair.
#[async_trait]
pub trait PassageFeed: Send + Sync {
    /// Those of these agents that are there, in any order. At most [`FEED_AGENTS`](crate::limits::FEED_AGENTS) may be
    /// asked for.
    async fn versions(&self, agents: &[Id<kind::Agent>]) -> Result<Vec<AgentVersion>, Error>;
    /// The content of an agent; `None` if it was deleted.
    async fn agent_content(&self, agent: Id<kind::Agent>) -> Result<Option<AgentContent>, Error>;
    /// All passages of an agent, if they are wanted; `None` if they take too many bytes, or if the agent was deleted.
    async fn whole_content(
        &self,
        agent: Id<kind::Agent>,
        wanted: Wanted,
    ) -> Result<Option<WholeContent>, Error>;
    /// The same, with the content that a source would have if its running crawl ended now. `None` if the agent's
    /// sources take more than `bytes`, or if it was deleted.
    async fn candidate_content(
        &self,
        agent: Id<kind::Agent>,
        source: Id<kind::Source>,
        bytes: u64,
    ) -> Result<Option<WholeContent>, Error>;
    /// The documents of a source at `version`, each as position and version, in order; `None` if that content has since
    /// been replaced or deleted: read [`PassageFeed::agent_content`] again.
    async fn documents(
        &self,
        source: Id<kind::Source>,
        version: u64,
    ) -> Result<Option<Vec<(i64, u64)>>, Error>;
    /// Passages of some of a source's documents, each with its document's position, in order of both;
    /// `None` if the source is no longer at `version`. `documents` are in order too.
    ///
    /// Returns at most [`FEED_PASSAGES`](crate::limits::FEED_PASSAGES) of them, starting after the passage `after`: the
    /// positions of its document and of the passage. If there are this many, ask again with the last one.
    async fn passages(
        &self,
        source: Id<kind::Source>,
        version: u64,
        documents: &[i64],
        after: Option<(i64, i64)>,
    ) -> Result<Option<Vec<(i64, StoredPassage)>>, Error>;
}
