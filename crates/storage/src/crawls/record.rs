//! Stores the outcome of visits, and the pages that were found by them.

use std::collections::{HashMap, HashSet};

use cicerone_domain::Source;
use cicerone_domain::content::CutDocument;
use cicerone_domain::crawl::{FoundPage, PageContent, VisitedPage};
use diesel::dsl::max;
use diesel::prelude::*;

use super::rows::{PageRow, VisitRow};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{crawl_pages, documents, passages};
use crate::sources::{DocumentIds, DocumentKey, Placed, insert};

/// Addresses that are looked up in one query.
const ADDRESSES: usize = 500;

/// Stores visited and found pages in the crawl `number`. A page that the crawl already has keeps
/// its position. Returns how many pages were visited for the first time.
pub(super) fn record(
    c: &mut AnyConnection,
    source: &Source,
    crawl: i64,
    visited: &[VisitedPage],
    found: &[FoundPage],
) -> Result<usize, TransactionError> {
    let mut pages = Pages::open(c, source, crawl, visited, found)?;
    let mut texts = Texts::open(c, source, visited)?;
    for page in visited {
        let document = texts.keep(c, &page.content)?;
        let visit = VisitRow::of(page, document)?;
        if let Some(before) = pages.visit(c, &page.url, document, visit)? {
            texts.drop_unseen(c, before)?;
        }
    }
    pages.find(found);
    dialect::insert_crawl_pages(c, &pages.new)?;
    Ok(pages.visited_first)
}

/// A page that a crawl knows.
struct Seen {
    position: i64,
    document: Option<i64>,
    is_visited: bool,
}

/// The pages of a crawl that one call is about.
struct Pages<'a> {
    source: &'a Source,
    crawl: i64,
    /// Those that the crawl already has, by address.
    known: HashMap<String, Seen>,
    /// How many were visited for the first time.
    visited_first: usize,
    /// Those that this call adds.
    new: Vec<PageRow>,
    next: i64,
}

impl<'a> Pages<'a> {
    fn open(
        c: &mut AnyConnection,
        source: &'a Source,
        crawl: i64,
        visited: &[VisitedPage],
        found: &[FoundPage],
    ) -> Result<Self, TransactionError> {
        let of_crawl = || {
            crawl_pages::table
                .filter(crawl_pages::source_id.eq(source.id.to_string()))
                .filter(crawl_pages::crawl.eq(crawl))
        };
        let visited = visited.iter().map(|page| page.url.as_str());
        let found = found.iter().map(|page| page.url.as_str());
        let urls: Vec<&str> = visited.chain(found).collect::<HashSet<_>>().into_iter().collect();
        let mut known = HashMap::new();
        for urls in urls.chunks(ADDRESSES) {
            let columns = (
                crawl_pages::url,
                crawl_pages::position,
                crawl_pages::document,
                crawl_pages::status.is_not_null(),
            );
            let rows: Vec<(String, i64, Option<i64>, bool)> =
                of_crawl().filter(crawl_pages::url.eq_any(urls)).select(columns).load(c)?;
            known.extend(rows.into_iter().map(|(url, position, document, is_visited)| {
                (url, Seen { position, document, is_visited })
            }));
        }
        let last: Option<i64> = of_crawl().select(max(crawl_pages::position)).get_result(c)?;
        let next = last.map_or(0, |last| last + 1);
        Ok(Self { source, crawl, known, visited_first: 0, new: Vec::new(), next })
    }

    /// Stores the outcome of a visit, and returns the document that the page had earlier in this
    /// crawl.
    fn visit(
        &mut self,
        c: &mut AnyConnection,
        url: &str,
        document: Option<i64>,
        visit: VisitRow,
    ) -> Result<Option<i64>, TransactionError> {
        let Some(seen) = self.known.get_mut(url) else {
            self.add(url, 0, visit);
            // Written at once: if the page appears again in this call, its row exists.
            dialect::insert_crawl_pages(c, &std::mem::take(&mut self.new))?;
            let seen = Seen { position: self.next - 1, document, is_visited: true };
            self.known.insert(url.to_owned(), seen);
            self.visited_first += 1;
            return Ok(None);
        };
        let key = (self.source.id.to_string(), self.crawl, seen.position);
        diesel::update(crawl_pages::table.find(key)).set(visit).execute(c)?;
        self.visited_first += usize::from(!std::mem::replace(&mut seen.is_visited, true));
        let before = std::mem::replace(&mut seen.document, document);
        Ok(before.filter(|before| Some(*before) != document))
    }

