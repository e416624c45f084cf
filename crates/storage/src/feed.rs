//! What an index is made from.

use async_trait::async_trait;
use cicerone_domain::content::Passage;
use cicerone_domain::id::kind;
use cicerone_domain::ports::{AgentContent, PassageFeed};
use cicerone_domain::{Error, Id};
use diesel::prelude::*;

use crate::columns::{id, narrow, narrow_option, wide};
use crate::dialect::{Begin, transaction};
use crate::schema::{agents, passages, sources};
use crate::sources::PassageRow;
use crate::storage::Storage;

#[async_trait]
impl PassageFeed for Storage {
    async fn agent_content(&self, agent: Id<kind::Agent>) -> Result<Option<AgentContent>, Error> {
        let agent = agent.to_string();
        self.db
            .read(move |c| {
                transaction(c, Begin::Snapshot, |c| {
                    let generation: Option<i64> = agents::table
                        .find(&agent)
                        .select(agents::index_generation)
                        .get_result(c)
                        .optional()?;
                    let generation = narrow_option("agents.index_generation", generation)?;
                    let Some(generation) = generation else { return Ok(None) };
                    let rows: Vec<(String, Option<i64>)> = sources::table
                        .filter(sources::agent_id.eq(&agent))
                        .filter(sources::version.is_not_null())
                        .select((sources::id, sources::version))
                        .load(c)?;
                    let mut contents = Vec::with_capacity(rows.len());
                    for (source, version) in rows {
                        if let Some(version) = version {
                            let version = narrow("sources.version", version)?;
                            contents.push((id("sources.id", &source)?, version));
                        }
                    }
                    Ok(Some(AgentContent { generation, sources: contents }))
                })
            })
            .await
    }

    async fn passages(
        &self,
        source: Id<kind::Source>,
        version: u64,
    ) -> Result<Option<Vec<Passage>>, Error> {
        let source = source.to_string();
        self.db
            .read(move |c| {
                transaction(c, Begin::Snapshot, |c| {
                    let found: i64 = sources::table
                        .filter(sources::id.eq(&source))
                        .filter(sources::version.eq(wide(version)))
                        .count()
                        .get_result(c)?;
                    if found == 0 {
                        return Ok(None);
                    }
                    passages::table
                        .filter(passages::source_id.eq(&source))
                        .order(passages::position)
                        .select(PassageRow::as_select())
                        .load(c)?
                        .into_iter()
                        .map(Passage::try_from)
                        .collect::<Result<Vec<_>, _>>()
                        .map(Some)
                })
            })
            .await
    }
}
