//! The differences in statements about conversations.

use diesel::prelude::*;

use crate::connection::AnyConnection;
use crate::conversations::{MetadataRow, NewMessageRow};
use crate::schema::{conversation_metadata, conversations, messages};

/// Locks a conversation's row, so that its turns and the ratings of its replies follow each other.
pub(crate) fn lock_conversation(c: &mut AnyConnection, id: &str) -> QueryResult<()> {
    match c {
        AnyConnection::Postgres(c) => {
            let query = conversations::table.find(id).select(conversations::id);
            query.for_no_key_update().get_result::<String>(c).optional().map(|_| ())
        }
        AnyConnection::Sqlite(_) => Ok(()),
    }
}

pub(crate) fn insert_metadata(c: &mut AnyConnection, rows: &[MetadataRow]) -> QueryResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let statement = || diesel::insert_into(conversation_metadata::table).values(rows);
    match c {
        AnyConnection::Postgres(c) => statement().execute(c).map(|_| ()),
        AnyConnection::Sqlite(c) => statement().execute(c).map(|_| ()),
    }
}

/// Adds the two messages of a turn. SQLite takes them one by one: a statement with a fixed number
/// of rows is prepared only once, and there is no round trip to a server.
pub(crate) fn insert_messages(
    c: &mut AnyConnection,
    rows: &[NewMessageRow<'_>; 2],
) -> QueryResult<()> {
    match c {
        AnyConnection::Postgres(c) => {
            diesel::insert_into(messages::table).values(rows.as_slice()).execute(c).map(|_| ())
        }
        AnyConnection::Sqlite(c) => {
            for row in rows {
                diesel::insert_into(messages::table).values(row).execute(c)?;
            }
            Ok(())
        }
    }
}
