//! Lists in pages: newest first by creation, ties by id.

mod listed;

use crate::error::{Error, FieldError};
use crate::limits;
use crate::timestamp::Timestamp;

/// A position in a list: the last item of the previous page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// In a list ordered newest first: the creation time and the id of the last item seen.
    Created {
        /// Creation time of the last item.
        at: Timestamp,
        /// The id of the last item, prefix included.
        id: String,
    },
    /// In a list with a different order: the number of the last item seen.
    Numbered(i64),
}

/// Which page of a list to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// The maximum number of items, 1 to 100.
    pub size: u32,
    /// The position after which the page begins; `None` for the first page.
    pub after: Option<Position>,
}

/// The size of a list item in a response without its texts, in bytes.
const ITEM_BYTES: usize = 80;

/// How many items of a list a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// The items to read.
    pub items: usize,
    /// Whether others follow.
    pub more: bool,
}

impl PageRequest {
    /// The most items that can be on a page: more do not fit into [`limits::LIST_BYTES`].
    pub const MOST_ITEMS: usize = limits::LIST_BYTES / ITEM_BYTES;

    /// Reads the size of a page: 1 to 100.
    ///
    /// # Errors
    ///
    /// The requirement for the parameter `page_size`.
    pub fn parse_size(text: &str) -> Result<u32, FieldError> {
        let (low, high) = limits::PAGE_SIZE_RANGE;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|size| digits && (low..=high).contains(size)).ok_or_else(|| {
            FieldError::new("page_size", format!("must be an integer between {low} and {high}"))
        })
    }

    /// The number of items to read for a page: one more than it shows, to know whether another page follows.
    pub fn lookahead(&self) -> i64 {
        i64::from(self.size) + 1
    }

    /// How many items fit on the page, from the bytes of the texts of each item: at most the page's size and
    /// [`limits::LIST_BYTES`], and at least one. Only the first [`PageRequest::lookahead`] items are examined.
    pub fn fit(&self, text_bytes: &[usize]) -> Fit {
        let most = usize::try_from(self.size).unwrap_or(usize::MAX);
        let mut left = limits::LIST_BYTES;
        let mut items = 0;
        for texts in text_bytes.iter().take(most) {
            let bytes = ITEM_BYTES.saturating_add(*texts);
            if items > 0 && bytes > left {
                break;
            }
            left = left.saturating_sub(bytes);
            items += 1;
        }
        Fit { items, more: text_bytes.len() > items }
    }

    /// The position in a list that is ordered newest first: the time and id of the last item seen.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the position is one of a list with another order.
    pub fn created_before(&self) -> Result<Option<(Timestamp, &str)>, Error> {
        match &self.after {
            None => Ok(None),
            Some(Position::Created { at, id }) => Ok(Some((*at, id))),
            Some(Position::Numbered(_)) => Err(foreign()),
        }
    }

    /// The position in a list with a different order: the number of the last item seen.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the position is one of a list that is ordered newest first.
    pub fn numbered(&self) -> Result<Option<i64>, Error> {
        match &self.after {
            None => Ok(None),
            Some(Position::Numbered(number)) => Ok(Some(*number)),
            Some(Position::Created { .. }) => Err(foreign()),
        }
    }
}

/// The refusal of a position from another list.
fn foreign() -> Error {
    Error::invalid("cursor", "must be a `next_cursor` of this list")
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// The position after which the next page begins; `None` on the last page.
    pub next: Option<Position>,
}

/// An item of a list.
pub trait Listed {
    /// The position after which a page that ends with this item is continued.
    fn position(&self) -> Position;
}

impl<T: Listed> Page<T> {
    /// Creates a page of `size` items from up to `size + 1` that were read, which shows without counting whether it is
    /// the last.
    pub fn from_lookahead(mut items: Vec<T>, size: u32) -> Self {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let more = items.len() > size;
        items.truncate(size);
        Self::of(items, more)
    }

    /// A page of these items; `more` is whether others follow.
    pub fn of(items: Vec<T>, more: bool) -> Self {
        let next = if more { items.last().map(Listed::position) } else { None };
        Self { items, next }
    }
}

impl<T> Page<T> {
    /// The same page of other items.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), next: self.next }
    }
}

impl Position {
    /// The position of an item of a list that is ordered newest first.
    pub fn created(at: Timestamp, id: impl std::fmt::Display) -> Self {
        Self::Created { at, id: id.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, ITEM_BYTES, PageRequest, Position};
    use crate::{Timestamp, limits};

    fn fit(size: u32, bytes: &[usize]) -> Fit {
        PageRequest { size, after: None }.fit(bytes)
    }

    #[test]
    fn a_page_ends_with_its_size_or_its_bytes() {
        assert_eq!(fit(3, &[]), Fit { items: 0, more: false });
        assert_eq!(fit(3, &[9, 9, 9]), Fit { items: 3, more: false });
        assert_eq!(fit(3, &[9, 9, 9, 9]), Fit { items: 3, more: true });
        let half = limits::LIST_BYTES / 2 - ITEM_BYTES;
        assert_eq!(fit(9, &[half, half]), Fit { items: 2, more: false });
        assert_eq!(fit(9, &[half, half, 0]), Fit { items: 2, more: true });
        assert_eq!(fit(9, &[half, half + 1]), Fit { items: 1, more: true });
    }

    #[test]
    fn one_item_is_shown_however_large_it_is() {
        let large = 2 * limits::LIST_BYTES;
        assert_eq!(fit(9, &[large, 1]), Fit { items: 1, more: true });
        assert_eq!(fit(9, &[1, large]), Fit { items: 1, more: true });
        assert_eq!(fit(9, &[usize::MAX]), Fit { items: 1, more: false });
    }

    #[test]
    fn a_page_has_1_to_100_items() {
        for (text, size) in [("1", 1), ("100", 100), ("007", 7)] {
            assert_eq!(PageRequest::parse_size(text), Ok(size));
        }
        for text in ["", "0", "101", "+5", "-1", "5.0", " 5", "99999999999999999999"] {
            assert!(PageRequest::parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_position_of_another_list_is_refused() {
        let after = |position| PageRequest { size: 1, after: Some(position) };
        let created = after(Position::created(Timestamp::from_millis(5), "x"));
        assert_eq!(created.created_before().unwrap(), Some((Timestamp::from_millis(5), "x")));
        assert!(created.numbered().is_err());
        let numbered = after(Position::Numbered(7));
        assert_eq!(numbered.numbered().unwrap(), Some(7));
        assert!(numbered.created_before().is_err());
    }
}
