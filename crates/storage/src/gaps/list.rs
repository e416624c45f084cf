//! Reading gaps with their questions.

use cicerone_domain::gap::{
    AskedQuestion, Gap, GapFilter, GapList, GapReason, GapStatus, KnownGap, QuestionAt, Ungrouped,
};
use cicerone_domain::id::kind;
use cicerone_domain::{Id, limits};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};

use super::{IS_THERE, existing_source};
use crate::columns::{id, named, narrow, narrow_option, time, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{gap_questions, messages};

/// Questions without a group, and the groups that they may join.
pub(super) fn ungrouped(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
) -> Result<Ungrouped, TransactionError> {
    let is_question = messages::conversation_id
        .eq(gap_questions::conversation_id)
        .and(messages::position.eq(gap_questions::position));
    let rows: Vec<AskedRow> = gap_questions::table
        .inner_join(messages::table.on(is_question))
        .filter(gap_questions::agent_id.eq(agent.to_string()))
        .filter(gap_questions::gap_id.is_null())
        .filter(sql::<Bool>(IS_THERE))
        .order((gap_questions::asked_at, gap_questions::conversation_id, gap_questions::position))
        .limit(wide(limits::GAP_GROUPED))
        .select((
            gap_questions::conversation_id,
            gap_questions::position,
            gap_questions::asked_at,
            sql::<Text>(&beginning("messages.content", limits::GAP_COMPARED_CHARS)),
        ))
        .load(c)?;
    if rows.is_empty() {
        return Ok(Ungrouped::default());
    }
    let questions: Result<Vec<_>, _> = rows.into_iter().map(asked).collect();
    Ok(Ungrouped { questions: questions?, gaps: known(c, agent)? })
}

/// The columns of a question: conversation, position, time and text.
type AskedRow = (String, i64, i64, String);

fn asked(
    (conversation, position, asked_at, text): AskedRow,
) -> Result<AskedQuestion, TransactionError> {
    let conversation_id = id("gap_questions.conversation_id", &conversation)?;
    let at = QuestionAt { conversation_id, position };
    Ok(AskedQuestion { at, text, asked_at: time(asked_at) })
}

/// The SQL of the first characters of a column.
fn beginning(column: &str, chars: usize) -> String {
    format!("substr({column}, 1, {chars})")
}

#[derive(QueryableByName)]
struct MemberRow {
    #[diesel(sql_type = Text)]
    gap_id: String,
    #[diesel(sql_type = Text)]
    text: String,
}

/// The gaps with the latest questions, each with its first questions.
fn known(c: &mut AnyConnection, agent: Id<kind::Agent>) -> Result<Vec<KnownGap>, TransactionError> {
    let (most, members) = (limits::GAP_COMPARED, limits::GAP_MEMBERS);
    let text = beginning("messages.content", limits::GAP_COMPARED_CHARS);
    let query = format!(
        "SELECT member.gap_id AS gap_id, {text} AS text FROM ( \
           SELECT gap_id, conversation_id, position, \
             max(asked_at) OVER (PARTITION BY gap_id) AS latest, \
             row_number() OVER (PARTITION BY gap_id ORDER BY asked_at, conversation_id, position) AS number \
           FROM gap_questions WHERE agent_id = '{agent}' AND gap_id IS NOT NULL AND {IS_THERE} \
         ) AS member \
         JOIN messages ON messages.conversation_id = member.conversation_id \
           AND messages.position = member.position \
         WHERE member.number <= {members} \
         ORDER BY member.latest DESC, member.gap_id, member.number LIMIT {}",
        most * members
    );
    let rows: Vec<MemberRow> = dialect::load_sql(c, &query)?;
    let mut known: Vec<KnownGap> = Vec::new();
    for row in rows {
        let id = id("gap_questions.gap_id", &row.gap_id)?;
        match known.last_mut().filter(|last| last.id == id) {
            Some(last) => last.questions.push(row.text),
            None => known.push(KnownGap { id, questions: vec![row.text] }),
        }
    }
    known.truncate(most);
    Ok(known)
}

#[derive(QueryableByName)]
struct CountedRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Nullable<Text>)]
    source_id: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    checked_generation: Option<i64>,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    unanswered: i64,
    #[diesel(sql_type = BigInt)]
    first_at: i64,
    #[diesel(sql_type = BigInt)]
    last_at: i64,
}

