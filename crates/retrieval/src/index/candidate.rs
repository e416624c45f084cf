//! An index in memory of content that may replace the present one.

use std::sync::Arc;

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::fairness::{FairPermit, Urgency};
use cicerone_domain::ports::{PassageIndex, WholeContent};
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::{Error, Id, kind, limits};

use super::Index;
use crate::search::{InMemory, Recent, Snapshot};

/// The content of an agent as it would be after a crawl.
pub(super) struct Candidate {
    snapshot: Arc<Snapshot>,
    /// For its threads.
    index: Index,
    /// Given back after the memory.
    _place: FairPermit<Id<kind::Account>>,
}

/// Indexes the content that an agent would have if the crawl of a source ended now; `None` if it is too large, or if the
/// agent was deleted.
pub(super) async fn make(
    index: &Index,
    (account, agent): (Id<kind::Account>, Id<kind::Agent>),
    source: Id<kind::Source>,
) -> Result<Option<Candidate>, Error> {
    let shared = &index.shared;
    let place = shared.candidates.acquire(account, 1, Urgency::Learning).await;
    let content = shared.feed.candidate_content(agent, source, limits::GUARD_BYTES).await?;
    let Some(WholeContent { generation, passages: Some(passages) }) = content else {
        return Ok(None);
    };
    let recent = shared.recent.clone();
    // Held until the thread is free, even if the caller is cancelled.
    let work = move || (snapshot(passages, generation, &recent), place);
    let (made, place) = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
    let snapshot = Arc::new(made.map_err(Error::internal)?);
    Ok(Some(Candidate { snapshot, index: index.clone(), _place: place }))
}

fn snapshot(
    passages: Vec<(Id<kind::Source>, StoredPassage)>,
    generation: u64,
    recent: &Recent,
) -> tantivy::Result<Snapshot> {
    Snapshot::in_memory(InMemory::new(passages)?, generation, recent)
}

#[async_trait]
impl PassageIndex for Candidate {
    async fn search(
        &self,
        agent: AgentVersion,
        query: &Query,
        limit: usize,
    ) -> Result<Found, Error> {
        let snapshot = Arc::clone(&self.snapshot);
        let found = self.index.search_in(snapshot, agent.account_id, query, limit).await?;
        found.map_err(Error::unavailable)
    }

    async fn synchronise(&self, _: AgentVersion) -> Result<(), Error> {
        Ok(())
    }

    async fn remove(&self, _: Id<kind::Agent>) -> Result<(), Error> {
        Ok(())
    }
}
