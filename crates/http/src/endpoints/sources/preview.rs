//! `POST /v1/agents/{agent_id}/sources/preview`

use actix_web::http::Method;
use cicerone_domain::Error;
use cicerone_domain::crawl::{PreviewPage, SitePreview};
use cicerone_domain::source::WebsiteUrl;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::body::{Body, Current};
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::POST, "/v1/agents/{agent_id}/sources/preview", handle)
        .named("previewWebsite", "Preview the crawl of a website")
        .details(
            "Shows what the site's `robots.txt` allows and what its sitemaps list, before the website is added. The \
             server requests at most three sitemaps, reads at most 2 MiB of each, and requests no page of the site; \
             this takes up to 20 s. The operation changes nothing and takes no idempotency key.",
        )
        .body::<Preview>()
        .gives::<PreviewView<'_>>(200)
        .refuses(503, "Too many previews are in progress, or the database cannot be reached.")
}

#[derive(Deserialize, ToSchema)]
#[schema(as = SitePreviewRequest, examples(json!({"url": "https://museum.example/visit"})))]
struct Preview {
    /// The start page: a full http or https URL with a host and without credentials.
    #[schema(max_length = 2048, format = "uri", pattern = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]")]
    url: String,
}

impl Body for Preview {
    type Checked = WebsiteUrl;

    fn check(self, _: &Current<'_>) -> Result<WebsiteUrl, Error> {
        Ok(WebsiteUrl::parse_field("url", self.url)?)
    }
}

/// What a site allows and lists for a crawl.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SitePreview)]
struct PreviewView<'a> {
    /// The start page, in the form in which the crawl would record it.
    url: &'a str,
    /// Whether the start page may be requested.
    allowed: bool,
    /// Why a crawl would fail; null if the start page may be requested.
    #[schema(required)]
    reason: Option<&'a str>,
    /// The address of the site's `robots.txt`.
    robots_url: &'a str,
    /// The pause between requests that the site asks for, in seconds. Pauses longer than the server's limit are
    /// shortened to it.
    #[schema(required, minimum = 0)]
    crawl_delay_seconds: Option<f64>,
    /// The number of the site's pages in its sitemaps.
    #[schema(minimum = 0)]
    listed: u64,
    /// Whether the sitemaps were read completely. A crawl reads more of them.
    list_complete: bool,
    /// The first of the listed pages.
    #[schema(max_items = 20)]
    pages: Vec<PreviewPageView<'a>>,
}

/// A page that a sitemap lists.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SitePreviewPage)]
struct PreviewPageView<'a> {
    url: &'a str,
    /// Whether `robots.txt` allows it to be requested.
    allowed: bool,
}

impl<'a> From<&'a PreviewPage> for PreviewPageView<'a> {
    fn from(page: &'a PreviewPage) -> Self {
        Self { url: &page.url, allowed: page.is_allowed }
    }
}

impl<'a> From<&'a SitePreview> for PreviewView<'a> {
    fn from(preview: &'a SitePreview) -> Self {
        Self {
            url: &preview.url,
            allowed: preview.refusal.is_none(),
            reason: preview.refusal.as_deref(),
            robots_url: &preview.robots_url,
            crawl_delay_seconds: preview.crawl_delay.map(|delay| delay.as_secs_f64()),
            listed: preview.listed,
            list_complete: preview.is_whole,
            pages: preview.pages.iter().map(PreviewPageView::from).collect(),
        }
    }
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let url = incoming.body::<Preview>(&app).await?;
    let preview = app.sites.preview(caller.scope(), incoming.path_id()?, &url).await?;
    Ok(ok(&PreviewView::from(&preview)))
}
