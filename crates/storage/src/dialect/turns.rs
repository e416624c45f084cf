//! Turns of an account as one statement of PostgreSQL, prepared once for any number of them.
//!
//! Each column is one array, and nothing is read but the arrays. References between the new rows are checked when
//! the statement ends.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};

use super::usage::{OF_DAY, add};
use crate::connection::{AnyConnection, Either};
use crate::usage::{MonthRow, UsageRow};

/// The values of a turn: those of its conversation, which are used if it is the first one, and of its two messages.
pub(crate) struct TurnRow<'a> {
    pub(crate) conversation_id: String,
    pub(crate) agent_id: String,
    pub(crate) is_first: bool,
    pub(crate) metadata: String,
    /// The names and values of `metadata` again, if it is the first turn.
    pub(crate) pairs: Vec<(&'a str, &'a str)>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) channel: &'static str,
    pub(crate) unanswered: i64,
    pub(crate) widget_id: Option<String>,
    pub(crate) visitor_id: Option<String>,
    pub(crate) visitor: Option<String>,
    /// The position of the question.
    pub(crate) position: i64,
    pub(crate) question: &'a str,
    pub(crate) asked_at: i64,
    pub(crate) reply: &'a str,
    pub(crate) sources_used: Option<String>,
    pub(crate) replied_at: i64,
    pub(crate) receipt: Option<&'a str>,
    /// Why the question is recorded as unanswered, if it is.
    pub(crate) gap_reason: Option<&'static str>,
}

/// Turns of one account with what they add to its usage.
#[derive(Default)]
pub(crate) struct Turns<'a> {
    account: String,
    conversation_ids: Vec<String>,
    agent_ids: Vec<String>,
    are_first: Vec<bool>,
    metadata: Vec<String>,
    created_at: Vec<i64>,
    updated_at: Vec<i64>,
    channels: Vec<&'static str>,
    unanswered: Vec<i64>,
    widget_ids: Vec<Option<String>>,
    visitor_ids: Vec<Option<String>>,
    visitors: Vec<Option<String>>,
    positions: Vec<i64>,
    questions: Vec<&'a str>,
    asked_at: Vec<i64>,
    replies: Vec<&'a str>,
    sources_used: Vec<Option<String>>,
    replied_at: Vec<i64>,
    receipts: Vec<Option<&'a str>>,
    gap_reasons: Vec<Option<&'static str>>,
    pair_conversations: Vec<String>,
    pair_names: Vec<&'a str>,
    pair_values: Vec<&'a str>,
    days: Vec<i64>,
    day_agents: Vec<String>,
    /// The counts of the days, one day after the other.
    day_counts: Vec<i64>,
    months: Vec<i64>,
    month_messages: Vec<i64>,
    month_tokens: Vec<i64>,
}

impl<'a> Turns<'a> {
    pub(crate) fn of(account: String) -> Self {
        Self { account, ..Self::default() }
    }

    /// Adds a turn.
    pub(crate) fn push(&mut self, row: TurnRow<'a>) {
        for (name, value) in row.pairs {
            self.pair_conversations.push(row.conversation_id.clone());
            self.pair_names.push(name);
            self.pair_values.push(value);
        }
        self.conversation_ids.push(row.conversation_id);
        self.agent_ids.push(row.agent_id);
        self.are_first.push(row.is_first);
        self.metadata.push(row.metadata);
        self.created_at.push(row.created_at);
        self.updated_at.push(row.updated_at);
        self.channels.push(row.channel);
        self.unanswered.push(row.unanswered);
        self.widget_ids.push(row.widget_id);
        self.visitor_ids.push(row.visitor_id);
        self.visitors.push(row.visitor);
        self.positions.push(row.position);
        self.questions.push(row.question);
        self.asked_at.push(row.asked_at);
        self.replies.push(row.reply);
        self.sources_used.push(row.sources_used);
        self.replied_at.push(row.replied_at);
        self.receipts.push(row.receipt);
        self.gap_reasons.push(row.gap_reason);
    }

