//! The differences in statements about widgets.

use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl as _;
use diesel::upsert::excluded;

use crate::connection::{AnyConnection, Either};
use crate::schema::{widget_days, widgets};

/// Locks a widget's row, so that changes of it follow each other.
pub(crate) fn lock_widget(c: &mut AnyConnection, id: &str) -> QueryResult<()> {
    match c.either() {
        Either::Postgres(c) => {
            let query = widgets::table.find(id).select(widgets::id);
            query.for_no_key_update().get_result::<String>(c).optional().map(|_| ())
        }
        Either::Sqlite(_) => Ok(()),
    }
}

/// Counts a message of a widget on a day. Returns false, and counts nothing, if there are `most` already.
pub(crate) fn count_widget_message(
    c: &mut AnyConnection,
    widget: &str,
    day: i64,
    most: i64,
) -> QueryResult<bool> {
    let statement = || {
        diesel::insert_into(widget_days::table)
            .values((
                widget_days::widget_id.eq(widget),
                widget_days::day.eq(day),
                widget_days::messages.eq(1),
            ))
            .on_conflict((widget_days::widget_id, widget_days::day))
            .do_update()
            .set(widget_days::messages.eq(widget_days::messages + excluded(widget_days::messages)))
            .filter(widget_days::messages.lt(most))
    };
    let count = match c.either() {
        Either::Postgres(c) => statement().execute(c)?,
        Either::Sqlite(c) => statement().execute(c)?,
    };
    Ok(count == 1)
}