/// The most frequent gaps of an agent.
pub(super) fn list(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
    filter: GapFilter,
) -> Result<GapList, TransactionError> {
    let (status, limit) = (filter.status.name(), filter.limit.get());
    let unanswered = GapReason::Unanswered.name();
    let query = format!(
        "SELECT gaps.id AS id, gaps.status AS status, gaps.source_id AS source_id, \
           gaps.checked_generation AS checked_generation, counted.total AS total, \
           counted.unanswered AS unanswered, counted.first_at AS first_at, counted.last_at AS last_at \
         FROM ( \
           SELECT gap_id, count(*) AS total, count(CASE WHEN reason = '{unanswered}' THEN 1 END) AS unanswered, \
             min(asked_at) AS first_at, max(asked_at) AS last_at \
           FROM gap_questions WHERE agent_id = '{agent}' AND gap_id IS NOT NULL AND {IS_THERE} GROUP BY gap_id \
         ) AS counted \
         JOIN gaps ON gaps.id = counted.gap_id \
         WHERE gaps.agent_id = '{agent}' AND gaps.status = '{status}' \
         ORDER BY counted.total DESC, counted.last_at DESC, gaps.id LIMIT {limit}"
    );
    let rows: Vec<CountedRow> = dialect::load_sql(c, &query)?;
    let gaps: Result<Vec<Gap>, TransactionError> =
        rows.into_iter().map(|row| gap(c, agent, row)).collect();
    let ungrouped: i64 = gap_questions::table
        .filter(gap_questions::agent_id.eq(agent.to_string()))
        .filter(gap_questions::gap_id.is_null())
        .filter(sql::<Bool>(IS_THERE))
        .count()
        .get_result(c)?;
    Ok(GapList { gaps: gaps?, ungrouped: narrow("count", ungrouped)? })
}

/// A gap with its first question and its examples.
fn gap(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
    row: CountedRow,
) -> Result<Gap, TransactionError> {
    let is_question = || {
        messages::conversation_id
            .eq(gap_questions::conversation_id)
            .and(messages::position.eq(gap_questions::position))
    };
    let questions = || {
        gap_questions::table
            .inner_join(messages::table.on(is_question()))
            .filter(gap_questions::agent_id.eq(agent.to_string()))
            .filter(gap_questions::gap_id.eq(&row.id))
            .filter(sql::<Bool>(IS_THERE))
    };
    let question: String = questions()
        .order((gap_questions::asked_at, gap_questions::conversation_id, gap_questions::position))
        .limit(1)
        .select(messages::content)
        .get_result(c)?;
    let examples: Vec<AskedRow> = questions()
        .order((
            gap_questions::asked_at.desc(),
            gap_questions::conversation_id.desc(),
            gap_questions::position.desc(),
        ))
        .limit(wide(limits::GAP_EXAMPLES))
        .select((
            gap_questions::conversation_id,
            gap_questions::position,
            gap_questions::asked_at,
            // One more than is shown, so that what is cut ends with an ellipsis.
            sql::<Text>(&beginning("messages.content", limits::GAP_EXAMPLE_CHARS + 1)),
        ))
        .load(c)?;
    let example = |row| asked(row).map(AskedQuestion::shortened);
    let examples: Result<Vec<_>, _> = examples.into_iter().map(example).collect();
    let unanswered: u64 = narrow("count", row.unanswered)?;
    Ok(Gap {
        id: id("gaps.id", &row.id)?,
        status: named("gaps.status", &row.status, GapStatus::from_name)?,
        source_id: existing_source(c, row.source_id)?,
        checked_generation: narrow_option("gaps.checked_generation", row.checked_generation)?,
        question,
        unanswered,
        rated_down: narrow::<u64>("count", row.total)?.saturating_sub(unanswered),
        first_asked_at: time(row.first_at),
        last_asked_at: time(row.last_at),
        examples: examples?,
    })
}
