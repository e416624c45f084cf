//! The data from which an index is built.

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::id::kind;
use cicerone_domain::ports::{AgentContent, PassageFeed, Wanted, WholeContent};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, limits};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::columns::{id, narrow, narrow_option, wide};
use crate::connection::AnyConnection;
use crate::crawls::running_number;
use crate::dialect::{Begin, transaction};
use crate::error::TransactionError;
use crate::schema::{agents, crawl_pages, documents, passages, sources};
use crate::sources::PassageRow;
use crate::storage::Storage;

/// Documents whose passages are read by one query.
const DOCUMENTS: usize = 500;
/// Sources whose passages are read by one query.
const SOURCES: usize = 500;
/// The bytes of sources without their vectors, of the same type on both databases. Vectors are not in an index of words.
const STORED_BYTES: &str = "CAST(coalesce(sum(stored_bytes - vector_bytes), 0) AS BIGINT)";

#[async_trait]
impl PassageFeed for Storage {
    async fn versions(&self, agents: &[Id<kind::Agent>]) -> Result<Vec<AgentVersion>, Error> {
        let agents: Vec<String> = agents.iter().map(ToString::to_string).collect();
        self.db
            .read(move |c| {
                let rows: Vec<(String, String, i64)> = agents::table
                    .filter(agents::id.eq_any(&agents))
                    .filter(agents::removed_at.is_null())
                    .select((agents::id, agents::account_id, agents::index_generation))
                    .load(c)?;
                let versions = rows.into_iter().map(|(agent, account, generation)| {
                    Ok(AgentVersion {
                        id: id("agents.id", &agent)?,
                        account_id: id("agents.account_id", &account)?,
                        generation: narrow("agents.index_generation", generation)?,
                    })
                });
                versions.collect()
            })
            .await
    }

