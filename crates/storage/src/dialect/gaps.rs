//! The differences in statements about gaps.

use diesel::prelude::*;

use crate::connection::{AnyConnection, Either};
use crate::gaps::GapQuestionRow;
use crate::schema::gap_questions;

/// Adds a question to those in gaps, unless it is one of them.
pub(crate) fn insert_gap_question_once(
    c: &mut AnyConnection,
    row: &GapQuestionRow,
) -> QueryResult<()> {
    let statement =
        || diesel::insert_into(gap_questions::table).values(row).on_conflict_do_nothing();
    match c.either() {
        Either::Postgres(c) => statement().execute(c).map(|_| ()),
        Either::Sqlite(c) => statement().execute(c).map(|_| ()),
    }
}
