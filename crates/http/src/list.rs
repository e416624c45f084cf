//! Pages of lists: from the query to a request, from a page to its envelope.

use actix_web::HttpResponse;
use cicerone_domain::{Error, Listed, Page, PageRequest, Position, limits};
use serde::Serialize;

use crate::auth::Authorized;
use crate::context::Shared;
use crate::cursor::ListName;
use crate::query::Query;
use crate::response::{json, write_json};

/// What the envelope takes besides its items, in bytes: the names of its fields, and a cursor.
const ENVELOPE_BYTES: usize = 256;

/// The end of the envelope of every list.
#[derive(Debug, Serialize)]
struct Envelope {
    has_more: bool,
    next_cursor: Option<String>,
}

impl Shared {
    /// The page that a query asks for, with room for it.
    pub(crate) async fn page<P>(
        &self,
        caller: &Authorized<P>,
        list: ListName<'_>,
        query: &Query,
    ) -> Result<PageRequest, Error> {
        let size = query.page_size()?;
        let cursor = query.one("cursor")?;
        let after = cursor.map(|text| self.cursors.read(list, text)).transpose()?;
        caller.context().expect_answer(self).await?;
        Ok(PageRequest { size, after })
    }

    /// A page as it is answered: as many of its items as fit into [`limits::LIST_BYTES`], and one at
    /// the least.
    pub(crate) fn envelope<'a, T: Listed, V: Serialize>(
        &self,
        list: ListName<'_>,
        page: &'a Page<T>,
        view: impl Fn(&'a T) -> V,
    ) -> HttpResponse {
        let items = page.items.iter().map(view);
        let (mut body, shown) = joined(items, limits::LIST_BYTES - ENVELOPE_BYTES);
        let next = after(page, shown);
        let end = Envelope {
            has_more: next.is_some(),
            next_cursor: next.map(|position| self.cursors.write(list, &position)),
        };
        body.extend_from_slice(b"],");
        let brace = body.len();
        write_json(&mut body, &end);
        // The end is an object of its own; without its brace it goes on with the one of the items.
        body.remove(brace);
        json(body)
    }
}

/// Where a page of which so many items are shown is continued; `None` if it is the last.
pub(crate) fn after<T: Listed>(page: &Page<T>, shown: usize) -> Option<Position> {
    if shown == page.items.len() {
        return page.next.clone();
    }
    page.items.get(shown.checked_sub(1)?).map(Listed::position)
}

/// The beginning of an envelope up to its last item, with as many items as fit into `most` bytes, and
/// one at the least. Gives their number, too.
fn joined(items: impl Iterator<Item = impl Serialize>, most: usize) -> (Vec<u8>, usize) {
    let mut body = br#"{"data":["#.to_vec();
    let mut shown = 0;
    for item in items {
        let before = body.len();
        if shown > 0 {
            body.push(b',');
        }
        write_json(&mut body, &item);
        if shown > 0 && body.len() > most {
            body.truncate(before);
            break;
        }
        shown += 1;
    }
    (body, shown)
}

#[cfg(test)]
mod tests {
    use super::joined;

    fn shown(items: &[&str], most: usize) -> String {
        let (body, shown) = joined(items.iter(), most);
        format!("{shown} {}", String::from_utf8(body).unwrap())
    }

    #[test]
    fn items_are_shown_whole_as_long_as_they_fit_and_one_at_the_least() {
        assert_eq!(shown(&[], 9), r#"0 {"data":["#);
        assert_eq!(shown(&["a", "b"], 16), r#"2 {"data":["a","b""#);
        assert_eq!(shown(&["a", "b"], 15), r#"1 {"data":["a""#);
        assert_eq!(shown(&["abcdefghi", "b"], 9), r#"1 {"data":["abcdefghi""#);
    }

    #[test]
    fn what_counts_is_the_length_after_escaping() {
        assert_eq!(shown(&["\u{1}", "\u{1}"], 20), "1 {\"data\":[\"\\u0001\"");
    }
}
