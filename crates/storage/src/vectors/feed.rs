//! The data from which a projection of vectors is built.

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::id::kind;
use cicerone_domain::meaning::Vector;
use cicerone_domain::ports::{AgentVectors, PassageAt, SourceVectors, VectorFeed};
use cicerone_domain::{Error, Id, limits};
use diesel::prelude::*;

use crate::columns::{id, narrow, narrow_option, wide};
use crate::connection::AnyConnection;
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
                    // Also those that lack some since their website was refreshed: unchanged passages have kept theirs.
                    let rows: Vec<(String, i64, bool)> = sources::table
                        .inner_join(source_vectors::table)
                        .filter(sources::agent_id.eq(&agent))
                        .filter(sources::removed_at.is_null())
                        .filter(sources::version.eq(source_vectors::version.nullable()))
                        .filter(source_vectors::space.eq(space))
                        .select((sources::id, source_vectors::version, source_vectors::is_complete))
                        .load(c)?;
                    let sources = rows.into_iter().map(|(source, version, is_complete)| {
                        let version = narrow("source_vectors.version", version)?;
                        Ok(SourceVectors { id: id("sources.id", &source)?, version, is_complete })
                    });
                    // Sorted here, because PostgreSQL may order texts by a locale's rules.
                    let mut sources = sources.collect::<Result<Vec<_>, TransactionError>>()?;
                    sources.sort_unstable_by_key(|source| source.id);
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
        self.at_version(source.to_string(), version, false, move |c, source, _| {
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
        account: Id<kind::Account>,
        places: &[PassageAt],
    ) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, Error> {
        let places = places.to_vec();
        // A few rows by their keys, for a question that waits.
        self.db.of(account).lookup(move |c| passages_at(c, account, &places)).await
    }
}

/// Passages by their places.
fn passages_at(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    places: &[PassageAt],
) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, TransactionError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let of_the_document = passages::source_id
        .eq(documents::source_id)
        .and(passages::document.eq(documents::position));
    let mut query = passages::table
        .inner_join(documents::table.on(of_the_document))
        .inner_join(sources::table.on(sources::id.eq(passages::source_id)))
        .select((PassageRow::as_select(), documents::id, sources::account_id, sources::version))
        .into_boxed();
    for place in places {
        let is_there = passages::source_id
            .eq(place.source.to_string())
            .and(passages::position.eq(place.position));
        query = query.or_filter(is_there);
    }
    let rows: Vec<(PassageRow, String, String, Option<i64>)> = query.load(c)?;
    let account = account.to_string();
    let mut found = Vec::with_capacity(rows.len());
    for (row, document, owner, version) in rows {
        let source = id("passages.source_id", &row.source_id)?;
        let version: Option<u64> = narrow_option("sources.version", version)?;
        let stored = row.of(&document)?;
        let position = stored.passage.position;
        let is_wanted = |at: &PassageAt| {
            at.source == source && at.position == position && Some(at.version) == version
        };
        if owner == account && places.iter().any(is_wanted) {
            found.push((source, stored));
        }
    }
    Ok(found)
}
