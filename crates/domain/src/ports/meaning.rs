//! The ports of the embedding model and of the store of vectors.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::content::{Passage, StoredPassage};
use crate::error::{Cause, Error};
use crate::id::{Id, kind};
use crate::meaning::{Space, Vector};
use crate::timestamp::Timestamp;

/// The kind of a text, for models that distinguish the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A question, for which a person is waiting.
    Question,
    /// A question that measures a model; nobody is waiting for it.
    Example,
    /// A passage that is to be found.
    Passage,
}

/// What may help after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedFailure {
    /// Trying again later, after at least the time that the model requested.
    Later(Option<Duration>),
    /// Trying again later, or other texts: the cause of the failure is unknown.
    Unclear,
    /// Other or shorter texts: these were refused.
    Texts,
    /// Only other settings: credentials or the model's name were refused.
    Settings,
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// What may help.
    pub failure: EmbedFailure,
    /// What happened, for the log.
    pub message: String,
    /// The error that led to it, if there was one.
    #[source]
    pub source: Option<Cause>,
}

/// Creates vectors of texts.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The name of the model.
    fn model(&self) -> &str;
    /// The settings that its vectors depend on, in addition to the model. If they change, vectors are created again.
    fn settings(&self) -> String;
    /// The maximum number of texts of one request.
    fn batch(&self) -> usize;
    /// A vector for each text, in order, all of one dimension.
    async fn embed(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Vector>, EmbedError>;
}

/// Passages of one source that have no vector, claimed for a while.
#[derive(Debug, Clone, PartialEq)]
pub struct LackingVectors {
    /// The account that owns them.
    pub account: Id<kind::Account>,
    /// The source that the passages belong to.
    pub source: Id<kind::Source>,
    /// The version of its content.
    pub version: u64,
    /// The passages, in order of their positions.
    pub passages: Vec<Passage>,
    /// How often the batches of this source are halved, because the model failed on them: the last value given to
    /// [`postpone_vectors`](VectorStore::postpone_vectors) or [`store_vectors`](VectorStore::store_vectors).
    pub halvings: u32,
}

/// The next task for vectors.
#[derive(Debug, Clone, PartialEq)]
pub enum VectorWork {
    /// Create vectors of these passages.
    Lacking(LackingVectors),
    /// A source now has all its vectors, and the agent's generation has risen.
    Complete {
        /// The account that owns it.
        account: Id<kind::Account>,
        /// The agent of the source.
        agent: Id<kind::Agent>,
        /// The agent's new generation.
        generation: u64,
    },
    /// The source that had its turn has been deleted.
    Gone {
        /// The account that owned it.
        account: Id<kind::Account>,
    },
    /// The account has no room for the vectors of the next passages. Its sources were postponed.
    OverQuota {
        /// The account that owns them.
        account: Id<kind::Account>,
        /// How many sources were postponed. If there are more, the next turn of the account postpones them.
        sources: u64,
    },
}

/// What a learner asks for: passages that lack vectors of a space.
#[derive(Debug, Clone, Copy)]
pub struct VectorClaim {
    /// The model and dimension that the vectors are made with, by the number of their space.
    pub space: i64,
    /// The account that had the last turn.
    pub after: Option<Id<kind::Account>>,
    /// The maximum number of passages.
    pub count: usize,
    /// The time of the request: sources that are due by then may be claimed.
    pub now: Timestamp,
    /// Until then, the source is not given to another claimant.
    pub until: Timestamp,
    /// Until when the sources of an account without room for vectors are postponed.
    pub over_quota_until: Timestamp,
}

/// Vectors as rows. The rows also record which sources lack vectors, so that interrupted work is resumed.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// The spaces of a model with these settings, newest first.
    async fn spaces(&self, model: &str, settings: &str) -> Result<Vec<Space>, Error>;
    /// Adds a space, whose previous id is ignored, or returns the one that another server has added.
    async fn add_space(&self, space: Space, now: Timestamp) -> Result<Space, Error>;
    /// From now on, vectors of other spaces count as missing. Returns how many sources therefore lack theirs.
    async fn enter_space(&self, space: i64) -> Result<u64, Error>;
    /// The next source that lacks vectors of a space, of the next account after `after` in the order of their
    /// ids: accounts take turns, a batch each. At most `count` of its passages, of about
    /// [`EMBEDDED_BYTES`](crate::limits::EMBEDDED_BYTES).
    async fn claim_vectors(&self, claim: VectorClaim) -> Result<Option<VectorWork>, Error>;
    /// Stores vectors of claimed passages, each with the position of its passage, without gaps from the first one on;
    /// `None` if the model produces no vector for it. Deleted passages are ignored. The next claim of the source gets
    /// `halvings`. Fails with [`Error::BytesExceeded`] if the account may not store that much.
    async fn store_vectors(
        &self,
        claimed: &LackingVectors,
        space: i64,
        vectors: Vec<(i64, Option<Vector>)>,
        halvings: u32,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Releases a claimed source, which cannot be claimed before `until`. Its next claim gets `halvings`.
    async fn postpone_vectors(
        &self,
        source: Id<kind::Source>,
        halvings: u32,
        until: Timestamp,
    ) -> Result<(), Error>;
    /// Makes every source that lacks vectors claimable now, because their previous claimants have stopped.
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

/// How far the vectors of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceVectors {
    /// The source whose passages have them.
    pub id: Id<kind::Source>,
    /// The version of its content.
    pub version: u64,
    /// Whether all of its passages have vectors. If not, those that the previous version also had have them, and
    /// perhaps others.
    pub is_complete: bool,
}

/// Where a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PassageAt {
    /// The source that it belongs to.
    pub source: Id<kind::Source>,
    /// The version of the source's content.
    pub version: u64,
    /// Its number within the source, from 0.
    pub position: i64,
}

/// The rows from which a projection of vectors is built.
#[async_trait]
pub trait VectorFeed: Send + Sync {
    /// The vectors of an agent; `None` if it was deleted.
    async fn agent_vectors(
        &self,
        agent: Id<kind::Agent>,
        space: i64,
    ) -> Result<Option<AgentVectors>, Error>;
    /// Vectors of a source with the positions of their passages, in order, after the position `after`; a passage that
    /// the model refused has none. `None` instead of the list if the source is no longer at `version`. At most
    /// [`FEED_PASSAGES`](crate::limits::FEED_PASSAGES): if there are as many, ask again after the last one.
    async fn vectors(
        &self,
        source: Id<kind::Source>,
        version: u64,
        space: i64,
        after: Option<i64>,
    ) -> Result<Option<Vec<(i64, Option<Vector>)>>, Error>;
    /// The passages of an account at these places, in any order, with their sources. Passages whose source is no longer
    /// at that version are omitted.
    async fn passages_at(
        &self,
        account: Id<kind::Account>,
        places: &[PassageAt],
    ) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, Error>;
}
