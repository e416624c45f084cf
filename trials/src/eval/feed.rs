//! Passages in memory, in place of a database.

use async_trait::async_trait;
use cicerone_domain::ports::{AgentContent, PassageFeed, Wanted, WholeContent};
use cicerone_domain::{Error, Id, Passage, kind, limits};

/// One agent with one source.
pub(crate) struct MemoryFeed {
    pub(crate) source: Id<kind::Source>,
    pub(crate) passages: Vec<Passage>,
}

#[async_trait]
impl PassageFeed for MemoryFeed {
    async fn agent_content(&self, _: Id<kind::Agent>) -> Result<Option<AgentContent>, Error> {
        Ok(Some(AgentContent { generation: 1, sources: vec![(self.source, 1)] }))
    }

    async fn whole_content(
        &self,
        _: Id<kind::Agent>,
        wanted: Wanted,
    ) -> Result<Option<WholeContent>, Error> {
        let stored: usize = self.passages.iter().map(|passage| passage.text.len()).sum();
        let passages = self.passages.iter().map(|passage| (self.source, passage.clone()));
        let whole = || WholeContent { generation: 1, passages: Some(passages.collect()) };
        Ok((stored as u64 <= wanted.bytes).then(whole))
    }

    async fn documents(
        &self,
        _: Id<kind::Source>,
        _: u64,
    ) -> Result<Option<Vec<(i64, u64)>>, Error> {
        Ok(Some(vec![(0, 1)]))
    }

    async fn passages(
        &self,
        _: Id<kind::Source>,
        _: u64,
        _: &[i64],
        after: Option<(i64, i64)>,
    ) -> Result<Option<Vec<(i64, Passage)>>, Error> {
        let behind = |passage: &&Passage| after.is_none_or(|after| (0, passage.position) > after);
        let some = self.passages.iter().filter(behind).take(limits::FEED_PASSAGES);
        Ok(Some(some.map(|passage| (0, passage.clone())).collect()))
    }
}