    /// Counts a turn in its day and month. The rows of an account are few, and are changed in the order of their
    /// keys, so that servers which store turns of the same account do not wait for each other in a circle.
    pub(crate) fn count(&mut self, day: &UsageRow, month: &MonthRow) {
        let counts = day.counts();
        let width = counts.len();
        let keys = self.days.iter().zip(&self.day_agents);
        let key = (&day.day, &day.agent_id);
        match keys.collect::<Vec<_>>().binary_search(&key) {
            Ok(at) => {
                let sums = self.day_counts.iter_mut().skip(at * width);
                sums.zip(counts).for_each(|(sum, count)| *sum += count);
            }
            Err(at) => {
                self.days.insert(at, day.day);
                self.day_agents.insert(at, day.agent_id.clone());
                let place = at * width..at * width;
                self.day_counts.splice(place, counts);
            }
        }
        match self.months.binary_search(&month.month) {
            Ok(at) => {
                self.month_messages
                    .iter_mut()
                    .skip(at)
                    .take(1)
                    .for_each(|sum| *sum += month.messages);
                self.month_tokens.iter_mut().skip(at).take(1).for_each(|sum| *sum += month.tokens);
            }
            Err(at) => {
                self.months.insert(at, month.month);
                self.month_messages.insert(at, month.messages);
                self.month_tokens.insert(at, month.tokens);
            }
        }
    }
}

/// Stores turns. Returns false on SQLite, where they are stored row by row: there is no round trip to save, and small
/// statements are faster.
pub(crate) fn insert_turns(c: &mut AnyConnection, turns: Turns<'_>) -> QueryResult<bool> {
    match c.either() {
        Either::Postgres(c) => turns.execute(c).map(|_| true),
        Either::Sqlite(_) => Ok(false),
    }
}

impl QueryId for Turns<'_> {
    type QueryId = Turns<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<Conn> RunQueryDsl<Conn> for Turns<'_> {}

type Texts = Array<Text>;
type Numbers = Array<BigInt>;
type OptionalTexts = Array<Nullable<Text>>;

impl QueryFragment<Pg> for Turns<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.push_turns(&mut out)?;
        out.push_sql(
            "), began AS (INSERT INTO conversations (id, account_id, agent_id, metadata, message_count, \
                created_at, updated_at, channel, unanswered, rated_up, rated_down, widget_id, visitor_id, visitor) \
                SELECT id, account_id, agent_id, metadata, 2, created_at, updated_at, channel, unanswered, 0, 0, \
                widget_id, visitor_id, visitor FROM turns WHERE is_first), \
            paired AS (INSERT INTO conversation_metadata (conversation_id, name, value, agent_id, account_id) \
                SELECT id, pairs.name, pairs.value, agent_id, account_id FROM unnest(",
        );
        out.push_bind_param::<Texts, _>(&self.pair_conversations)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.pair_names)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.pair_values)?;
        out.push_sql(
            ") AS pairs (id, name, value) JOIN turns USING (id) WHERE is_first), \
            asked AS (INSERT INTO messages (conversation_id, position, account_id, role, content, created_at) \
                SELECT id, position, account_id, 'user', question, asked_at FROM turns), \
            replied AS (INSERT INTO messages (conversation_id, position, account_id, role, content, \
                sources_used, created_at, receipt) SELECT id, position + 1, account_id, 'assistant', reply, \
                sources_used, replied_at, receipt FROM turns), \
            missed AS (INSERT INTO gap_questions (conversation_id, position, account_id, agent_id, reason, \
                asked_at) SELECT id, position, account_id, agent_id, gap_reason, asked_at FROM turns \
                WHERE gap_reason IS NOT NULL), ",
        );
        self.push_days(&mut out)?;
        self.push_months(&mut out)
    }
}

