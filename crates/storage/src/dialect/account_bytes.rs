//! Statements about accounts that every change of their sources runs.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Nullable, Text};

use crate::connection::{AnyConnection, Either};

/// Adds to the bytes that an account stores. Returns their number and the account's own quota, `None` if there is no
/// such account. The row is locked until the transaction ends.
pub(crate) fn add_account_bytes(
    c: &mut AnyConnection,
    account: &str,
    more: i64,
) -> QueryResult<Option<(i64, Option<i64>)>> {
    let statement = AddBytes { account, more };
    match c.either() {
        Either::Postgres(c) => statement.get_result(c).optional(),
        Either::Sqlite(c) => statement.get_result(c).optional(),
    }
}

/// Diesel prepares its own updates again each time.
struct AddBytes<'a> {
    account: &'a str,
    more: i64,
}

impl QueryId for AddBytes<'_> {
    type QueryId = AddBytes<'static>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl Query for AddBytes<'_> {
    type SqlType = (BigInt, Nullable<BigInt>);
}

impl<Conn> RunQueryDsl<Conn> for AddBytes<'_> {}

impl<DB> QueryFragment<DB> for AddBytes<'_>
where
    DB: Backend + HasSqlType<Text> + HasSqlType<BigInt>,
    str: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("UPDATE accounts SET stored_bytes = stored_bytes + ");
        out.push_bind_param::<BigInt, _>(&self.more)?;
        out.push_sql(" WHERE id = ");
        out.push_bind_param::<Text, _>(self.account)?;
        out.push_sql(" RETURNING stored_bytes, bytes_kept");
        Ok(())
    }
}
