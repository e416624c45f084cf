//! Search by meaning, in addition to search by words.
//!
//! Invariant: a failure here never fails a search. The search is then by words, and is counted in a
//! metric.

mod file;
mod fuse;
mod projections;
mod question;
mod vectors;

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::fairness::{FairPool, Urgency};
use cicerone_domain::meaning::{CurrentSpace, Space, Vector};
use cicerone_domain::ports::{Embedder, Stage, Stages, VectorFeed};
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::{Error, Id, kind};

use crate::index::Folders;

pub(crate) use self::fuse::WINDOW;
use self::fuse::{Closeness, Ranking};
use self::projections::Projections;
use self::question::Questions;
use self::vectors::{Compared, Vectors};

/// Searches of many vectors at the same time, and as many in reserve for accounts below their
/// share. Each takes a thread.
const LARGE_SEARCHES: u64 = 4;
/// The longest that a search waits for the passages that only meaning found. It has a turn at the processors.
const READ_PATIENCE: Duration = Duration::from_millis(250);

/// The ports of search by meaning.
#[derive(Clone)]
pub struct MeaningPorts {
    /// Makes the vectors of questions.
    pub embedder: Arc<dyn Embedder>,
    /// Reads the vectors of passages, and the passages.
    pub feed: Arc<dyn VectorFeed>,
    /// The space of the model.
    pub space: CurrentSpace,
}

/// The settings of search by meaning.
#[derive(Debug, Clone, Copy)]
pub struct MeaningConfig {
    /// How much meaning counts beside words, from 0 to 1.
    pub weight: f32,
    /// The longest that a search waits for the vector of its question.
    pub patience: Duration,
    /// How long the vector of a question is cached.
    pub kept: Duration,
}

/// Search by meaning.
pub(crate) struct Meaning {
    ports: MeaningPorts,
    weight: f32,
    questions: Questions,
    projections: Arc<Projections>,
    large_searches: FairPool<Id<kind::Account>>,
}

impl Meaning {
    /// Keeps the vectors under `folders`, and those of up to `open_agents` agents open.
    pub(crate) fn new(
        ports: MeaningPorts,
        config: MeaningConfig,
        folders: Folders,
        open_agents: u64,
    ) -> Self {
        let questions = Questions::new(config.patience, config.kept);
        let projections = Projections::new(Arc::clone(&ports.feed), folders, open_agents);
        Self {
            ports,
            weight: config.weight,
            questions,
            projections: Arc::new(projections),
            large_searches: FairPool::new(LARGE_SEARCHES, LARGE_SEARCHES),
        }
    }

    /// The vector of a question; `None` if the model does not return it in time.
    pub(crate) async fn question(
        &self,
        agent: AgentVersion,
        query: &Query,
        stages: &Stages,
    ) -> Option<Vector> {
        let asked = match self.ports.space.get() {
            Some(space) => {
                stages.begin(Stage::Embed);
                let text = question::text(query);
                self.questions.vector(&self.ports, &space, agent.account_id, &text).await
            }
            // The model has not answered since the start.
            None => None,
        };
        if asked.is_none() {
            count("words");
        }
        asked
    }

    /// Brings the vectors of an agent on this machine up to date.
    pub(crate) async fn synchronise(&self, agent: AgentVersion) -> Result<(), Error> {
        match self.ports.space.get() {
            Some(space) => {
                self.projections.in_step(agent, &space, Urgency::Learning).await.map(drop)
            }
            None => Ok(()),
        }
    }

    /// Brings the files of an agent on this machine up to date, if it has any. Returns whether there was something to do.
    pub(crate) async fn renew(&self, agent: AgentVersion) -> Result<bool, Error> {
        let space = self.ports.space.get();
        self.projections.renew(agent, space.as_deref()).await
    }

    /// The agents that have vectors on this machine.
    pub(crate) async fn agents(&self) -> Result<Vec<Id<kind::Agent>>, Error> {
        self.projections.agents().await
    }

    /// Removes the vectors of a deleted agent from this machine.
    pub(crate) async fn remove(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        self.projections.remove(agent).await
    }

    /// Adds passages that are close in meaning to those that were found by words.
    pub(crate) async fn add(
        &self,
        agent: AgentVersion,
        question: Vector,
        query: &Query,
        found: Found,
        limit: usize,
    ) -> Found {
        match self.closeness(agent, question, &found).await {
            Ok(Some(closeness)) => {
                let ranking = Ranking::new(found, &closeness, self.weight, limit);
                let read = self.read(agent, &ranking).await;
                count(if read.is_some() { "fused" } else { "words" });
                ranking.finish(read.unwrap_or_default(), &query.text)
            }
            Ok(None) => {
                count("no_vectors");
                cut(found, limit)
            }
            Err(error) => {
                count("words");
                tracing::warn!(agent_id = %agent.id, error = &error as &dyn std::error::Error,
                    "a search uses words only: the vectors of an agent cannot be read");
                cut(found, limit)
            }
        }
    }

    /// The passages that only meaning found and that may be among the results; `None` if they cannot be read in time.
    async fn read(
        &self,
        agent: AgentVersion,
        ranking: &Ranking,
    ) -> Option<Vec<(Id<kind::Source>, StoredPassage)>> {
        let wanted = ranking.wanted();
        if wanted.is_empty() {
            return Some(Vec::new());
        }
        let read = self.ports.feed.passages_at(agent.account_id, &wanted);
        match tokio::time::timeout(READ_PATIENCE, read).await {
            Ok(Ok(read)) => Some(read),
            Ok(Err(error)) => {
                tracing::warn!(agent_id = %agent.id, error = &error as &dyn std::error::Error,
                    "a search uses words only: the passages that are close in meaning cannot be read");
                None
            }
            Err(_) => {
                tracing::debug!(agent_id = %agent.id,
                    "a search uses words only: the passages that are close in meaning were not read in time");
                None
            }
        }
    }

    /// How close the passages are: the closest of all, and those that were found by words. `None` if there are no
    /// vectors yet.
    async fn closeness(
        &self,
        agent: AgentVersion,
        question: Vector,
        found: &Found,
    ) -> Result<Option<Closeness>, Error> {
        let Some(space) = self.ports.space.get() else { return Ok(None) };
        let vectors = self.projections.for_question(agent, &space).await?;
        let Some(vectors) = vectors.filter(|vectors| !vectors.is_empty()) else { return Ok(None) };
        let known: Vec<_> = found.hits.iter().map(|hit| (hit.source_id, hit.position)).collect();
        if !vectors.is_large() {
            return Ok(search(&vectors, space, &question, &known));
        }
        let place = self.large_searches.acquire(agent.account_id, 1, Urgency::Question).await;
        let work = move || {
            // Held until the thread is free, even if the caller is cancelled.
            let _place = place;
            search(&vectors, space, &question, &known)
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

fn search(
    vectors: &Vectors,
    space: Arc<Space>,
    question: &Vector,
    known: &[(Id<kind::Source>, i64)],
) -> Option<Closeness> {
    let Compared { closest, mean, count } = vectors.compare(question, WINDOW)?;
    let background = space.background(mean, count);
    let known = known.iter().map(|(source, at)| vectors.cosine(question, *source, *at)).collect();
    Some(Closeness { closest, known, mean, background, space })
}

fn cut(mut found: Found, limit: usize) -> Found {
    found.hits.truncate(limit);
    found
}

/// Counts a search by its kind.
fn count(by: &'static str) {
    metrics::counter!("cicerone_meaning_searches_total", "outcome" => by).increment(1);
}
