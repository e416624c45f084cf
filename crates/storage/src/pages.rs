//! Pages of lists: how many rows to read, and where to go on.

use cicerone_domain::{Error, PageRequest, Position};

use crate::error::Failure;

/// Rows to read for a page: one more than it shows, to know whether another follows.
pub(crate) fn lookahead(page: &PageRequest) -> i64 {
    i64::from(page.size) + 1
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
    match &page.after {
        None => Ok(-1),
        Some(Position::Numbered(number)) => Ok(*number),
        Some(Position::Created { .. }) => Err(foreign()),
    }
}

fn foreign() -> Failure {
    Error::invalid("cursor", "must be one that this list gave").into()
}
