//! `GET /v1/sources/{source_id}/pages`

use cicerone_domain::source::CrawledPage;
use cicerone_domain::{Error, Page, PageRequest, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Pages>(Tag::Sources, "/v1/sources/{source_id}/pages")
        .named("listPages", "List crawled pages")
        .details(
            "The pages that the latest crawl of the website visited, in order. They are available while the crawl is \
             running and also if it failed.",
        )
        .refuses(
            400,
            "The source is not a website, a parameter is out of range or given twice, or the cursor \
             belongs to another list.",
        )
}

/// The result of crawling one page of a website.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Page)]
struct PageView<'a> {
    url: &'a str,
    #[schema(pattern = "^(indexed|unchanged|skipped|failed)$")]
    status: &'static str,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    character_count: Option<u64>,
    /// The HTTP status of the page; null if there was no response.
    #[schema(required)]
    http_status: Option<u16>,
    /// Why it was skipped or failed; otherwise null.
    #[schema(required)]
    reason: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    fetched_at: Option<Timestamp>,
}

impl<'a> From<&'a CrawledPage> for PageView<'a> {
    fn from(page: &'a CrawledPage) -> Self {
        Self {
            url: &page.url,
            status: page.status.name(),
            title: page.title.as_deref(),
            character_count: page.character_count,
            http_status: page.http_status,
            reason: page.reason.as_ref().map(ToString::to_string),
            fetched_at: page.fetched_at,
        }
    }
}

struct Pages;

impl List for Pages {
    type Permission = SourcesRead;
    type Item = CrawledPage;
    type View<'a> = PageView<'a>;
    type Filter = ();
    const NAME: &'static str = "pages";

    fn filter(_: &Query) -> Result<(), Error> {
        Ok(())
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<SourcesRead>,
        incoming: &Incoming,
        (): (),
        page: PageRequest,
    ) -> Result<Page<CrawledPage>, Error> {
        app.sources.pages(caller.scope(), incoming.path_id()?, page).await
    }
}
