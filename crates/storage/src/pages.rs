//! Pages of lists: how many rows to read, and the position after which to read them.
//!
//! A list whose rows can be large is read by two queries of one snapshot: first the sizes of its
//! rows, then as many rows as fit. So memory stays bounded, whatever the rows contain.

use cicerone_domain::PageRequest;

use crate::columns::wide;
use crate::error::TransactionError;

diesel::define_sql_function! {
    /// Bytes of a text. Neither database reads the text to compute it.
    fn octet_length(text: diesel::sql_types::Nullable<diesel::sql_types::Text>)
        -> diesel::sql_types::Nullable<diesel::sql_types::Integer>;
}

diesel::define_sql_function! {
    /// Bytes of a value that is not text.
    #[sql_name = "octet_length"]
    fn binary_length(value: diesel::sql_types::Binary) -> diesel::sql_types::Integer;
}

diesel::define_sql_function! {
    /// The same for a value that may be null.
    #[sql_name = "octet_length"]
    fn nullable_length(value: diesel::sql_types::Nullable<diesel::sql_types::Binary>)
        -> diesel::sql_types::Nullable<diesel::sql_types::Integer>;
}

/// The size of a text in bytes, as returned by the database; `None` for a null.
pub(crate) type Size = Option<i32>;

/// How many rows of a list a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The rows to read.
    pub(crate) count: i64,
    /// Whether more rows follow.
    pub(crate) more: bool,
}

/// How many rows fit on a page, by the sizes of the texts of each: see [`PageRequest::fit`].
pub(crate) fn fitting<S>(page: &PageRequest, rows: &[S]) -> Rows
where
    S: Copy + IntoIterator<Item = Size>,
{
    let size = |size: i32| usize::try_from(size).unwrap_or_default();
    let bytes = rows.iter().map(|sizes| sizes.into_iter().flatten().map(size).sum());
    let fit = page.fit(&bytes.collect::<Vec<usize>>());
    Rows { count: wide(fit.items), more: fit.more }
}

/// The position in a list that is ordered newest first: milliseconds and id of the last item seen.
pub(crate) fn created_before(page: &PageRequest) -> Result<Option<(i64, &str)>, TransactionError> {
    Ok(page.created_before()?.map(|(at, id)| (at.as_millis(), id)))
}

/// The position in a numbered list: the number of the last item seen, -1 at the start.
pub(crate) fn numbered_after(page: &PageRequest) -> Result<i64, TransactionError> {
    Ok(page.numbered()?.unwrap_or(-1))
}

/// The position in a numbered list that begins with the highest number: the number of the last item
/// seen, the largest number at the start.
pub(crate) fn numbered_before(page: &PageRequest) -> Result<i64, TransactionError> {
    Ok(page.numbered()?.unwrap_or(i64::MAX))
}
