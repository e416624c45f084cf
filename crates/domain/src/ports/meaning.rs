//! The embedding model, and where vectors are kept.

use std::time::Duration;

use async_trait::async_trait;

use crate::content::{Passage, StoredPassage};
use crate::error::{Cause, Error};
use crate::id::{Id, kind};
use crate::meaning::{Space, Vector};
use crate::timestamp::Timestamp;

/// What a text is, for models that tell the two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A question, for which a person waits.
    Question,
    /// A passage that is to be found.
    Passage,
}

/// What may help after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedFailure {
    /// Trying again later, after at least the time that the model asked for.
    Later(Option<Duration>),
    /// Other or shorter texts: these were refused.
    Texts,
    /// Nothing but other settings: credentials or the model's name were refused.
    Settings,
}

/// There are no vectors.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// What may help.
    pub failure: EmbedFailure,
    /// What happened, for the log.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Cause>,
}

/// Makes vectors of texts.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The name of the model.
    fn model(&self) -> &str;
    /// How many texts it takes at once.
    fn batch(&self) -> usize;
    /// A vector for each text, in order, all of one dimension.
    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vector>, EmbedError>;
}

/// Passages of one source that have no vector, claimed for a while.
#[derive(Debug, Clone, PartialEq)]
pub struct LackingVectors {
    /// Whose they are.
    pub account: Id<kind::Account>,
    /// The source.
    pub source: Id<kind::Source>,
    /// The version of its content.
    pub version: u64,
    /// The passages, in order of their positions.
    pub passages: Vec<Passage>,
}

/// What there is to do for vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum VectorWork {
    /// Vectors are to be made of these.
    Lacking(LackingVectors),
    /// A source has all its vectors now, which the agent's generation says.
    Complete {
        /// Whose it is.
        account: Id<kind::Account>,
        /// The agent of the source.
        agent: Id<kind::Agent>,
        /// The agent's new generation.
        generation: u64,
    },
    /// The source that had its turn is gone.
    Gone {
        /// Whose it was.
        account: Id<kind::Account>,
    },
}

/// Vectors as rows. Rows say which sources lack vectors, so that interrupted work is resumed.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// The spaces of a model, newest first.
    async fn spaces(&self, model: &str) -> Result<Vec<Space>, Error>;
    /// Adds a space, whose id says nothing before, or gives the one that another server has added.
    async fn add_space(&self, space: Space, now: Timestamp) -> Result<Space, Error>;
    /// From now on vectors of other spaces count as missing. Returns how many sources lack theirs by that.
    async fn enter_space(&self, space: i64) -> Result<u64, Error>;
    /// The next source that lacks vectors of a space, of the next account after `after` in the order of their
    /// ids: accounts take turns, a batch each. At most `count` of its passages, of about
    /// [`EMBEDDED_BYTES`](crate::limits::EMBEDDED_BYTES). Nobody else is given the source before `until`.
    async fn claim_vectors(
        &self,
        space: i64,
        after: Option<Id<kind::Account>>,
        count: usize,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<VectorWork>, Error>;
    /// Stores vectors of claimed passages, each with the position of its passage; `None` for one that the
    /// model refuses. Passages that are gone are left out. Fails with [`Error::BytesExceeded`] if the account
    /// may not keep that much.
    async fn store_vectors(
        &self,
        claimed: &LackingVectors,
        space: i64,
        vectors: Vec<(i64, Option<Vector>)>,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Gives a claimed source back, not to be claimed before `until`.
    async fn postpone_vectors(
        &self,
        source: Id<kind::Source>,
        until: Timestamp,
    ) -> Result<(), Error>;
    /// Makes every source that lacks vectors claimable now: whoever had claimed one is gone.
    async fn take_back_vectors(&self) -> Result<(), Error>;
    /// How many sources lack vectors: for the metrics.
    async fn lacking_vectors(&self) -> Result<u64, Error>;
}

/// The sources of an agent that have all their vectors in a space, read at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentVectors {
    /// The agent's generation.
    pub generation: u64,
    /// Each such source, with the version of its content, in order of their ids.
    pub sources: Vec<(Id<kind::Source>, u64)>,
}

/// The rows that a projection of vectors is made from.
#[async_trait]
pub trait VectorFeed: Send + Sync {
    /// The vectors of an agent; `None` if it was deleted.
    async fn agent_vectors(
        &self,
        agent: Id<kind::Agent>,
        space: i64,
    ) -> Result<Option<AgentVectors>, Error>;
    /// Vectors of a source with the positions of their passages, in order, behind `after`: `None` of one
    /// that the model refused. `None` of all if the source is no longer at `version`. At most [`FEED_PASSAGES`](crate::limits::FEED_PASSAGES): if there are
    /// as many, ask again behind the last.
    async fn vectors(
        &self,
        source: Id<kind::Source>,
        version: u64,
        space: i64,
        after: Option<i64>,
    ) -> Result<Option<Vec<(i64, Option<Vector>)>>, Error>;
    /// The passages of a source at these positions; none if the source is no longer at `version`.
    async fn passages_at(
        &self,
        source: Id<kind::Source>,
        version: u64,
        positions: &[i64],
    ) -> Result<Vec<StoredPassage>, Error>;
}
