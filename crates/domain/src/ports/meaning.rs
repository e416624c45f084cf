//! The embedding model, and where vectors are kept.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

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
    /// A question by which a model is measured, for which nobody waits.
    Example,
    /// A passage that is to be found.
    Passage,
}

/// What may help after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedFailure {
    /// Trying again later, after at least the time that the model asked for.
    Later(Option<Duration>),
    /// Trying again later, or other texts: a model that fails does not say what it fails at.
    Unclear,
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
    /// The settings that its vectors depend on, beside the model. If they change, vectors are made again.
    fn settings(&self) -> String;
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
    /// How often what is sent of this source is halved, because the model failed at it: as said last with
    /// [`postpone_vectors`](VectorStore::postpone_vectors) or [`store_vectors`](VectorStore::store_vectors).
    pub halvings: u32,
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
    /// The account has no room for the vectors of the next passages. Sources of it were put off.
    OverQuota {
        /// Whose they are.
        account: Id<kind::Account>,
        /// How many sources were put off. If there are more, the next turn of the account puts them off.
        sources: u64,
    },
}

/// A claim for vectors.
#[derive(Debug, Clone, Copy)]
pub struct VectorClaim {
    /// The space that vectors are made in.
    pub space: i64,
    /// The account that had the last turn.
    pub after: Option<Id<kind::Account>>,
    /// The most passages that are wanted.
    pub count: usize,
    /// The time.
    pub now: Timestamp,
    /// Nobody else is given the source before.
    pub until: Timestamp,
    /// Until when sources of an account are put off that has no room for vectors.
    pub over_quota_until: Timestamp,
}

/// Vectors as rows. Rows say which sources lack vectors, so that interrupted work is resumed.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// The spaces of a model with these settings, newest first.
    async fn spaces(&self, model: &str, settings: &str) -> Result<Vec<Space>, Error>;
    /// Adds a space, whose id says nothing before, or gives the one that another server has added.
    async fn add_space(&self, space: Space, now: Timestamp) -> Result<Space, Error>;
    /// From now on vectors of other spaces count as missing. Returns how many sources lack theirs by that.
    async fn enter_space(&self, space: i64) -> Result<u64, Error>;
    /// The next source that lacks vectors of a space, of the next account after `after` in the order of their
    /// ids: accounts take turns, a batch each. At most `count` of its passages, of about
    /// [`EMBEDDED_BYTES`](crate::limits::EMBEDDED_BYTES).
    async fn claim_vectors(&self, claim: VectorClaim) -> Result<Option<VectorWork>, Error>;
    /// Stores vectors of claimed passages, each with the position of its passage, without gaps from the first
    /// one on; `None` for one that the model makes no vector of. Passages that are gone are left out. The
    /// next claim of the source is given `halvings`. Fails with [`Error::BytesExceeded`] if the account
    /// may not keep that much.
    async fn store_vectors(
        &self,
        claimed: &LackingVectors,
        space: i64,
        vectors: Vec<(i64, Option<Vector>)>,
        halvings: u32,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Gives a claimed source back, not to be claimed before `until`. The next claim of it is given `halvings`.
    async fn postpone_vectors(
        &self,
        source: Id<kind::Source>,
        halvings: u32,
        until: Timestamp,
    ) -> Result<(), Error>;
    /// Makes every source that lacks vectors claimable now: whoever had claimed one is gone.
    async fn take_back_vectors(&self) -> Result<(), Error>;
    /// How many sources lack vectors: for the metrics.
    async fn lacking_vectors(&self) -> Result<u64, Error>;
}

/// The sources of an agent that have vectors in a space, read at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentVectors {
    /// The agent's generation.
    pub generation: u64,
    /// Each such source, in order of their ids.
    pub sources: Vec<SourceVectors>,
}

/// What a source has vectors of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceVectors {
    /// The source.
    pub id: Id<kind::Source>,
    /// The version of its content.
    pub version: u64,
    /// Whether all of its passages have their vectors. If not, those have them that the version before had too, and
    /// perhaps others.
    pub is_complete: bool,
}

/// Where a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PassageAt {
    /// Its source.
    pub source: Id<kind::Source>,
    /// The version of the source's content.
    pub version: u64,
    /// Its number within the source.
    pub position: i64,
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
    /// The passages of an account at these places, in any order, with their sources. Those whose source is no longer at
    /// that version are left out.
    async fn passages_at(
        &self,
        account: Id<kind::Account>,
        places: &[PassageAt],
    ) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, Error>;
}
