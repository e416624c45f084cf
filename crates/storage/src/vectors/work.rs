//! Claiming passages that lack vectors, and storing their vectors.

use std::collections::HashMap;

use cicerone_domain::content::Passage;
use cicerone_domain::id::kind;
use cicerone_domain::meaning::Vector;
use cicerone_domain::ports::{LackingVectors, VectorClaim, VectorWork};
use cicerone_domain::usage::growth;
use cicerone_domain::{Id, Timestamp, limits};
use diesel::dsl::{exists, not};
use diesel::prelude::*;

use super::{MARKED_AT_ONCE, NO_SPACE, NONE_YET, StateRow, VectorRow};
use crate::agents::raise_generation;
use crate::bytes;
use crate::columns::{id, narrow, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::pages::binary_length;
use crate::schema::{documents, passage_vectors, passages, source_vectors, sources, vector_spaces};
use crate::sources::PassageRow;

/// Vectors of one source, to be stored.
pub(super) struct Made {
    pub(super) account: Id<kind::Account>,
    pub(super) source: Id<kind::Source>,
    pub(super) version: u64,
    pub(super) space: i64,
    pub(super) vectors: Vec<(i64, Option<Vector>)>,
    pub(super) halvings: i64,
}

/// How often a claim looks for a source if other servers claim those that it finds.
const LOOKS: usize = 8;
/// Bytes of a number of a vector.
const NUMBER_BYTES: i64 = 4;

/// Some sources that have vectors of another space.
pub(super) fn of_other_spaces(
    c: &mut AnyConnection,
    space: i64,
) -> Result<Vec<String>, TransactionError> {
    Ok(source_vectors::table
        .filter(source_vectors::space.ne(space))
        .filter(source_vectors::space.ne(NO_SPACE))
        .limit(MARKED_AT_ONCE)
        .select(source_vectors::source_id)
        .load(c)?)
}

/// Those of these sources that have vectors of another space lack vectors from now on. Returns how many.
pub(super) fn mark_of_other_spaces(
    c: &mut AnyConnection,
    space: i64,
    others: &[String],
) -> Result<usize, TransactionError> {
    let others = source_vectors::table
        .filter(source_vectors::source_id.eq_any(others))
        .filter(source_vectors::space.ne(space));
    Ok(diesel::update(others)
        .set((
            source_vectors::space.eq(NO_SPACE),
            source_vectors::is_complete.eq(false),
            source_vectors::embedded_to.eq(NONE_YET),
            source_vectors::due_at.eq(0),
            source_vectors::halvings.eq(0),
        ))
        .execute(c)?)
}

/// The account whose turn it is: the next one after `after`, in the order of ids, that lacks
/// vectors.
pub(super) fn next_account(
    c: &mut AnyConnection,
    after: Option<&str>,
    now: Timestamp,
) -> Result<Option<String>, TransactionError> {
    let mut next = |after: &str| {
        source_vectors::table
            .filter(source_vectors::is_complete.eq(false))
            .filter(source_vectors::account_id.gt(after))
            .filter(source_vectors::due_at.le(now.as_millis()))
            .order(source_vectors::account_id)
            .limit(1)
            .select(source_vectors::account_id)
            .get_result::<String>(c)
            .optional()
    };
    match next(after.unwrap_or_default())? {
        None if after.is_some() => Ok(next("")?),
        found => Ok(found),
    }
}

/// Claims the next source of the account whose turn it is. `default` applies to an account without its own quota.
pub(super) fn claim(
    c: &mut AnyConnection,
    default: Option<u64>,
    claim: &VectorClaim,
) -> Result<Option<VectorWork>, TransactionError> {
    let after = claim.after.map(|after| after.to_string());
    for _ in 0..LOOKS {
        let Some(owner) = next_account(c, after.as_deref(), claim.now)? else { return Ok(None) };
        let next = next_source(c, &owner, claim.now)?;
        let Some(source) = next else { return Ok(None) };
        let agent = lock_agent_of(c, &source)?;
        // Another server may have claimed it while this one waited for the agent.
        let row = dialect::hold_lacking(c, &source, claim.now.as_millis())?;
        if let Some(row) = row {
            return take(c, default, claim, row, agent).map(Some);
        }
    }
    Ok(None)
}

/// The due source of an account that has lacked vectors the longest. Its row is not locked: that of the agent comes first.
fn next_source(
    c: &mut AnyConnection,
    account: &str,
    now: Timestamp,
) -> Result<Option<String>, TransactionError> {
    Ok(source_vectors::table
        .filter(source_vectors::is_complete.eq(false))
        .filter(source_vectors::account_id.eq(account))
        .filter(source_vectors::due_at.le(now.as_millis()))
        .order((source_vectors::due_at, source_vectors::source_id))
        .select(source_vectors::source_id)
        .first(c)
        .optional()?)
}

/// Locks the row of a source's agent and returns its id; `None` if either does not exist or is being deleted.
///
/// Invariant: the agent's row is locked before the rows of a source and of its vectors, as at the end of jobs. So the
/// content cannot be replaced between the check of its version and the end of the transaction.
fn lock_agent_of(c: &mut AnyConnection, source: &str) -> Result<Option<String>, TransactionError> {
    let agent: Option<String> =
        sources::table.find(source).select(sources::agent_id).get_result(c).optional()?;
    let Some(agent) = agent else { return Ok(None) };
    Ok(dialect::lock_agent(c, &agent)?.then_some(agent))
}

/// Whether a source whose agent is locked has its content of this version.
fn is_current(c: &mut AnyConnection, source: &str, version: i64) -> Result<bool, TransactionError> {
    let current: Option<String> = sources::table
        .find(source)
        .filter(sources::version.eq(version))
        .filter(sources::removed_at.is_null())
        .select(sources::id)
        .get_result(c)
        .optional()?;
    Ok(current.is_some())
}

/// Takes the next passages of a source whose row is locked, and so is its agent, if it exists.
fn take(
    c: &mut AnyConnection,
    default: Option<u64>,
    claim: &VectorClaim,
    row: StateRow,
    agent: Option<String>,
) -> Result<VectorWork, TransactionError> {
    let (space, now) = (claim.space, claim.now);
    let account = id("source_vectors.account_id", &row.account_id)?;
    let agent = match agent {
        Some(agent) => is_current(c, &row.source_id, row.version)?.then_some(agent),
        None => None,
    };
    let state = || source_vectors::table.find(&row.source_id);
    let Some(agent) = agent else {
        // The source's rows are being deleted.
        diesel::update(state()).set(source_vectors::is_complete.eq(true)).execute(c)?;
        return Ok(VectorWork::Gone { account });
    };
    let passages = lacking(c, &row, space, claim.count)?;
    if passages.is_empty() {
        let generation = raise_generation(c, &agent)?;
        diesel::update(state())
            .set((source_vectors::is_complete.eq(true), source_vectors::space.eq(space)))
            .execute(c)?;
        return Ok(VectorWork::Complete {
            account,
            agent: id("sources.agent_id", &agent)?,
            generation: narrow("agents.index_generation", generation)?,
        });
    }
    if !has_room(c, default, &row, space, &passages)? {
        let sources = put_off(c, &row.account_id, now, claim.over_quota_until)?;
        return Ok(VectorWork::OverQuota { account, sources });
    }
    diesel::update(state()).set(source_vectors::due_at.eq(claim.until.as_millis())).execute(c)?;
    Ok(VectorWork::Lacking(LackingVectors {
        account,
        source: id("source_vectors.source_id", &row.source_id)?,
        version: narrow("source_vectors.version", row.version)?,
        passages,
        halvings: narrow("source_vectors.halvings", row.halvings)?,
    }))
}

/// Whether the account of a source may keep the vectors of these passages, which replace those of another space. This
/// is checked before the model is called, which may cost money.
fn has_room(
    c: &mut AnyConnection,
    default: Option<u64>,
    row: &StateRow,
    space: i64,
    passages: &[Passage],
) -> Result<bool, TransactionError> {
    let dimension: Option<i64> = vector_spaces::table
        .find(space)
        .select(vector_spaces::dimension)
        .get_result(c)
        .optional()?;
    let more = wide(passages.len()) * dimension.unwrap_or_default() * NUMBER_BYTES;
    let more = u64::try_from(more).unwrap_or_default();
    let room = |c: &mut AnyConnection, more| bytes::has_room(c, default, &row.account_id, more);
    if room(c, more)? {
        return Ok(true);
    }
    let positions = passages.iter().map(|passage| passage.position);
    let before: Vec<i32> = passage_vectors::table
        .filter(passage_vectors::source_id.eq(&row.source_id))
        .filter(passage_vectors::position.eq_any(positions))
        .select(binary_length(passage_vectors::vector))
        .load(c)?;
    let before: i64 = before.into_iter().map(i64::from).sum();
    let before = u64::try_from(before).unwrap_or_default();
    growth(before, more).map_or(Ok(true), |more| room(c, more))
}

/// Postpones the due sources of an account that lack vectors, and returns their number.
fn put_off(
    c: &mut AnyConnection,
    account: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<u64, TransactionError> {
    let due = dialect::due_lacking(c, account, now.as_millis(), MARKED_AT_ONCE)?;
    let due = source_vectors::table.filter(source_vectors::source_id.eq_any(due));
    let count = diesel::update(due).set(source_vectors::due_at.eq(until.as_millis())).execute(c)?;
    Ok(u64::try_from(count).unwrap_or(u64::MAX))
}

/// The next passages of a source without a vector in `space`.
fn lacking(
    c: &mut AnyConnection,
    row: &StateRow,
    space: i64,
    count: usize,
) -> Result<Vec<Passage>, TransactionError> {
    let is_passage_of = documents::source_id
        .eq(passages::source_id)
        .and(documents::position.eq(passages::document));
    let made = passage_vectors::table
        .filter(passage_vectors::source_id.eq(passages::source_id))
        .filter(passage_vectors::position.eq(passages::position))
        .filter(passage_vectors::space.eq(space))
        .select(passage_vectors::position);
    // The progress of another server in another space does not matter here.
    let from = if row.space == space { row.embedded_to } else { NONE_YET };
    let rows: Vec<PassageRow> = passages::table
        .inner_join(documents::table.on(is_passage_of))
        .filter(passages::source_id.eq(&row.source_id))
        .filter(documents::version.is_not_null())
        .filter(passages::position.gt(from))
        .filter(not(exists(made)))
        .order(passages::position)
        .limit(wide(count))
        .select(PassageRow::as_select())
        .load(c)?;
    let (mut taken, mut bytes) = (Vec::new(), 0);
    for row in rows {
        bytes += row.size();
        if bytes > limits::EMBEDDED_BYTES && !taken.is_empty() {
            break;
        }
        taken.push(Passage::try_from(row)?);
    }
    Ok(taken)
}

/// Stores vectors, counts their bytes, and releases the source.
pub(super) fn store(
    c: &mut AnyConnection,
    default: Option<u64>,
    made: &Made,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let source = made.source.to_string();
    let is_there = lock_agent_of(c, &source)?.is_some();
    if !is_there || !is_current(c, &source, wide(made.version))? {
        // The content was replaced or deleted in the meantime; its vectors are not needed.
        return Ok(());
    }
    let positions: Vec<i64> = made.vectors.iter().map(|(position, _)| *position).collect();
    let there: HashMap<i64, i64> = passages::table
        .filter(passages::source_id.eq(&source))
        .filter(passages::position.eq_any(&positions))
        .select((passages::position, passages::document))
        .load::<(i64, i64)>(c)?
        .into_iter()
        .collect();
    let held = || {
        passage_vectors::table
            .filter(passage_vectors::source_id.eq(&source))
            .filter(passage_vectors::position.eq_any(&positions))
    };
    let before: Vec<(i64, i32)> = held()
        .select((passage_vectors::position, binary_length(passage_vectors::vector)))
        .load(c)?;
    diesel::delete(held()).execute(c)?;
    let mut growth: HashMap<i64, i64> = HashMap::new();
    for (position, size) in before {
        if let Some(document) = there.get(&position) {
            *growth.entry(*document).or_default() -= i64::from(size);
        }
    }
    let mut rows = Vec::with_capacity(made.vectors.len());
    for (position, vector) in &made.vectors {
        let Some(document) = there.get(position) else { continue };
        let vector = vector.as_ref().map(Vector::to_bytes).unwrap_or_default();
        *growth.entry(*document).or_default() += wide(vector.len());
        rows.push(VectorRow {
            source_id: source.clone(),
            position: *position,
            account_id: made.account.to_string(),
            space: made.space,
            vector,
        });
    }
    dialect::insert_vectors(c, &rows)?;
    let state = || source_vectors::table.find(&source);
    let space: Option<i64> = state().select(source_vectors::space).get_result(c).optional()?;
    // If another server has stored vectors of another space, those of this one may have gaps.
    let embedded_to = match space {
        Some(space) if space == made.space => positions.iter().copied().max().unwrap_or(NONE_YET),
        Some(_) | None => NONE_YET,
    };
    diesel::update(state())
        .set((
            source_vectors::space.eq(made.space),
            source_vectors::embedded_to.eq(embedded_to),
            source_vectors::due_at.eq(now.as_millis()),
            source_vectors::halvings.eq(made.halvings),
        ))
        .execute(c)?;
    grow(c, default, made, &growth)
}

/// Adds the bytes of vectors to those of their passages' documents.
fn grow(
    c: &mut AnyConnection,
    default: Option<u64>,
    made: &Made,
    growth: &HashMap<i64, i64>,
) -> Result<(), TransactionError> {
    let source = made.source.to_string();
    let mut total = 0;
    for (document, by) in growth {
        diesel::update(documents::table.find((&source, document)))
            .set((
                documents::stored_bytes.eq(documents::stored_bytes + by),
                documents::vector_bytes.eq(documents::vector_bytes + by),
            ))
            .execute(c)?;
        total += by;
    }
    diesel::update(sources::table.find(&source))
        .set((
            sources::stored_bytes.eq(sources::stored_bytes + total),
            sources::vector_bytes.eq(sources::vector_bytes + total),
        ))
        .execute(c)?;
    let account = made.account.to_string();
    bytes::change(c, &account, total)?;
    if total > 0 { bytes::check(c, default, made.account, 0) } else { Ok(()) }
}
