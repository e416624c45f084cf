//! What a job leaves behind that nobody sees: documents without a version, and pages of earlier crawls. It is removed in
//! parts.
//!
//! A crawl of a thousand large pages stores a gigabyte. Deleting as much in the transaction that ends a job would delay
//! all other changes of a SQLite file for many seconds. That transaction therefore only hides what is gone, by taking its
//! version, and the parts follow it. If they are interrupted, the housekeeper continues, or the next crawl of the source
//! before it begins.
//!
//! Invariant: documents without a version are leftovers if no job works on their source, or if its crawl has not begun.

use cicerone_domain::{Error, Source};
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::bytes;
use crate::connection::AnyConnection;
use crate::crawls::SUCCEEDED;
use crate::db::Db;
use crate::dialect;
use crate::error::TransactionError;
use crate::pages::{Size, nullable_length, octet_length};
use crate::removal::{AGENT_IS_THERE, Part};
use crate::schema::{
    crawl_pages, crawls, document_texts, documents, jobs, passage_vectors, passages, sources,
};
use crate::sources::unseen;
use crate::storage::Storage;

/// Which crawls of a source are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crawls {
    /// Those before the last one that succeeded.
    Replaced,
    /// All except the last one that succeeded.
    Unfinished,
}

impl Storage {
    /// Removes what the job of a source left behind, after the transaction that ended it. What fails is not reported to
    /// the caller, because the job has ended.
    pub(crate) async fn remove_leftovers(&self, source: &Source) {
        let db = self.db.of(source.account_id);
        note(finish(&db, source.id.to_string()).await);
    }

    /// The same for all sources on which no job works.
    pub(crate) async fn try_to_remove_all_leftovers(&self) {
        note(self.remove_all_leftovers().await);
    }

    /// Removes all leftovers, and returns of how many sources.
    pub(crate) async fn remove_all_leftovers(&self) -> Result<u64, Error> {
        let mut total = 0;
        while let Some(source) = self.db.read(next).await? {
            finish(&self.db, source).await?;
            total += 1;
        }
        Ok(total)
    }
}

/// Logs that a removal failed.
fn note<T>(outcome: Result<T, Error>) {
    if let Err(error) = outcome {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "the removal of old content was interrupted; the housekeeper will continue it"
        );
    }
}

/// Removes the leftovers of a source, unless a job works on it.
async fn finish(db: &Db, source: String) -> Result<(), Error> {
    loop {
        let source = source.clone();
        if db.free(move |c| remove_part(c, &source)).await? {
            return Ok(());
        }
    }
}

fn remove_part(c: &mut AnyConnection, source: &str) -> Result<bool, TransactionError> {
    let agent: Option<String> =
        sources::table.find(source).select(sources::agent_id).get_result(c).optional()?;
    // Whoever queues a job locks the agent's row too.
    let Some(agent) = agent else { return Ok(true) };
    if !dialect::lock_agent(c, &agent)? {
        return Ok(true);
    }
    let working: i64 = jobs::table.filter(jobs::source_id.eq(source)).count().get_result(c)?;
    if working > 0 {
        return Ok(true);
    }
    delete(c, source, Crawls::Replaced, &mut Part::new())
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Text)]
    id: String,
}

/// A source with leftovers on which no job works.
fn next(c: &mut AnyConnection) -> Result<Option<String>, TransactionError> {
    let query = format!(
        "SELECT sources.id AS id FROM sources WHERE sources.id IN ( \
           SELECT source_id FROM documents WHERE version IS NULL \
           UNION SELECT earlier.source_id FROM crawls AS earlier \
             JOIN crawls AS later ON later.source_id = earlier.source_id AND later.number > earlier.number \
             WHERE later.state = '{SUCCEEDED}' \
         ) AND sources.removed_at IS NULL AND {AGENT_IS_THERE} \
           AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.source_id = sources.id) LIMIT 1"
    );
    let found: Vec<Found> = dialect::load_sql(c, &query)?;
    Ok(found.into_iter().next().map(|found| found.id))
}

/// Deletes as much of a source's documents without a version, and of its crawls, as the part allows. Returns true if
/// nothing is left. The caller must know that no job has stored these documents and still works on them.
pub(crate) fn delete(
    c: &mut AnyConnection,
    source: &str,
    over: Crawls,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let mut freed = Freed::default();
    let is_done = delete_documents(c, source, part, &mut freed)?;
    freed.subtract(c, source)?;
    Ok(is_done && delete_crawls(c, source, over, part)?)
}

