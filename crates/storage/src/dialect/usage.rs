//! Counting a reply in its day and month. Every reply does that, so each connection prepares these statements once:
//! Diesel builds an insertion again each time, and the database parses it.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Text};

use crate::connection::{AnyConnection, Either};
use crate::usage::{COUNTED, MonthRow, UsageRow};

/// Columns of `usage_days` that count, in the order of [`UsageRow::counts`].
pub(super) const OF_DAY: [&str; COUNTED] = [
    "messages",
    "prompt_tokens",
    "completion_tokens",
    "conversations",
    "answered",
    "unanswered",
    "latency_ms",
    "latency_1",
    "latency_2",
    "latency_3",
    "latency_4",
    "latency_5",
    "latency_6",
    "latency_7",
    "latency_8",
    "latency_9",
    "latency_10",
];

/// Adds these counts to the usage of the row's day.
pub(crate) fn add_usage(
    c: &mut AnyConnection,
    row: &UsageRow,
    counts: [i64; COUNTED],
) -> QueryResult<()> {
    let statement = AddDay { row, counts };
    match c.either() {
        Either::Postgres(c) => statement.execute(c).map(|_| ()),
        Either::Sqlite(c) => statement.execute(c).map(|_| ()),
    }
}

/// Adds to the usage of an account in a month.
pub(crate) fn add_month_usage(c: &mut AnyConnection, row: &MonthRow) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => AddMonth(row).execute(c).map(|_| ()),
        Either::Sqlite(c) => AddMonth(row).execute(c).map(|_| ()),
    }
}

struct AddDay<'a> {
    row: &'a UsageRow,
    counts: [i64; COUNTED],
}

impl QueryId for AddDay<'_> {
    type QueryId = AddDay<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<DB> QueryFragment<DB> for AddDay<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    String: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("INSERT INTO usage_days (account_id, day, agent_id");
        for name in OF_DAY {
            out.push_sql(", ");
            out.push_sql(name);
        }
        out.push_sql(") VALUES (");
        out.push_bind_param::<Text, _>(&self.row.account_id)?;
        out.push_sql(", ");
        out.push_bind_param::<BigInt, _>(&self.row.day)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(&self.row.agent_id)?;
        for count in &self.counts {
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(count)?;
        }
        out.push_sql(") ON CONFLICT (account_id, day, agent_id) DO UPDATE SET ");
        for (at, name) in OF_DAY.into_iter().enumerate() {
            add(&mut out, at, "usage_days", name);
        }
        Ok(())
    }
}

impl<Conn> RunQueryDsl<Conn> for AddDay<'_> {}

struct AddMonth<'a>(&'a MonthRow);

impl QueryId for AddMonth<'_> {
    type QueryId = AddMonth<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<DB> QueryFragment<DB> for AddMonth<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    String: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let Self(row) = self;
        out.push_sql("INSERT INTO usage_months (account_id, month, messages, tokens) VALUES (");
        out.push_bind_param::<Text, _>(&row.account_id)?;
        for number in [&row.month, &row.messages, &row.tokens] {
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(number)?;
        }
        out.push_sql(") ON CONFLICT (account_id, month) DO UPDATE SET ");
        for (at, name) in ["messages", "tokens"].into_iter().enumerate() {
            add(&mut out, at, "usage_months", name);
        }
        Ok(())
    }
}

impl<Conn> RunQueryDsl<Conn> for AddMonth<'_> {}

/// Adds the inserted number to that of the row that is there.
pub(super) fn add<DB: Backend>(out: &mut AstPass<'_, '_, DB>, at: usize, table: &str, name: &str) {
    let separator = if at == 0 { "" } else { ", " };
    for part in [separator, name, " = ", table, ".", name, " + excluded.", name] {
        out.push_sql(part);
    }
}
