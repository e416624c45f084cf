//! The `robots.txt` and the sitemaps of a site.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::crawl::Validators;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::PRODUCT_TOKEN;
use super::fetch::{Excess, FetchRequest};
use super::requests::{Requests, is_transient_status};
use super::robots::Robots;
use super::site::Site;
use super::sitemap::Sitemap;

/// How much of `robots.txt` is transferred.
const ROBOTS_BYTES: usize = 500 * 1_024;
/// How many of the sitemaps that `robots.txt` or an index names are looked at.
const LOOKED_AT: usize = 1_000;
/// The time limit for all sitemaps together.
const SITEMAP_TIME: Duration = Duration::from_secs(60);

/// The site's `robots.txt`. If there is none, everything is allowed. If it cannot be fetched,
/// nothing is allowed, and the error says so (RFC 9309, section 2.3.1).
pub(super) async fn robots(site: &Site, requests: &Requests) -> Result<Robots, String> {
    let url = site.at("/robots.txt");
    let request = FetchRequest {
        url: url.clone(),
        accept: "text/plain,*/*;q=0.1",
        validators: Validators::default(),
        wanted: |_| true,
        limit: ROBOTS_BYTES,
        excess: Excess::Cut,
        places: Arc::clone(&requests.places),
    };
    // The rules of a file on another host apply to this host.
    match requests.follow(request, |_| true).await {
        Ok(answer) => match answer.status {
            200..=299 => {
                let body = answer.body.unwrap_or_default();
                let parsed = move || Robots::parse(&body, PRODUCT_TOKEN);
                spawn_blocking(parsed).await.map_err(|cause| {
                    format!("`{url}` could not be read ({cause}); try again later")
                })
            }
            status if status == 429 || status >= 500 => Err(format!(
                "`{url}` answered {status}; no page may be requested without it; try again later"
            )),
            _ => Ok(Robots::default()),
        },
        Err(error) if error.is_transient => Err(format!(
            "`{url}` could not be fetched ({error}), and without it no page may be requested; check \
             that the site is up and try again"
        )),
        Err(error) => Err(format!("the site cannot be reached at `{url}`: {error}")),
    }
}

/// What a site's sitemaps list.
pub(super) struct Listed {
    /// The names of the pages, in their order.
    pub(super) pages: Vec<Url>,
    /// Whether the list is complete: no sitemap failed with a transient error.
    pub(super) is_whole: bool,
}

/// The pages that the site's sitemaps list, at most `most`. Sitemaps that cannot be fetched or read
/// are skipped. Those that `robots.txt` names are always read; those that an index names are read
/// only if `robots.txt` allows it.
pub(super) async fn listed_pages(
    site: &Site,
    requests: &Requests,
    robots: &Robots,
    most: usize,
) -> Listed {
    let until = Instant::now() + SITEMAP_TIME;
    let mut waiting = named_sitemaps(site, robots);
    waiting.reverse();
    let mut seen: HashSet<Url> = waiting.iter().cloned().collect();
    let (mut pages, mut read, mut is_whole) = (Vec::new(), 0, true);
    while let Some(url) = waiting.pop() {
        if read >= requests.settings.sitemaps || pages.len() >= most {
            tracing::info!(host = site.host_key(), read, "not all sitemaps of a site are read");
            is_whole = false;
            break;
        }
        read += 1;
        let fetched = timeout_at(until, sitemap(site, requests, robots, url, most)).await;
        let Ok(fetched) = fetched else {
            is_whole = false;
            break;
        };
        let Some(sitemap) = fetched else {
            is_whole = false;
            continue;
        };
        pages.extend(sitemap.pages.into_iter().take(most - pages.len()));
        // Only as many as are read are kept. They are taken from the end, so they are in reverse order.
        let room = requests.settings.sitemaps.saturating_sub(read + waiting.len());
        let mut further = Vec::new();
        for url in sitemap.sitemaps {
            if further.len() == room {
                break;
            }
            if seen.insert(url.clone()) && robots.allows(&url) {
                further.push(url);
            }
            yield_now().await;
        }
        further.reverse();
        waiting.extend(further);
    }
    Listed { pages, is_whole }
}

/// The sitemaps that `robots.txt` names, or else the one in the usual place.
fn named_sitemaps(site: &Site, robots: &Robots) -> Vec<Url> {
    let root = site.at("/");
    let named = robots.sitemaps.iter().take(LOOKED_AT).filter_map(|url| root.join(url).ok());
    let inside: Vec<Url> = named.filter_map(|url| site.name(&url)).collect();
    let usual = site.at("/sitemap.xml");
    if inside.is_empty() && robots.allows(&usual) { vec![usual] } else { inside }
}

/// What a sitemap lists: the names of pages of the site.
#[derive(Default)]
struct Named {
    pages: Vec<Url>,
    sitemaps: Vec<Url>,
}

impl Named {
    fn of(sitemap: &Sitemap, site: &Site, most: usize) -> Self {
        let root = site.at("/");
        let inside = |address: &String| site.name(&root.join(address).ok()?);
        Self {
            pages: sitemap.pages.iter().filter_map(inside).take(most).collect(),
            sitemaps: sitemap.sitemaps.iter().filter_map(inside).take(LOOKED_AT).collect(),
        }
    }
}

/// One sitemap, with at most `most` pages. `None` if fetching it failed with a transient error.
async fn sitemap(
    site: &Site,
    requests: &Requests,
    robots: &Robots,
    url: Url,
    most: usize,
) -> Option<Named> {
    let limit = requests.settings.sitemap_bytes;
    let request = FetchRequest {
        url: url.clone(),
        accept: "application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1",
        validators: Validators::default(),
        wanted: |_| true,
        limit,
        excess: Excess::Cut,
        places: Arc::clone(&requests.places),
    };
    let may_follow = |target: &Url| site.contains(target) && robots.allows(target);
    let (body, place) = match requests.follow(request, may_follow).await {
        Ok(answer) if is_transient_status(answer.status) => return None,
        Ok(answer) => (answer.body, answer.place),
        Err(error) => {
            tracing::debug!(%url, %error, "a sitemap could not be fetched");
            return None;
        }
    };
    let Some(body) = body else { return Some(Named::default()) };
    let site = site.clone();
    let named = move || Named::of(&Sitemap::parse(&body, limit), &site, most);
    let named = spawn_blocking(named).await.ok();
    drop(place);
    named
}
