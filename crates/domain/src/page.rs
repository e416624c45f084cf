//! Lists in pages: newest first by creation, ties by id.

mod listed;

use crate::timestamp::Timestamp;

/// A position in a list: the item that the page before ended with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// In a list ordered newest first: the creation time and the id of the last item seen.
    Created {
        /// Creation time of the last item.
        at: Timestamp,
        /// Its id, prefix included.
        id: String,
    },
    /// In a list with an order of its own: the number of the last item seen.
    Numbered(i64),
}

/// Which page of a list to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Most items to give, 1 to 100.
    pub size: u32,
    /// Give what follows this position; from the start where none.
    pub after: Option<Position>,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Where the next page starts; none on the last page.
    pub next: Option<Position>,
}

/// What lists consist of.
pub trait Listed {
    /// Where a page that ends with this item is continued.
    fn position(&self) -> Position;
}

impl<T: Listed> Page<T> {
    /// Makes a page of `size` items from up to `size + 1` that were read, so that the last page is
    /// known without counting.
    pub fn from_lookahead(mut items: Vec<T>, size: u32) -> Self {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let more = items.len() > size;
        items.truncate(size);
        Self::of(items, more)
    }

    /// A page of these items; `more` tells whether others follow.
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