/// The stored bytes of deleted documents.
#[derive(Default)]
struct Freed {
    bytes: i64,
    of_vectors: i64,
}

impl Freed {
    fn subtract(&self, c: &mut AnyConnection, source: &str) -> Result<(), TransactionError> {
        if (self.bytes, self.of_vectors) == (0, 0) {
            return Ok(());
        }
        let account: String = diesel::update(sources::table.find(source))
            .set((
                sources::stored_bytes.eq(sources::stored_bytes - self.bytes),
                sources::vector_bytes.eq(sources::vector_bytes - self.of_vectors),
            ))
            .returning(sources::account_id)
            .get_result(c)?;
        bytes::change(c, &account, -self.bytes)
    }
}

fn delete_documents(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
    freed: &mut Freed,
) -> Result<bool, TransactionError> {
    loop {
        let next: Option<(i64, i64, i64)> = unseen(source)
            .order(documents::position)
            .select((documents::position, documents::stored_bytes, documents::vector_bytes))
            .first(c)
            .optional()?;
        let Some((document, bytes, of_vectors)) = next else { return Ok(true) };
        if !delete_passages(c, (source, document), part)? {
            return Ok(false);
        }
        let text: Option<Size> = document_texts::table
            .find((source, document))
            .select(octet_length(document_texts::text.nullable()))
            .get_result(c)
            .optional()?;
        if part.take(vec![(document, text)]).is_none() {
            return Ok(false);
        }
        diesel::delete(documents::table.find((source, document))).execute(c)?;
        freed.bytes += bytes;
        freed.of_vectors += of_vectors;
    }
}

/// Deletes passages of a document with their vectors.
fn delete_passages(
    c: &mut AnyConnection,
    (source, document): (&str, i64),
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_document = || {
        passages::table
            .filter(passages::source_id.eq(source))
            .filter(passages::document.eq(document))
    };
    let is_vector_of = passage_vectors::source_id
        .eq(passages::source_id)
        .and(passage_vectors::position.eq(passages::position));
    let rows: Vec<(i64, Size, Size)> = of_document()
        .left_join(passage_vectors::table.on(is_vector_of))
        .order(passages::position)
        .limit(part.limit())
        .select((
            passages::position,
            octet_length(passages::text.nullable()),
            nullable_length(passage_vectors::vector.nullable()),
        ))
        .load(c)?;
    let sizes = rows.into_iter().map(|(position, text, vector)| (position, [text, vector]));
    if let Some(last) = part.take(sizes.collect()) {
        diesel::delete(of_document().filter(passages::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}

fn delete_crawls(
    c: &mut AnyConnection,
    source: &str,
    over: Crawls,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let known: Vec<(i64, String)> = crawls::table
        .filter(crawls::source_id.eq(source))
        .order(crawls::number)
        .select((crawls::number, crawls::state))
        .load(c)?;
    let kept = known.iter().rfind(|(_, state)| state == SUCCEEDED).map(|(number, _)| *number);
    for (number, _) in known {
        let is_over = match over {
            Crawls::Replaced => kept.is_some_and(|kept| number < kept),
            Crawls::Unfinished => kept != Some(number),
        };
        if is_over {
            if !delete_pages(c, (source, number), part)? {
                return Ok(false);
            }
            diesel::delete(crawls::table.find((source, number))).execute(c)?;
        }
    }
    Ok(true)
}

/// Deletes as many pages of a crawl as the part allows. Returns true if nothing is left.
pub(crate) fn delete_pages(
    c: &mut AnyConnection,
    (source, crawl): (&str, i64),
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_crawl = || {
        crawl_pages::table
            .filter(crawl_pages::source_id.eq(source))
            .filter(crawl_pages::crawl.eq(crawl))
    };
    let rows: Vec<(i64, Size, Size)> = of_crawl()
        .order(crawl_pages::position)
        .limit(part.limit())
        .select((
            crawl_pages::position,
            octet_length(crawl_pages::url.nullable()),
            octet_length(crawl_pages::links),
        ))
        .load(c)?;
    let sizes = rows.into_iter().map(|(position, url, links)| (position, [url, links]));
    if let Some(last) = part.take(sizes.collect()) {
        diesel::delete(of_crawl().filter(crawl_pages::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}
