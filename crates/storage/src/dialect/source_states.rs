//! Statements about sources that each of them runs several times. Each connection prepares them once: Diesel builds an
//! update again each time, and the database parses it.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Nullable, Text};

use crate::connection::{AnyConnection, Either};
use crate::sources::StateRow;

/// Writes the state of a source.
pub(crate) fn update_state(c: &mut AnyConnection, id: &str, row: &StateRow) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => UpdateState { id, row }.execute(c).map(|_| ()),
        Either::Sqlite(c) => UpdateState { id, row }.execute(c).map(|_| ()),
    }
}

struct UpdateState<'a> {
    id: &'a str,
    row: &'a StateRow,
}

impl QueryId for UpdateState<'_> {
    type QueryId = UpdateState<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<Conn> RunQueryDsl<Conn> for UpdateState<'_> {}

impl<DB> QueryFragment<DB> for UpdateState<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    str: ToSql<Text, DB>,
    String: ToSql<Text, DB>,
    Option<String>: ToSql<Nullable<Text>, DB>,
    Option<i64>: ToSql<Nullable<BigInt>, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let StateRow {
            status,
            error_message,
            character_count,
            title,
            version,
            progress,
            partially_read,
        } = self.row;
        out.push_sql("UPDATE sources SET status = ");
        out.push_bind_param::<Text, _>(status)?;
        for (name, text) in [
            ("error_message", error_message),
            ("title", title),
            ("progress", progress),
            ("partially_read", partially_read),
        ] {
            out.push_sql(", ");
            out.push_sql(name);
            out.push_sql(" = ");
            out.push_bind_param::<Nullable<Text>, _>(text)?;
        }
        for (name, number) in [("character_count", character_count), ("version", version)] {
            out.push_sql(", ");
            out.push_sql(name);
            out.push_sql(" = ");
            out.push_bind_param::<Nullable<BigInt>, _>(number)?;
        }
        out.push_sql(" WHERE id = ");
        out.push_bind_param::<Text, _>(self.id)
    }
}
