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
use cicerone_domain::meaning::{CurrentSpace, Vector};
use cicerone_domain::ports::{Embedder, Stage, Stages, VectorFeed};
use cicerone_domain::retrieval::{AgentVersion, Found, Hit, Query};
use cicerone_domain::{Error, Id, kind};

use crate::index::Folders;

use self::fuse::{Close, Closeness};
pub(crate) use self::fuse::{WINDOW, fuse};
use self::projections::Projections;
use self::question::Questions;
use self::vectors::Vectors;

/// Searches of many vectors at the same time, and as many in reserve for accounts below their
/// share. Each takes a thread.
const LARGE_SEARCHES: u64 = 4;

/// The ports of search by meaning.
#[derive(Clone)]
pub struct MeaningPorts {
    /// The model.
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
        let space = self.ports.space.get()?;
        stages.begin(Stage::Embed);
        let text = question::text(query);
        let asked = self.questions.vector(&self.ports, &space, agent.account_id, &text).await;
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
            Ok(Some((closeness, others))) => {
                count("fused");
                fuse(found, &closeness, others, &query.text, self.weight, limit)
            }
            Ok(None) => {
                count("no_vectors");
                cut(found, limit)
            }
            Err(error) => {
                count("words");
                tracing::warn!(agent_id = %agent.id, error = &error as &dyn std::error::Error,
                    "a search goes by words: the vectors of an agent cannot be read");
                cut(found, limit)
            }
        }
    }

    /// How close the passages are: those that were found by words, and the closest of all, which
    /// are read.
    async fn closeness(
        &self,
        agent: AgentVersion,
        question: Vector,
        found: &Found,
    ) -> Result<Option<(Closeness, Vec<Hit>)>, Error> {
        let Some(space) = self.ports.space.get() else { return Ok(None) };
        let vectors = self.projections.for_question(agent, &space).await?;
        let Some(vectors) = vectors.filter(|vectors| !vectors.is_empty()) else { return Ok(None) };
        let known: Vec<_> = found.hits.iter().map(|hit| (hit.source_id, hit.position)).collect();
        let closest = if vectors.is_large() {
            let place = self.large_searches.acquire(agent.account_id, 1, Urgency::Question).await;
            let work = move || {
                // Held until the thread is free, even if the caller is cancelled.
                let _place = place;
                search(&vectors, &question, &known)
            };
            tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
        } else {
            search(&vectors, &question, &known)
        };
        let Some((close, of_known, lowest)) = closest else { return Ok(None) };
        let others = self.read(&close, found).await?;
        let closeness = Closeness::new(close, of_known, lowest, space.floor);
        Ok(Some((closeness, others)))
    }

    /// The closest passages that were not found by words. Those that were deleted in the meantime
    /// are left out.
    async fn read(&self, close: &[Close], found: &Found) -> Result<Vec<Hit>, Error> {
        let is_found = |close: &Close| {
            found
                .hits
                .iter()
                .any(|hit| hit.source_id == close.source && hit.position == close.position)
        };
        let mut wanted: Vec<(&Close, Vec<i64>)> = Vec::new();
        for close in close.iter().filter(|close| !is_found(close)) {
            match wanted.iter_mut().find(|(first, _)| first.source == close.source) {
                Some((_, positions)) => positions.push(close.position),
                None => wanted.push((close, vec![close.position])),
            }
        }
        let mut hits = Vec::new();
        for (first, positions) in wanted {
            let feed = &self.ports.feed;
            let passages = feed.passages_at(first.source, first.version, &positions).await?;
            hits.extend(passages.into_iter().map(|passage| hit(first, passage)));
        }
        Ok(hits)
    }
}

/// The closest passages, the cosines of known ones, and the lowest of the closest.
type Searched = (Vec<Close>, Vec<Option<f32>>, f32);

fn search(
    vectors: &Vectors,
    question: &Vector,
    known: &[(Id<kind::Source>, i64)],
) -> Option<Searched> {
    let close = vectors.closest(question, WINDOW)?;
    let lowest = close.last().map(|close| close.cosine)?;
    let of_known =
        known.iter().map(|(source, at)| vectors.cosine(question, *source, *at)).collect();
    Some((close, of_known, lowest))
}

fn hit(close: &Close, StoredPassage { document_id, passage }: StoredPassage) -> Hit {
    Hit {
        source_id: close.source,
        document_id,
        position: passage.position,
        title: passage.title,
        heading: passage.heading,
        url: passage.url,
        page: passage.page,
        text: passage.text.into(),
        is_pair: passage.is_pair,
        language: passage.language,
        score: 0.0,
        coverage: 0.0,
        is_relevant: false,
    }
}

fn cut(mut found: Found, limit: usize) -> Found {
    found.hits.truncate(limit);
    found
}

/// Counts a search by its kind.
fn count(by: &'static str) {
    metrics::counter!("cicerone_meaning_searches_total", "outcome" => by).increment(1);
}
