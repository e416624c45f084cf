//! Passages in memory, in place of a database.

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::ports::{AgentContent, PassageFeed, Wanted, WholeContent};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, Passage, kind, limits};

/// One agent with one source.
pub(crate) struct MemoryFeed {
    pub(crate) source: Id<kind::Source>,
    pub(crate) passages: Vec<Passage>,
}

/// The passage as one of the only document of its source.
pub(crate) fn stored(source: Id<kind::Source>, passage: &Passage) -> StoredPassage {
    let document_id = Id::derived(&[source.suffix()]);
    StoredPassage { document_id, passage: passage.clone() }
}

#[async_trait]
impl PassageFeed for MemoryFeed {
    async fn versions(&self, _: &[Id<kind::Agent>]) -> Result<Vec<AgentVersion>, Error> {
        Ok(Vec::new())
    }

    async fn agent_content(&self, _: Id<kind::Agent>) -> Result<Option<AgentContent>, Error> {
        Ok(Some(AgentContent { generation: 1, sources: vec![(self.source, 1)] }))
    }

    async fn whole_content(
        &self,
        _: Id<kind::Agent>,
        wanted: Wanted,
    ) -> Result<Option<WholeContent>, Error> {
        let bytes: usize = self.passages.iter().map(|passage| passage.text.len()).sum();
        let passages = self.passages.iter();
        let passages = passages.map(|passage| (self.source, stored(self.source, passage)));
        let whole = || WholeContent { generation: 1, passages: Some(passages.collect()) };
        Ok((bytes as u64 <= wanted.bytes).then(whole))
    }

    async fn candidate_content(
        &self,
        _: Id<kind::Agent>,
        _: Id<kind::Source>,
        _: u64,
    ) -> Result<Option<WholeContent>, Error> {
        Ok(None)
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
    ) -> Result<Option<Vec<(i64, StoredPassage)>>, Error> {
        let behind = |passage: &&Passage| after.is_none_or(|after| (0, passage.position) > after);
        let some = self.passages.iter().filter(behind).take(limits::FEED_PASSAGES);
        Ok(Some(some.map(|passage| (0, stored(self.source, passage))).collect()))
    }
}
