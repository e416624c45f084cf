//! Deletion of agents, sources and conversations in parts.
//!
//! SQLite has one writer, so deleting a gigabyte in one transaction would delay all other changes.
//! Anything that fits into one part is deleted at once. Otherwise the first transaction sets
//! `removed_at`, the next ones delete what belongs to the row, and the last one the row itself. The
//! caller waits for them; if they are interrupted, the housekeeper continues.
//!
//! Stored answers and events that contain the object are erased in the first parts. Until then, an idempotency key still
//! gets its answer.
//!
//! Invariant: a row with a `removed_at`, or one that belongs to it, is never found, and no job works on
//! it.

use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Timestamp};
use diesel::prelude::*;

use crate::columns::wide;
use crate::connection::AnyConnection;
use crate::db::Db;
use crate::error::TransactionError;
use crate::pages::{Size, binary_length, octet_length};
use crate::schema::{
    agents, check_runs, conversations, crawl_pages, document_texts, documents, gap_questions, gaps,
    jobs, messages, passage_vectors, passages, ratings, sources,
};
use crate::uploads::remove_unused;
use crate::{bytes, checks, dialect, events, idempotency, leftovers};

/// Most bytes of text that one part deletes, unless a single text is larger.
const PART_BYTES: usize = 1_024 * 1_024;
/// Most rows that one part deletes.
const PART_ROWS: usize = 1_000;

/// True if the agent of a row is not removed. Plain SQL, because diesel treats a subquery of agents
/// in a query of sources as a join.
pub(crate) const AGENT_IS_THERE: &str = "EXISTS (SELECT 1 FROM agents AS owner \
    WHERE owner.id = agent_id AND owner.removed_at IS NULL)";

/// What a transaction may still delete.
#[derive(Debug)]
pub(crate) struct Part {
    bytes: usize,
    rows: usize,
}

impl Part {
    /// A part of full size.
    pub(crate) fn new() -> Self {
        Self { bytes: PART_BYTES, rows: PART_ROWS }
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.bytes == 0 || self.rows == 0
    }

    /// The number of rows to read.
    pub(crate) fn limit(&self) -> i64 {
        wide(self.rows)
    }

    /// Takes as many of these rows as the part allows, and returns the position of the last one. It
    /// takes fewer than all only if the part is used up.
    pub(crate) fn take<S: IntoIterator<Item = Size>>(
        &mut self,
        rows: Vec<(i64, S)>,
    ) -> Option<i64> {
        let mut last = None;
        for (position, sizes) in rows {
            if self.is_used_up() {
                break;
            }
            let bytes = sizes.into_iter().flatten().filter_map(|size| usize::try_from(size).ok());
            self.bytes = self.bytes.saturating_sub(bytes.sum());
            self.rows -= 1;
            last = Some(position);
        }
        last
    }

