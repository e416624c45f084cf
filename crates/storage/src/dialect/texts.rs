//! Adding the texts of documents, of which one may have ten megabytes.

use std::io::{self, Write};

use diesel::pg::{CopyFormat, PgConnection};
use diesel::prelude::*;

use super::ROWS;
use crate::connection::{AnyConnection, Either};
use crate::schema::document_texts;
use crate::sources::TextRow;

/// Larger texts are streamed to PostgreSQL. As a value of a statement, a text is copied twice, and the connection
/// keeps the memory of the second copy as long as it is open.
const STREAMED_BYTES: usize = 256 * 1_024;
/// What is sent at once.
const PIECE_BYTES: usize = 64 * 1_024;

/// Adds the texts of documents.
pub(crate) fn insert_texts(c: &mut AnyConnection, rows: &[TextRow<'_>]) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => {
            let is_large = |row: &TextRow<'_>| row.text().len() > STREAMED_BYTES;
            for rows in rows.chunk_by(|one, other| is_large(one) == is_large(other)) {
                if rows.first().is_some_and(is_large) {
                    rows.iter().try_for_each(|row| stream(c, row))?;
                    continue;
                }
                for rows in rows.chunks(ROWS) {
                    diesel::insert_into(document_texts::table).values(rows).execute(c)?;
                }
            }
            Ok(())
        }
        Either::Sqlite(c) => {
            for rows in rows.chunks(ROWS) {
                diesel::insert_into(document_texts::table).values(rows).execute(c)?;
            }
            Ok(())
        }
    }
}

/// Adds a text by PostgreSQL's `COPY` in its binary format.
///
/// Source: <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format".
fn stream(c: &mut PgConnection, row: &TextRow<'_>) -> QueryResult<()> {
    let written = |copy: &mut dyn Write| -> QueryResult<()> {
        write_row(copy, row)
            .map_err(|error| diesel::result::Error::SerializationError(error.into()))
    };
    diesel::copy_from(document_texts::table)
        .from_raw_data(document_texts::table, written)
        .with_format(CopyFormat::Binary)
        .execute(c)
        .map(|_| ())
}

/// Writes a file of one row: a signature, two empty fields, the number of columns, each column after its length, and
/// the end.
fn write_row(copy: &mut dyn Write, row: &TextRow<'_>) -> io::Result<()> {
    copy.write_all(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0")?;
    copy.write_all(&4_i16.to_be_bytes())?;
    let position = row.position().to_be_bytes();
    let [source, account] = [row.source_id(), row.account_id()].map(str::as_bytes);
    for column in [source, &position, account, row.text().as_bytes()] {
        let length = i32::try_from(column.len()).map_err(io::Error::other)?;
        copy.write_all(&length.to_be_bytes())?;
        for piece in column.chunks(PIECE_BYTES) {
            copy.write_all(piece)?;
        }
    }
    copy.write_all(&(-1_i16).to_be_bytes())
}
