//! Lists, which differ only in their items: from the query to a page, from the page to its
//! envelope.

use actix_web::HttpResponse;
use cicerone_domain::{Error, Listed, Page, PageRequest, Position, every, limits};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::Required;
use crate::context::{App, Incoming, Shared};
use crate::cursor::ListName;
use crate::query::Query;
use crate::response::{Answer, json, write_json};

/// A list that is served page by page.
pub(crate) trait List: 'static {
    type Permission: Required;
    type Item: Listed + 'static;
    /// The wire form of an item.
    type View<'a>: From<&'a Self::Item> + Serialize + ToSchema;
    type Filter;
    /// The name that its cursors are bound to, together with the account and the id in the path.
    const NAME: &'static str;

    /// Reads the query parameters that not every list has.
    fn filter(query: &Query) -> Result<Self::Filter, Error>;

    /// Reads a page.
    async fn page(
        app: &Shared,
        caller: &Authorized<Self::Permission>,
        incoming: &Incoming,
        filter: Self::Filter,
        page: PageRequest,
    ) -> Result<Page<Self::Item>, Error>;
}

/// Serves a list.
pub(crate) async fn answer<L: List>(
    caller: Authorized<L::Permission>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let query = incoming.query()?;
    let list = list_name::<L>(&caller, &incoming);
    let (request, filter) = every((app.page_request(list, &query), L::filter(&query)))?;
    caller.context().expect_answer(&app).await?;
    let page = L::page(&app, &caller, &incoming, filter, request).await?;
    Ok(app.envelope(list, &page, L::View::from))
}

/// The size of an envelope without its items, in bytes: the names of its fields, and a cursor.
const ENVELOPE_BYTES: usize = 256;

/// The end of the envelope of every list.
#[derive(Debug, Serialize)]
struct Envelope {
    has_more: bool,
    next_cursor: Option<String>,
}

/// What the cursors of a list are bound to.
pub(crate) fn list_name<'a, L: List>(
    caller: &Authorized<L::Permission>,
    incoming: &'a Incoming,
) -> ListName<'a> {
    let account = caller.scope().account;
    ListName { name: L::NAME, account, parent: incoming.path_text() }
}

impl Shared {
    /// The page that a query asks for.
    fn page_request(&self, list: ListName<'_>, query: &Query) -> Result<PageRequest, Error> {
        let cursor = query.parsed("cursor", |text| self.cursors.read(list, text));
        let (size, after) = every((query.page_size(), cursor))?;
        Ok(PageRequest { size, after })
    }

    /// A page as JSON: as many of its items as fit into [`limits::LIST_BYTES`], and at least one.
    fn envelope<'a, T: Listed, V: Serialize>(
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
        // Without its opening brace, the end continues the object that contains the items.
        body.remove(brace);
        json(body)
    }
}

/// The position after the first `shown` items of a page; `None` if nothing follows.
pub(crate) fn after<T: Listed>(page: &Page<T>, shown: usize) -> Option<Position> {
    if shown == page.items.len() {
        return page.next.clone();
    }
    page.items.get(shown.checked_sub(1)?).map(Listed::position)
}

/// The beginning of an envelope up to its last item, with as many items as fit into `most` bytes
/// and at least one. Also returns the number of these items.
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
    fn items_are_shown_whole_while_they_fit_and_at_least_one_is() {
        assert_eq!(shown(&[], 9), r#"0 {"data":["#);
        assert_eq!(shown(&["a", "b"], 16), r#"2 {"data":["a","b""#);
        assert_eq!(shown(&["a", "b"], 15), r#"1 {"data":["a""#);
        assert_eq!(shown(&["abcdefghi", "b"], 9), r#"1 {"data":["abcdefghi""#);
    }

    #[test]
    fn the_length_is_counted_after_escaping() {
        assert_eq!(shown(&["\u{1}", "\u{1}"], 20), "1 {\"data\":[\"\\u0001\"");
    }
}
