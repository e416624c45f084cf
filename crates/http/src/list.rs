//! Pages of lists: from the query to a request, from a page to its envelope.

use actix_web::HttpResponse;
use cicerone_domain::{Error, Page, PageRequest};
use serde::Serialize;

use crate::context::Shared;
use crate::cursor::ListName;
use crate::query::Query;
use crate::response::ok;

/// The envelope of every list.
#[derive(Debug, Serialize)]
struct Envelope<T> {
    data: Vec<T>,
    has_more: bool,
    next_cursor: Option<String>,
}

impl Shared {
    /// The page that a query asks for.
    pub(crate) fn page(&self, list: ListName<'_>, query: &Query) -> Result<PageRequest, Error> {
        let size = query.page_size()?;
        let cursor = query.one("cursor")?;
        let after = cursor.map(|text| self.cursors.read(list, text)).transpose()?;
        Ok(PageRequest { size, after })
    }

    /// A page as it is answered.
    pub(crate) fn envelope<'a, T, V: Serialize>(
        &self,
        list: ListName<'_>,
        page: &'a Page<T>,
        view: impl Fn(&'a T) -> V,
    ) -> HttpResponse {
        ok(&Envelope {
            data: page.items.iter().map(view).collect(),
            has_more: page.next.is_some(),
            next_cursor: page.next.as_ref().map(|position| self.cursors.write(list, position)),
        })
    }
}
