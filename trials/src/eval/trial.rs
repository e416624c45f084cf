//! An index over the passages of a set, which is asked the set's questions.

use std::sync::Arc;

use cicerone_domain::agent::AnswerFloor;
use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::{Id, Passage, kind};
use cicerone_retrieval::{Index, IndexConfig};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::collection::Question;
use super::feed::MemoryFeed;

/// The real index, in a separate folder.
pub(crate) struct Trial {
    index: Index,
    agent: AgentVersion,
    _folder: TempDir,
}

impl Trial {
    pub(crate) fn new(runtime: &Runtime, passages: &[Passage]) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let id: Id<kind::Agent> = "agent_evaluation".parse()?;
        let feed = MemoryFeed { source: "src_evaluation".parse()?, passages: passages.to_vec() };
        let config =
            IndexConfig { directory: folder.path().to_path_buf(), open_agents: 1, memory_bytes: 0 };
        let index = Index::open(config, Arc::new(feed))?;
        let agent = AgentVersion { id, account_id: "acct_evaluation".parse()?, generation: 1 };
        runtime.block_on(index.synchronise(agent))?;
        Ok(Self { index, agent, _folder: folder })
    }

    pub(crate) fn ask(
        &self,
        runtime: &Runtime,
        question: &Question,
        limit: usize,
    ) -> anyhow::Result<Found> {
        let query = Query { text: question.text.clone(), ..Query::default() };
        Ok(runtime.block_on(self.index.search(self.agent, &query, limit))?)
    }

    /// The least confidence with which an agent with that floor answers.
    pub(crate) fn floor(&self, runtime: &Runtime, floor: AnswerFloor) -> anyhow::Result<f32> {
        let query = Query { text: "floor".to_owned(), floor, ..Query::default() };
        Ok(runtime.block_on(self.index.search(self.agent, &query, 1))?.floor)
    }

    /// The numbers of the passages that each question finds, best first.
    pub(crate) fn rank(
        &self,
        runtime: &Runtime,
        questions: &[Question],
        limit: usize,
    ) -> anyhow::Result<Vec<Vec<usize>>> {
        questions
            .iter()
            .map(|question| {
                let found = self.ask(runtime, question, limit)?;
                Ok(found.hits.iter().filter_map(|hit| usize::try_from(hit.position).ok()).collect())
            })
            .collect()
    }
}
