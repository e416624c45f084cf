//! Insertions of turns. Diesel walks its own insertions column by column, twice for each execution; these are only a
//! text and its values.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Nullable, Text};

use crate::connection::{AnyConnection, Either};
use crate::conversations::{ConversationRow, NewMessageRow};

/// Adds a new conversation, which has no ratings, no request for a person and no contact yet.
pub(crate) fn insert_conversation(c: &mut AnyConnection, row: &ConversationRow) -> QueryResult<()> {
    let statement = AddConversation(row);
    match c.either() {
        Either::Postgres(c) => statement.execute(c).map(|_| ()),
        Either::Sqlite(c) => statement.execute(c).map(|_| ()),
    }
}

/// Adds the two messages of a turn. They are inserted one by one: a statement with a fixed number of rows is prepared
/// only once. On PostgreSQL, where each costs a round trip, turns are stored by `insert_turns`.
pub(crate) fn insert_messages(
    c: &mut AnyConnection,
    rows: &[NewMessageRow<'_>; 2],
) -> QueryResult<()> {
    for row in rows {
        let statement = AddMessage(row);
        match c.either() {
            Either::Postgres(c) => statement.execute(c)?,
            Either::Sqlite(c) => statement.execute(c)?,
        };
    }
    Ok(())
}

struct AddConversation<'a>(&'a ConversationRow);

impl QueryId for AddConversation<'_> {
    type QueryId = AddConversation<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<Conn> RunQueryDsl<Conn> for AddConversation<'_> {}

impl<DB> QueryFragment<DB> for AddConversation<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    String: ToSql<Text, DB>,
    Option<String>: ToSql<Nullable<Text>, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let row = self.0;
        out.push_sql(
            "INSERT INTO conversations (id, account_id, agent_id, metadata, message_count, created_at, updated_at, \
             channel, unanswered, widget_id, visitor_id, visitor) VALUES (",
        );
        for text in [&row.id, &row.account_id, &row.agent_id, &row.metadata] {
            out.push_bind_param::<Text, _>(text)?;
            out.push_sql(", ");
        }
        for number in [&row.message_count, &row.created_at, &row.updated_at] {
            out.push_bind_param::<BigInt, _>(number)?;
            out.push_sql(", ");
        }
        out.push_bind_param::<Text, _>(&row.channel)?;
        out.push_sql(", ");
        out.push_bind_param::<BigInt, _>(&row.unanswered)?;
        for text in [&row.widget_id, &row.visitor_id, &row.visitor] {
            out.push_sql(", ");
            out.push_bind_param::<Nullable<Text>, _>(text)?;
        }
        out.push_sql(")");
        Ok(())
    }
}

struct AddMessage<'a>(&'a NewMessageRow<'a>);

impl QueryId for AddMessage<'_> {
    type QueryId = AddMessage<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<Conn> RunQueryDsl<Conn> for AddMessage<'_> {}

impl<DB> QueryFragment<DB> for AddMessage<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    str: ToSql<Text, DB>,
    for<'t> Option<&'t str>: ToSql<Nullable<Text>, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let row = self.0;
        out.push_sql(
            "INSERT INTO messages (conversation_id, account_id, role, content, position, created_at, sources_used, \
             receipt) VALUES (",
        );
        for text in [row.conversation_id, row.account_id, row.role, row.content] {
            out.push_bind_param::<Text, _>(text)?;
            out.push_sql(", ");
        }
        for number in [&row.position, &row.created_at] {
            out.push_bind_param::<BigInt, _>(number)?;
            out.push_sql(", ");
        }
        out.push_bind_param::<Nullable<Text>, _>(&row.sources_used)?;
        out.push_sql(", ");
        out.push_bind_param::<Nullable<Text>, _>(&row.receipt)?;
        out.push_sql(")");
        Ok(())
    }
}