impl Turns<'_> {
    /// The turns as rows, up to the closing parenthesis.
    fn push_turns<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("WITH turns AS MATERIALIZED (SELECT ");
        out.push_bind_param::<Text, _>(&self.account)?;
        out.push_sql(" AS account_id, rows.* FROM unnest(");
        out.push_bind_param::<Texts, _>(&self.conversation_ids)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.agent_ids)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Bool>, _>(&self.are_first)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.metadata)?;
        for numbers in [&self.created_at, &self.updated_at] {
            out.push_sql(", ");
            out.push_bind_param::<Numbers, _>(numbers)?;
        }
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.channels)?;
        out.push_sql(", ");
        out.push_bind_param::<Numbers, _>(&self.unanswered)?;
        for texts in [&self.widget_ids, &self.visitor_ids, &self.visitors] {
            out.push_sql(", ");
            out.push_bind_param::<OptionalTexts, _>(texts)?;
        }
        out.push_sql(", ");
        out.push_bind_param::<Numbers, _>(&self.positions)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.questions)?;
        out.push_sql(", ");
        out.push_bind_param::<Numbers, _>(&self.asked_at)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.replies)?;
        out.push_sql(", ");
        out.push_bind_param::<OptionalTexts, _>(&self.sources_used)?;
        out.push_sql(", ");
        out.push_bind_param::<Numbers, _>(&self.replied_at)?;
        out.push_sql(", ");
        out.push_bind_param::<OptionalTexts, _>(&self.receipts)?;
        out.push_sql(", ");
        out.push_bind_param::<OptionalTexts, _>(&self.gap_reasons)?;
        out.push_sql(
            ") AS rows (id, agent_id, is_first, metadata, created_at, updated_at, channel, unanswered, widget_id, \
             visitor_id, visitor, position, question, asked_at, reply, sources_used, replied_at, receipt, gap_reason)",
        );
        Ok(())
    }

    /// Adds to the usage of the days.
    fn push_days<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("in_day AS (INSERT INTO usage_days (account_id, day, agent_id");
        for name in OF_DAY {
            out.push_sql(", ");
            out.push_sql(name);
        }
        out.push_sql(") SELECT ");
        out.push_bind_param::<Text, _>(&self.account)?;
        out.push_sql(", days.day, days.agent_id");
        for at in 1..=OF_DAY.len() {
            out.push_sql(&format!(", counted.counts[(days.at - 1) * {} + {at}]", OF_DAY.len()));
        }
        out.push_sql(" FROM unnest(");
        out.push_bind_param::<Numbers, _>(&self.days)?;
        out.push_sql(", ");
        out.push_bind_param::<Texts, _>(&self.day_agents)?;
        out.push_sql(") WITH ORDINALITY AS days (day, agent_id, at), (SELECT ");
        out.push_bind_param::<Numbers, _>(&self.day_counts)?;
        out.push_sql(
            " AS counts) AS counted ORDER BY days.at \
             ON CONFLICT (account_id, day, agent_id) DO UPDATE SET ",
        );
        for (at, name) in OF_DAY.into_iter().enumerate() {
            add(out, at, "usage_days", name);
        }
        out.push_sql(" RETURNING 1) ");
        Ok(())
    }

    /// Adds to the usage of the months, after that of the days: all transactions change them in this order.
    fn push_months<'b>(&'b self, out: &mut AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("INSERT INTO usage_months (account_id, month, messages, tokens) SELECT ");
        out.push_bind_param::<Text, _>(&self.account)?;
        out.push_sql(", months.* FROM (SELECT count(*) FROM in_day) AS counted, unnest(");
        out.push_bind_param::<Numbers, _>(&self.months)?;
        out.push_sql(", ");
        out.push_bind_param::<Numbers, _>(&self.month_messages)?;
        out.push_sql(", ");
        out.push_bind_param::<Numbers, _>(&self.month_tokens)?;
        out.push_sql(
            ") AS months (month, messages, tokens) ORDER BY months.month \
             ON CONFLICT (account_id, month) DO UPDATE SET ",
        );
        for (at, name) in ["messages", "tokens"].into_iter().enumerate() {
            add(out, at, "usage_months", name);
        }
        Ok(())
    }
}
