//! The differences in statements about conversations.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Text};

use crate::connection::{AnyConnection, Either};
use crate::conversations::MetadataRow;
use crate::schema::{conversation_metadata, conversations};

/// Locks a conversation's row, so that its turns and the ratings of its replies follow each other.
pub(crate) fn lock_conversation(c: &mut AnyConnection, id: &str) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => {
            let query = conversations::table.find(id).select(conversations::id);
            query.for_no_key_update().get_result::<String>(c).optional().map(|_| ())
        }
        Either::Sqlite(_) => Ok(()),
    }
}

pub(crate) fn insert_metadata(c: &mut AnyConnection, rows: &[MetadataRow]) -> QueryResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let statement = || diesel::insert_into(conversation_metadata::table).values(rows);
    match c.either() {
        Either::Postgres(c) => statement().execute(c).map(|_| ()),
        Either::Sqlite(c) => statement().execute(c).map(|_| ()),
    }
}

/// A continued conversation: its messages, how many were not answered, were rated up and down, and when it was updated.
pub(crate) type Continued = (i64, i64, i64, i64, i64);

/// Counts the messages of a turn in its conversation, and returns the conversation's counts; `None` if it does not
/// exist in the account. The row is locked until the transaction ends.
pub(crate) fn continue_conversation(
    c: &mut AnyConnection,
    (conversation, account): (&str, &str),
    (messages, unanswered): (i64, i64),
    now: i64,
) -> QueryResult<Option<Continued>> {
    let statement = Continue { conversation, account, messages, unanswered, now };
    match c.either() {
        Either::Postgres(c) => statement.get_result(c).optional(),
        Either::Sqlite(c) => statement.get_result(c).optional(),
    }
}

/// Diesel prepares its own updates again each time.
struct Continue<'a> {
    conversation: &'a str,
    account: &'a str,
    messages: i64,
    unanswered: i64,
    now: i64,
}

impl QueryId for Continue<'_> {
    type QueryId = Continue<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl Query for Continue<'_> {
    type SqlType = (BigInt, BigInt, BigInt, BigInt, BigInt);
}

impl<Conn> RunQueryDsl<Conn> for Continue<'_> {}

impl<DB> QueryFragment<DB> for Continue<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    str: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("UPDATE conversations SET message_count = message_count + ");
        out.push_bind_param::<BigInt, _>(&self.messages)?;
        out.push_sql(", unanswered = unanswered + ");
        out.push_bind_param::<BigInt, _>(&self.unanswered)?;
        out.push_sql(", updated_at = CASE WHEN updated_at < ");
        out.push_bind_param::<BigInt, _>(&self.now)?;
        out.push_sql(" THEN ");
        out.push_bind_param::<BigInt, _>(&self.now)?;
        out.push_sql(" ELSE updated_at END WHERE id = ");
        out.push_bind_param::<Text, _>(self.conversation)?;
        out.push_sql(" AND account_id = ");
        out.push_bind_param::<Text, _>(self.account)?;
        out.push_sql(
            " AND removed_at IS NULL \
             RETURNING message_count, unanswered, rated_up, rated_down, updated_at",
        );
        Ok(())
    }
}
