//! What a crawl of a site would find, from its `robots.txt` and its sitemaps alone.

use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::crawl::{PreviewPage, SitePreview};
use cicerone_domain::ports::SitePreviews;
use cicerone_domain::{Id, kind, limits};
use tokio::task::yield_now;
use tokio::time::timeout;
use url::Url;

use super::entrance::{listed_pages, robots};
use super::site::Site;
use super::{Crawler, not_allowed};

/// Sitemaps that are read for a preview.
const SITEMAPS: usize = 3;
/// How much of each of them is read, in bytes after decompression.
const SITEMAP_BYTES: usize = 2 * 1_024 * 1_024;

#[async_trait]
impl SitePreviews for Crawler {
    async fn preview(&self, account: Id<kind::Account>, start: &Url) -> SitePreview {
        let Some(site) = Site::of(start) else {
            let nowhere = SitePreview::of(start.to_string(), String::new());
            return nowhere.refused(format!("`{start}` is not the address of a website"));
        };
        let named = site.name(start).unwrap_or_else(|| start.clone());
        let preview = SitePreview::of(named.to_string(), site.at("/robots.txt").to_string());
        let deadline = Duration::from_secs(limits::PREVIEW_SECONDS);
        let asked = self.ask(account, &site, &named, preview.clone());
        timeout(deadline, asked).await.unwrap_or_else(|_| preview.refused(too_slow()))
    }
}

fn too_slow() -> String {
    format!(
        "the site's `robots.txt` and sitemaps could not be read within {} s; a crawl waits longer",
        limits::PREVIEW_SECONDS
    )
}

impl Crawler {
    async fn ask(
        &self,
        account: Id<kind::Account>,
        site: &Site,
        named: &Url,
        mut preview: SitePreview,
    ) -> SitePreview {
        let mut settings = self.settings;
        // A person is waiting for the result.
        settings.attempts = 1;
        settings.sitemaps = settings.sitemaps.min(SITEMAPS);
        settings.sitemap_bytes = settings.sitemap_bytes.min(SITEMAP_BYTES);
        let mut requests = self.requests(Some(account), site, settings);
        let robots = match robots(site, &requests).await {
            Ok(robots) => robots,
            Err(reason) => return preview.refused(reason),
        };
        requests.obey(&robots);
        preview.crawl_delay = robots.crawl_delay;
        if !robots.allows(named) {
            return preview.refused(not_allowed(named.as_str()));
        }
        let listed = listed_pages(site, &requests, &robots, settings.pages).await;
        for url in listed.pages.iter().take(limits::PREVIEW_PAGES) {
            let is_allowed = robots.allows(url);
            preview.pages.push(PreviewPage { url: url.to_string(), is_allowed });
            yield_now().await;
        }
        preview.listed = u64::try_from(listed.pages.len()).unwrap_or(u64::MAX);
        preview.is_whole = listed.is_whole;
        preview
    }
}