    /// The same for rows with one size each, which it returns.
    pub(crate) fn take_each<R>(&mut self, rows: Vec<(R, Size)>) -> Vec<R> {
        let mut taken = Vec::new();
        for (row, size) in rows {
            if self.take(vec![(0, [size])]).is_none() {
                break;
            }
            taken.push(row);
        }
        taken
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Removed {
    /// An agent with everything that belongs to it.
    Agent(String),
    /// A source with its documents.
    Source(String),
    /// A conversation with its messages.
    Conversation(String),
}

impl Removed {
    /// Deletes as much as the part allows. Returns true if nothing is left.
    fn delete(
        &self,
        c: &mut AnyConnection,
        now: Timestamp,
        part: &mut Part,
    ) -> Result<bool, TransactionError> {
        match self {
            Self::Agent(id) => delete_agent(c, id, now, part),
            Self::Source(id) => delete_source(c, id, now, part),
            Self::Conversation(id) => delete_conversation(c, id, part),
        }
    }

    /// Hides the object and everything that belongs to it.
    fn hide(&self, c: &mut AnyConnection, now: Timestamp) -> Result<(), TransactionError> {
        let at = now.as_millis();
        match self {
            Self::Agent(id) => {
                // A hidden row must not keep its managed identity from another one.
                diesel::update(agents::table.find(id))
                    .set((
                        agents::removed_at.eq(at),
                        agents::managed_set.eq(None::<String>),
                        agents::managed_key.eq(None::<String>),
                        agents::managed_hash.eq(None::<String>),
                    ))
                    .execute(c)?;
                let of_agent = sources::table.filter(sources::agent_id.eq(id)).select(sources::id);
                diesel::delete(jobs::table.filter(jobs::source_id.eq_any(of_agent))).execute(c)?;
            }
            Self::Source(id) => {
                // The content is cleared now: it may be large, and every later update of the row
                // would write it again.
                diesel::update(sources::table.find(id))
                    .set((
                        sources::removed_at.eq(at),
                        sources::version.eq(None::<i64>),
                        sources::content.eq(""),
                        sources::managed_set.eq(None::<String>),
                        sources::managed_key.eq(None::<String>),
                        sources::managed_hash.eq(None::<String>),
                    ))
                    .execute(c)?;
                diesel::delete(jobs::table.filter(jobs::source_id.eq(id))).execute(c)?;
            }
            Self::Conversation(id) => {
                diesel::update(conversations::table.find(id))
                    .set(conversations::removed_at.eq(at))
                    .execute(c)?;
            }
        }
        Ok(())
    }
}

/// Deletes something in parts. `before` finds it and makes the first changes; they share a
/// transaction with the first part and the completion of an idempotency key's claim. Returns the
/// value of `before`.
///
/// After the first transaction the object is no longer visible, so a later failure is not reported
/// to the caller.
pub(crate) async fn remove<T, F>(
    db: &Db,
    removed: Removed,
    now: Timestamp,
    completion: Option<Completion<()>>,
    mut before: F,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
{
    let begun = removed.clone();
    let first = db.free(move |c| {
        idempotency::begin(c, completion.as_ref())?;
        let found = before(c)?;
        let is_done = begun.delete(c, now, &mut Part::new())?;
        if !is_done {
            begun.hide(c, now)?;
        }
        idempotency::finish(c, completion.as_ref(), &())?;
        Ok((found, is_done))
    });
    let (found, is_done) = first.await?;
    if !is_done && let Err(error) = finish(db, removed.clone(), now).await {
        tracing::warn!(
            ?removed,
            error = &error as &dyn std::error::Error,
            "a deletion was interrupted; the housekeeper will continue it"
        );
    }
    Ok(found)
}

/// Completes a deletion that has begun.
pub(crate) async fn finish(db: &Db, removed: Removed, now: Timestamp) -> Result<(), Error> {
    loop {
        let removed = removed.clone();
        if db.free(move |c| removed.delete(c, now, &mut Part::new())).await? {
            return Ok(());
        }
    }
}

/// A deletion that was begun and is not finished.
pub(crate) fn unfinished(c: &mut AnyConnection) -> Result<Option<Removed>, TransactionError> {
    let agent = agents::table
        .filter(agents::removed_at.is_not_null())
        .select(agents::id)
        .first(c)
        .optional()?;
    let source = sources::table
        .filter(sources::removed_at.is_not_null())
        .select(sources::id)
        .first(c)
        .optional()?;
    let conversation = conversations::table
        .filter(conversations::removed_at.is_not_null())
        .select(conversations::id)
        .first(c)
        .optional()?;
    Ok(source
        .map(Removed::Source)
        .or(conversation.map(Removed::Conversation))
        .or(agent.map(Removed::Agent)))
}

fn delete_agent(
    c: &mut AnyConnection,
    id: &str,
    now: Timestamp,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    if !idempotency::erase_of_agent(c, id, part)? {
        return Ok(false);
    }
    loop {
        let next: Option<String> = sources::table
            .filter(sources::agent_id.eq(id))
            .select(sources::id)
            .first(c)
            .optional()?;
        match next {
            None => break,
            Some(source) if !delete_source(c, &source, now, part)? => return Ok(false),
            Some(_) if part.is_used_up() => return Ok(false),
            Some(_) => {}
        }
    }
    loop {
        let next: Option<String> = conversations::table
            .filter(conversations::agent_id.eq(id))
            .select(conversations::id)
            .first(c)
            .optional()?;
        match next {
            None => break,
            Some(conversation) if !delete_conversation(c, &conversation, part)? => {
                return Ok(false);
            }
            Some(_) if part.is_used_up() => return Ok(false),
            Some(_) => {}
        }
    }
    if !delete_gaps(c, id, part)? || !delete_runs(c, id, part)? {
        return Ok(false);
    }
    diesel::delete(agents::table.find(id)).execute(c)?;
    // On PostgreSQL, the deletion waits for replies that refer to the agent's row. Their answers were not there before.
    idempotency::erase_rest_of_agent(c, id)?;
    Ok(true)
}

/// Deletes the gaps of an agent, whose questions were deleted with its conversations.
fn delete_gaps(
    c: &mut AnyConnection,
    agent: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let ids: Vec<String> = gaps::table
        .filter(gaps::agent_id.eq(agent))
        .limit(part.limit())
        .select(gaps::id)
        .load(c)?;
    part.rows = part.rows.saturating_sub(ids.len());
    diesel::delete(gaps::table.filter(gaps::id.eq_any(ids))).execute(c)?;
    Ok(!part.is_used_up())
}

/// Deletes the runs of an agent's checks, of which there are few.
fn delete_runs(
    c: &mut AnyConnection,
    agent: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    loop {
        let next: Option<(String, Size)> = check_runs::table
            .filter(check_runs::agent_id.eq(agent))
            .select((check_runs::id, octet_length(check_runs::results.nullable())))
            .first(c)
            .optional()?;
        let Some((run, size)) = next else { return Ok(true) };
        if part.take(vec![(0, [size])]).is_none() {
            return Ok(false);
        }
        diesel::delete(check_runs::table.find(run)).execute(c)?;
    }
}

fn delete_source(
    c: &mut AnyConnection,
    id: &str,
    now: Timestamp,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let is_empty = events::erase_of_source(c, id, part)?
        && idempotency::erase_of_source(c, id, part)?
        && checks::erase_replies(c, id, part)?
        && delete_vectors(c, id, part)?
        && delete_passages(c, id, part)?
        && delete_documents(c, id, part)?
        && delete_crawl_pages(c, id, part)?;
    if !is_empty {
        return Ok(false);
    }
    let row: Option<(String, Option<String>, i64)> = diesel::delete(sources::table.find(id))
        .returning((sources::account_id, sources::upload_id, sources::stored_bytes))
        .get_result(c)
        .optional()?;
    let Some((account, upload, bytes)) = row else { return Ok(true) };
    part.rows = part.rows.saturating_sub(1);
    if let Some(upload) = upload {
        remove_unused(c, &[upload], now)?;
    }
    bytes::change(c, &account, -bytes)?;
    Ok(true)
}

/// Deletes vectors before their passages, so that vectors count towards the size of a part too.
fn delete_vectors(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_source = || passage_vectors::table.filter(passage_vectors::source_id.eq(source));
    let rows: Vec<(i64, i32)> = of_source()
        .order(passage_vectors::position)
        .limit(part.limit())
        .select((passage_vectors::position, binary_length(passage_vectors::vector)))
        .load(c)?;
    let rows = rows.into_iter().map(|(position, size)| (position, [Some(size)])).collect();
    if let Some(last) = part.take(rows) {
        diesel::delete(of_source().filter(passage_vectors::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}

fn delete_passages(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_source = || passages::table.filter(passages::source_id.eq(source));
    let rows: Vec<(i64, Size)> = of_source()
        .order(passages::position)
        .limit(part.limit())
        .select((passages::position, octet_length(passages::text.nullable())))
        .load(c)?;
    let rows = rows.into_iter().map(|(position, size)| (position, [size])).collect();
    if let Some(last) = part.take(rows) {
        diesel::delete(of_source().filter(passages::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}

/// Deletes documents without passages, with their texts.
fn delete_documents(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_source = || documents::table.filter(documents::source_id.eq(source));
    let is_text_of = document_texts::source_id
        .eq(documents::source_id)
        .and(document_texts::position.eq(documents::position));
    let rows: Vec<(i64, Size)> = of_source()
        .inner_join(document_texts::table.on(is_text_of))
        .order(documents::position)
        .limit(part.limit())
        .select((documents::position, octet_length(document_texts::text.nullable())))
        .load(c)?;
    let rows = rows.into_iter().map(|(position, size)| (position, [size])).collect();
    if let Some(last) = part.take(rows) {
        diesel::delete(of_source().filter(documents::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}

fn delete_crawl_pages(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    loop {
        let next: Option<i64> = crawl_pages::table
            .filter(crawl_pages::source_id.eq(source))
            .select(crawl_pages::crawl)
            .first(c)
            .optional()?;
        let Some(crawl) = next else { return Ok(true) };
        if !leftovers::delete_pages(c, (source, crawl), part)? {
            return Ok(false);
        }
    }
}

/// Deletes ratings before their messages, so that comments count towards the size of a part too.
fn delete_ratings(
    c: &mut AnyConnection,
    conversation: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_conversation = || ratings::table.filter(ratings::conversation_id.eq(conversation));
    let rows: Vec<(i64, Size)> = of_conversation()
        .order(ratings::position)
        .limit(part.limit())
        .select((ratings::position, octet_length(ratings::comment)))
        .load(c)?;
    let rows = rows.into_iter().map(|(position, size)| (position, [size])).collect();
    if let Some(last) = part.take(rows) {
        diesel::delete(of_conversation().filter(ratings::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}

/// Deletes the rows that name questions of gaps before their messages, so that they count towards the size of a part too.
fn delete_gap_questions(
    c: &mut AnyConnection,
    conversation: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let of_conversation =
        || gap_questions::table.filter(gap_questions::conversation_id.eq(conversation));
    let rows: Vec<i64> = of_conversation()
        .order(gap_questions::position)
        .limit(part.limit())
        .select(gap_questions::position)
        .load(c)?;
    if let Some(last) = part.take(rows.into_iter().map(|position| (position, [None])).collect()) {
        diesel::delete(of_conversation().filter(gap_questions::position.le(last))).execute(c)?;
    }
    Ok(!part.is_used_up())
}

fn delete_conversation(
    c: &mut AnyConnection,
    id: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    // A transaction that holds the row may still store an event or an answer, which must be found here.
    dialect::lock_conversation(c, id)?;
    let is_empty = events::erase_of_conversation(c, id, part)?
        && idempotency::erase_of_removed(c, id, part)?
        && delete_ratings(c, id, part)?
        && delete_gap_questions(c, id, part)?;
    if !is_empty {
        return Ok(false);
    }
    let of_conversation = || messages::table.filter(messages::conversation_id.eq(id));
    let rows: Vec<(i64, Size, Size, Size)> = of_conversation()
        .order(messages::position)
        .limit(part.limit())
        .select((
            messages::position,
            octet_length(messages::content.nullable()),
            octet_length(messages::sources_used),
            octet_length(messages::receipt),
        ))
        .load(c)?;
    let sizes = |(position, text, sources, receipt)| (position, [text, sources, receipt]);
    let rows = rows.into_iter().map(sizes);
    if let Some(last) = part.take(rows.collect()) {
        diesel::delete(of_conversation().filter(messages::position.le(last))).execute(c)?;
    }
    if part.is_used_up() {
        return Ok(false);
    }
    part.rows -= 1;
    diesel::delete(conversations::table.find(id)).execute(c)?;
    Ok(true)
}
