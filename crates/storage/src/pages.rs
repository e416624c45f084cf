//! Pages of lists: how many rows to read, and where to go on.
//!
//! A list whose rows can be large is read in two queries of one snapshot: the sizes of its rows, and
//! then as many rows as fit. No list is in memory beyond its bound, whatever its rows hold.

use cicerone_domain::{Error, PageRequest, Position, limits};

use crate::error::Failure;

/// Rows to read for a page: one more than it shows, to know whether another follows.
pub(crate) fn lookahead(page: &PageRequest) -> i64 {
    i64::from(page.size) + 1
}

diesel::define_sql_function! {
    /// Bytes of a text. Neither database reads the text for it.
    fn octet_length(text: diesel::sql_types::Nullable<diesel::sql_types::Text>)
        -> diesel::sql_types::Nullable<diesel::sql_types::Integer>;
}

/// The size of a text in bytes, as the database gives it; `None` of a text that is not there.
pub(crate) type Size = Option<i32>;

/// What a row takes in an answer besides its texts, in bytes.
const ROW_BYTES: usize = 80;
/// Most rows that can fit on a page.
pub(crate) const ROWS: usize = limits::LIST_BYTES / ROW_BYTES;

/// How many rows of a list a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    /// The rows to read.
    pub(crate) rows: i64,
    /// Whether others follow.
    pub(crate) more: bool,
}

/// How many rows fit on a page, by the sizes of the texts of each, which were read with
/// [`lookahead`]: up to the page's size and [`limits::LIST_BYTES`], and one at the least.
pub(crate) fn fitting<S>(page: &PageRequest, rows: &[S]) -> Fit
where
    S: Copy + IntoIterator<Item = Size>,
{
    let most = usize::try_from(page.size).unwrap_or(usize::MAX);
    let mut left = limits::LIST_BYTES;
    let mut count = 0;
    for sizes in rows.iter().take(most) {
        let texts = sizes.into_iter().flatten().filter_map(|size| usize::try_from(size).ok());
        let bytes = ROW_BYTES + texts.sum::<usize>();
        if count > 0 && bytes > left {
            break;
        }
        left = left.saturating_sub(bytes);
        count += 1;
    }
    Fit { rows: i64::try_from(count).unwrap_or(i64::MAX), more: rows.len() > count }
}

/// Where a list that is ordered newest first goes on: milliseconds and id of the last item seen.
pub(crate) fn created_before(page: &PageRequest) -> Result<Option<(i64, &str)>, Failure> {
    match &page.after {
        None => Ok(None),
        Some(Position::Created { at, id }) => Ok(Some((at.as_millis(), id))),
        Some(Position::Numbered(_)) => Err(foreign()),
    }
}

/// Where a numbered list goes on: the number of the last item seen, -1 at the start.
pub(crate) fn numbered_after(page: &PageRequest) -> Result<i64, Failure> {
    Ok(numbered(page)?.unwrap_or(-1))
}

/// Where a numbered list that begins with the highest number goes on: the number of the last item
/// seen, beyond all at the start.
pub(crate) fn numbered_before(page: &PageRequest) -> Result<i64, Failure> {
    Ok(numbered(page)?.unwrap_or(i64::MAX))
}

fn numbered(page: &PageRequest) -> Result<Option<i64>, Failure> {
    match &page.after {
        None => Ok(None),
        Some(Position::Numbered(number)) => Ok(Some(*number)),
        Some(Position::Created { .. }) => Err(foreign()),
    }
}

fn foreign() -> Failure {
    Error::invalid("cursor", "must be one that this list gave").into()
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{PageRequest, limits};

    use super::{Fit, ROW_BYTES, fitting};

    fn fit(size: u32, rows: &[usize]) -> Fit {
        let rows: Vec<_> = rows.iter().map(|bytes| [i32::try_from(*bytes).ok(), None]).collect();
        fitting(&PageRequest { size, after: None }, &rows)
    }

    #[test]
    fn a_page_ends_with_its_size_or_its_bytes() {
        assert_eq!(fit(3, &[]), Fit { rows: 0, more: false });
        assert_eq!(fit(3, &[9, 9, 9]), Fit { rows: 3, more: false });
        assert_eq!(fit(3, &[9, 9, 9, 9]), Fit { rows: 3, more: true });
        let half = limits::LIST_BYTES / 2 - ROW_BYTES;
        assert_eq!(fit(9, &[half, half]), Fit { rows: 2, more: false });
        assert_eq!(fit(9, &[half, half, 0]), Fit { rows: 2, more: true });
        assert_eq!(fit(9, &[half, half + 1]), Fit { rows: 1, more: true });
    }

    #[test]
    fn one_row_is_shown_however_large_it_is() {
        let large = 2 * limits::LIST_BYTES;
        assert_eq!(fit(9, &[large, 1]), Fit { rows: 1, more: true });
        assert_eq!(fit(9, &[1, large]), Fit { rows: 1, more: true });
    }
}
