//! What a site allows and lists for a crawl, before it begins.

use std::time::Duration;

/// What a site's `robots.txt` and sitemaps say about a crawl from a start page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SitePreview {
    /// The name of the start page, as a crawl would list it.
    pub url: String,
    /// The address of the site's `robots.txt`.
    pub robots_url: String,
    /// Why a crawl would fail; `None` if the start page may be requested.
    pub refusal: Option<String>,
    /// The pause between requests that the site asks for.
    pub crawl_delay: Option<Duration>,
    /// The number of the site's pages that its sitemaps list.
    pub listed: u64,
    /// Whether all sitemaps were read completely.
    pub is_whole: bool,
    /// The first of the listed pages, at most [`PREVIEW_PAGES`](crate::limits::PREVIEW_PAGES).
    pub pages: Vec<PreviewPage>,
}

/// A page that a sitemap lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewPage {
    /// The address, as normalised by the crawl.
    pub url: String,
    /// Whether `robots.txt` allows it to be requested.
    pub is_allowed: bool,
}

impl SitePreview {
    /// The preview of a site before anything was read.
    pub const fn of(url: String, robots_url: String) -> Self {
        Self {
            url,
            robots_url,
            refusal: None,
            crawl_delay: None,
            listed: 0,
            is_whole: true,
            pages: Vec::new(),
        }
    }

    /// The preview of a site that cannot be crawled, with a reason for the person who asked for it.
    #[must_use]
    pub fn refused(self, reason: String) -> Self {
        Self { refusal: Some(reason), ..self }
    }
}
