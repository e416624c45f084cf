//! The data from which a projection of vectors is built.

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::id::kind;
use cicerone_domain::meaning::Vector;
use cicerone_domain::ports::{AgentVectors, VectorFeed};
use cicerone_domain::{Error, Id, limits};
use diesel::prelude::*;

use crate::columns::{id, narrow, narrow_option, wide};
use crate::dialect::{Begin, transaction};
use crate::error::TransactionError;
use crate::schema::{agents, documents, passage_vectors, passages, source_vectors, sources};
use crate::sources::PassageRow;
use crate::storage::Storage;

#[async_trait]
impl VectorFeed for Storage {
    async fn agent_vectors(
        &self,
        agent: Id<kind::Agent>,
        space: i64,
    ) -> Result<Option<AgentVectors>, Error> {
        let agent = agent.to_string();
        self.db
            .read(move |c| {
                transaction(c, Begin::Snapshot, |c| {
                    let generation: Option<i64> = agents::table
                        .find(&agent)
                        .filter(agents::removed_at.is_null())
                        .select(agents::index_generation)
                        .get_result(c)
                        .optional()?;
                    let generation = narrow_option("agents.index_generation", generation)?;
                    let Some(generation) = generation else { return Ok(None) };
                    let rows: Vec<(String, i64)> = sources::table
                        .inner_join(source_vectors::table)
                        .filter(sources::agent_id.eq(&agent))
                        .filter(sources::removed_at.is_null())
                        .filter(sources::version.eq(source_vectors::version.nullable()))
                        .filter(source_vectors::is_complete.eq(true))
                        .filter(source_vectors::space.eq(space))
                        .select((sources::id, source_vectors::version))
                        .load(c)?;
                    let sources = rows.into_iter().map(|(source, version)| {
                        let version = narrow("source_vectors.version", version)?;
                        Ok((id("sources.id", &source)?, version))
                    });
                    // Sorted here, because PostgreSQL may order texts by a locale's rules.
                    let mut sources = sources.collect::<Result<Vec<_>, TransactionError>>()?;
                    sources.sort_unstable();
                    Ok(Some(AgentVectors { generation, sources }))
                })
            })
            .await
    }

    async fn vectors(
        &self,
        source: Id<kind::Source>,
        version: u64,
        space: i64,
        after: Option<i64>,
    ) -> Result<Option<Vec<(i64, Option<Vector>)>>, Error> {
        self.at_version(source.to_string(), version, move |c, source| {
            let rows: Vec<(i64, Vec<u8>)> = passage_vectors::table
                .filter(passage_vectors::source_id.eq(source))
                .filter(passage_vectors::space.eq(space))
                .filter(passage_vectors::position.gt(after.unwrap_or(i64::MIN)))
                .order(passage_vectors::position)
                .limit(wide(limits::FEED_PASSAGES))
                .select((passage_vectors::position, passage_vectors::vector))
                .load(c)?;
            rows.into_iter()
                .map(|(position, vector)| {
                    let vector = if vector.is_empty() {
                        None
                    } else {
                        Some(Vector::from_bytes(&vector).map_err(TransactionError::internal)?)
                    };
                    Ok((position, vector))
                })
                .collect()
        })
        .await
    }

    async fn passages_at(
        &self,
        source: Id<kind::Source>,
        version: u64,
        positions: &[i64],
    ) -> Result<Vec<StoredPassage>, Error> {
        let positions = positions.to_vec();
        let found = self.at_version(source.to_string(), version, move |c, source| {
            let of_the_document = passages::source_id
                .eq(documents::source_id)
                .and(passages::document.eq(documents::position));
            let rows: Vec<(PassageRow, String)> = passages::table
                .inner_join(documents::table.on(of_the_document))
                .filter(passages::source_id.eq(source))
                .filter(passages::position.eq_any(&positions))
                .select((PassageRow::as_select(), documents::id))
                .load(c)?;
            rows.into_iter().map(|(row, document)| row.of(&document)).collect()
        });
        Ok(found.await?.unwrap_or_default())
    }
}