    /// Adds the pages that the crawl does not have.
    fn find(&mut self, found: &[FoundPage]) {
        for page in found {
            if !self.known.contains_key(&page.url) {
                let seen = Seen { position: self.next, document: None, is_visited: false };
                self.known.insert(page.url.clone(), seen);
                self.add(&page.url, page.depth.into(), VisitRow::default());
            }
        }
    }

    fn add(&mut self, url: &str, depth: i64, visit: VisitRow) {
        self.new.push(PageRow {
            source_id: self.source.id.to_string(),
            crawl: self.crawl,
            position: self.next,
            account_id: self.source.account_id.to_string(),
            url: url.to_owned(),
            depth,
            visit,
        });
        self.next += 1;
    }
}

/// The texts of a source, with the next free positions: after every document and passage that it
/// has, visible or not.
struct Texts<'a> {
    source: &'a Source,
    ids: DocumentIds,
    next_document: i64,
    next_passage: i64,
}

impl<'a> Texts<'a> {
    fn open(
        c: &mut AnyConnection,
        source: &'a Source,
        visited: &[VisitedPage],
    ) -> Result<Self, TransactionError> {
        let id = source.id.to_string();
        let new = visited.iter().filter_map(|page| match &page.content {
            PageContent::New(cut) => cut.document.url.as_deref(),
            PageContent::None | PageContent::Kept(_) => None,
        });
        let new: Vec<&str> = new.collect();
        let key = DocumentKey::read(c)?;
        let ids = DocumentIds::keeping_pages(c, &key, source, &new)?;
        let document: Option<i64> = documents::table
            .filter(documents::source_id.eq(&id))
            .select(max(documents::position))
            .get_result(c)?;
        let passage: Option<i64> = passages::table
            .filter(passages::source_id.eq(&id))
            .select(max(passages::position))
            .get_result(c)?;
        let next = |last: Option<i64>| last.map_or(0, |last| last + 1);
        let (next_document, next_passage) = (next(document), next(passage));
        Ok(Self { source, ids, next_document, next_passage })
    }

    /// Returns the position of the page's new document.
    fn keep(
        &mut self,
        c: &mut AnyConnection,
        content: &PageContent,
    ) -> Result<Option<i64>, TransactionError> {
        match content {
            PageContent::None => Ok(None),
            PageContent::Kept(position) => {
                let is_there: i64 = documents::table
                    .filter(documents::source_id.eq(self.source.id.to_string()))
                    .filter(documents::position.eq(position))
                    .filter(documents::version.is_not_null())
                    .count()
                    .get_result(c)?;
                if is_there == 0 {
                    return Err(TransactionError::internal(
                        "a page refers to a document that its source lacks",
                    ));
                }
                Ok(Some(*position))
            }
            PageContent::New(cut) => self.add(c, cut).map(Some),
        }
    }

    fn add(&mut self, c: &mut AnyConnection, cut: &CutDocument) -> Result<i64, TransactionError> {
        let (document, first_passage) = (self.next_document, self.next_passage);
        self.next_document += 1;
        self.next_passage += cut.passage_count();
        let id = self.ids.next_of(&cut.document);
        insert(c, self.source, &[Placed { document, id, first_passage, cut }])?;
        Ok(document)
    }

    /// Removes a document that a page had earlier in this crawl, unless it is visible.
    fn drop_unseen(&self, c: &mut AnyConnection, position: i64) -> Result<(), TransactionError> {
        let document = documents::table.find((self.source.id.to_string(), position));
        diesel::delete(document.filter(documents::version.is_null())).execute(c)?;
        Ok(())
    }
}