    async fn agent_content(&self, agent: Id<kind::Agent>) -> Result<Option<AgentContent>, Error> {
        let agent = agent.to_string();
        self.db
            .read(move |c| {
                transaction(c, Begin::Snapshot, |c| {
                    let Some(generation) = generation(c, &agent)? else { return Ok(None) };
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

    async fn whole_content(
        &self,
        agent: Id<kind::Agent>,
        wanted: Wanted,
    ) -> Result<Option<WholeContent>, Error> {
        let agent = agent.to_string();
        self.db
            .read(move |c| {
                transaction(c, Begin::Snapshot, |c| {
                    let Some(generation) = generation(c, &agent)? else { return Ok(None) };
                    if !wanted.is_wanted(generation) {
                        return Ok(Some(WholeContent { generation, passages: None }));
                    }
                    let searched = || {
                        sources::table
                            .filter(sources::agent_id.eq(&agent))
                            .filter(sources::version.is_not_null())
                    };
                    let stored: i64 =
                        searched().select(sql::<BigInt>(STORED_BYTES)).get_result(c)?;
                    if narrow::<u64>("sources.stored_bytes", stored)? > wanted.bytes {
                        return Ok(None);
                    }
                    let ids: Vec<String> =
                        searched().order(sources::id).select(sources::id).load(c)?;
                    let mut passages = Vec::new();
                    for sources in ids.chunks(SOURCES) {
                        passages.extend(all_passages(c, sources)?);
                    }
                    Ok(Some(WholeContent { generation, passages: Some(passages) }))
                })
            })
            .await
    }

    async fn candidate_content(
        &self,
        agent: Id<kind::Agent>,
        source: Id<kind::Source>,
        bytes: u64,
    ) -> Result<Option<WholeContent>, Error> {
        let (agent, source) = (agent.to_string(), source.to_string());
        self.db
            .read(move |c| {
                transaction(c, Begin::Snapshot, |c| candidate(c, &agent, &source, bytes))
            })
            .await
    }

    async fn documents(
        &self,
        source: Id<kind::Source>,
        version: u64,
    ) -> Result<Option<Vec<(i64, u64)>>, Error> {
        self.at_version(source.to_string(), version, true, |c, source, version| {
            let rows: Vec<(i64, Option<i64>)> = documents::table
                .filter(documents::source_id.eq(source))
                .filter(documents::version.is_not_null())
                .filter(exists(source_at(source, version)))
                .order(documents::position)
                .select((documents::position, documents::version))
                .load(c)?;
            rows.into_iter()
                .map(|(position, version)| {
                    Ok((position, narrow("documents.version", version.unwrap_or_default())?))
                })
                .collect()
        })
        .await
    }

    async fn passages(
        &self,
        source: Id<kind::Source>,
        version: u64,
        documents: &[i64],
        after: Option<(i64, i64)>,
    ) -> Result<Option<Vec<(i64, StoredPassage)>>, Error> {
        let (source, wanted) = (source.to_string(), documents.to_vec());
        let is_one_query = wanted.len() <= DOCUMENTS;
        self.at_version(source, version, is_one_query, move |c, source, version| {
            let mut found = Vec::new();
            let (document, position) = after.unwrap_or((i64::MIN, i64::MIN));
            let is_behind = || {
                let same = passages::document.eq(document).and(passages::position.gt(position));
                passages::document.gt(document).or(same)
            };
            for positions in wanted.chunks(DOCUMENTS) {
                let left = limits::FEED_PASSAGES - found.len();
                let of_the_document = passages::source_id
                    .eq(documents::source_id)
                    .and(passages::document.eq(documents::position));
                let rows: Vec<(PassageRow, String)> = passages::table
                    .inner_join(documents::table.on(of_the_document))
                    .filter(passages::source_id.eq(source))
                    .filter(exists(source_at(source, version)))
                    .filter(passages::document.eq_any(positions))
                    .filter(is_behind())
                    .order((passages::document, passages::position))
                    .limit(i64::try_from(left).unwrap_or(i64::MAX))
                    .select((PassageRow::as_select(), documents::id))
                    .load(c)?;
                for (row, id) in rows {
                    found.push((row.document, row.of(&id)?));
                }
            }
            Ok(found)
        })
        .await
    }
}

/// The generation of an agent; `None` if it was deleted.
fn generation(c: &mut AnyConnection, agent: &str) -> Result<Option<u64>, TransactionError> {
    let generation: Option<i64> = agents::table
        .find(agent)
        .filter(agents::removed_at.is_null())
        .select(agents::index_generation)
        .get_result(c)
        .optional()?;
    narrow_option("agents.index_generation", generation)
}

/// The passages of some sources. Documents without a version are still being stored.
fn all_passages(
    c: &mut AnyConnection,
    sources: &[String],
) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, TransactionError> {
    let of_the_document = passages::source_id
        .eq(documents::source_id)
        .and(passages::document.eq(documents::position));
    let rows: Vec<(PassageRow, String)> = passages::table
        .inner_join(documents::table.on(of_the_document))
        .filter(passages::source_id.eq_any(sources))
        .filter(documents::version.is_not_null())
        .order((passages::source_id, passages::document, passages::position))
        .select((PassageRow::as_select(), documents::id))
        .load(c)?;
    rows.into_iter().map(with_source).collect()
}

/// All passages of an agent, with those of a source's running crawl in place of the source's.
fn candidate(
    c: &mut AnyConnection,
    agent: &str,
    source: &str,
    bytes: u64,
) -> Result<Option<WholeContent>, TransactionError> {
    let Some(generation) = generation(c, agent)? else { return Ok(None) };
    let searched = || {
        sources::table.filter(sources::agent_id.eq(agent)).filter(sources::version.is_not_null())
    };
    let stored: i64 = searched().select(sql::<BigInt>(STORED_BYTES)).get_result(c)?;
    if narrow::<u64>("sources.stored_bytes", stored)? > bytes {
        return Ok(None);
    }
    // In the order of the present index, so that passages with equal scores are found in the same order.
    let ids: Vec<String> = searched().order(sources::id).select(sources::id).load(c)?;
    let mut passages = Vec::new();
    let mut parts = ids.split(|id| id == source).peekable();
    while let Some(part) = parts.next() {
        for sources in part.chunks(SOURCES) {
            passages.extend(all_passages(c, sources)?);
        }
        if parts.peek().is_some() {
            passages.extend(crawled_passages(c, source)?);
        }
    }
    Ok(Some(WholeContent { generation, passages: Some(passages) }))
}

/// The passages of the documents that the running crawl of a source has, new and kept.
fn crawled_passages(
    c: &mut AnyConnection,
    source: &str,
) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, TransactionError> {
    let Some(number) = running_number(c, source)? else { return Ok(Vec::new()) };
    let of_the_crawl = crawl_pages::table
        .filter(crawl_pages::source_id.eq(source))
        .filter(crawl_pages::crawl.eq(number))
        .filter(crawl_pages::document.is_not_null())
        .select(crawl_pages::document.assume_not_null());
    let of_the_document = passages::source_id
        .eq(documents::source_id)
        .and(passages::document.eq(documents::position));
    let rows: Vec<(PassageRow, String)> = passages::table
        .inner_join(documents::table.on(of_the_document))
        .filter(passages::source_id.eq(source))
        .filter(documents::position.eq_any(of_the_crawl))
        .order((passages::document, passages::position))
        .select((PassageRow::as_select(), documents::id))
        .load(c)?;
    rows.into_iter().map(with_source).collect()
}

/// A passage with its source.
fn with_source(
    (row, document): (PassageRow, String),
) -> Result<(Id<kind::Source>, StoredPassage), TransactionError> {
    Ok((id("passages.source_id", &row.source_id)?, row.of(&document)?))
}

impl Storage {
    /// Runs `work`, which reads what a source has at `version`, and finds nothing if the source is not at it. Returns
    /// `None` if the source is not at `version`.
    ///
    /// A single query already sees a consistent state. If it finds something, the source is at the version.
    pub(crate) async fn at_version<T, F>(
        &self,
        source: String,
        version: u64,
        is_one_query: bool,
        work: F,
    ) -> Result<Option<Vec<T>>, Error>
    where
        T: Send + 'static,
        F: Fn(&mut AnyConnection, &str, i64) -> Result<Vec<T>, TransactionError> + Send + 'static,
    {
        let version = wide(version);
        self.db
            .read(move |c| {
                if is_one_query {
                    let found = work(c, &source, version)?;
                    if !found.is_empty() {
                        return Ok(Some(found));
                    }
                }
                transaction(c, Begin::Snapshot, |c| {
                    let found: i64 = source_at(&source, version).count().get_result(c)?;
                    if found == 0 { Ok(None) } else { work(c, &source, version).map(Some) }
                })
            })
            .await
    }
}

/// The source, if it is at this version.
#[diesel::dsl::auto_type(no_type_alias)]
pub(crate) fn source_at<'a>(source: &'a str, version: i64) -> _ {
    sources::table.filter(sources::id.eq(source)).filter(sources::version.eq(version))
}
