//! Pages of sitemaps. The addresses are untrusted, so they are requested by the guarded client.

use std::collections::{BTreeSet, VecDeque};

use cicerone_egress::{Egress, Request, Url};
use cicerone_ingestion::crawl::rules::Sitemap;

use super::found::Found;
use crate::configuration::{Environment, load};
use crate::failure::Failure;
use crate::{output, wiring};

/// The largest sitemap, in bytes, also after it was decompressed (50 MiB, the limit of the protocol).
const BYTES: usize = 50 * 1_024 * 1_024;
/// The most sitemaps that are requested.
const FILES: usize = 100;
/// The most redirects that are followed.
const REDIRECTS: usize = 5;

/// Adds the pages of a sitemap and of those that it names.
pub(super) async fn fetch(
    environment: &Environment,
    address: &str,
    most: usize,
    found: &mut Found,
) -> Result<(), Failure> {
    let mut waiting = VecDeque::from([address.to_owned()]);
    let egress = client(environment)?;
    follow(&egress, &mut waiting, most, found).await
}

/// Adds the pages of a file, and of the sitemaps that it names.
pub(super) async fn add_file(
    environment: &Environment,
    input: &str,
    bytes: &[u8],
    most: usize,
    found: &mut Found,
) -> Result<(), Failure> {
    let sitemap = Sitemap::parse(bytes, BYTES);
    if sitemap.pages.is_empty() && sitemap.sitemaps.is_empty() {
        found.refuse(input, "the file lists no addresses");
        return Ok(());
    }
    add(&sitemap.pages, most, found);
    let mut waiting = VecDeque::from(sitemap.sitemaps);
    if waiting.is_empty() {
        return Ok(());
    }
    let egress = client(environment)?;
    follow(&egress, &mut waiting, most, found).await
}

fn client(environment: &Environment) -> Result<Egress, Failure> {
    wiring::egress(&load(environment)?, None)
}

async fn follow(
    egress: &Egress,
    waiting: &mut VecDeque<String>,
    most: usize,
    found: &mut Found,
) -> Result<(), Failure> {
    let mut asked = BTreeSet::new();
    while let Some(address) = waiting.pop_front() {
        if asked.contains(&address) {
            continue;
        }
        if asked.len() == FILES {
            found.refuse(address, format!("more than {FILES} sitemaps"));
            continue;
        }
        output::note(&format!("requesting {address}"))?;
        match request(egress, &address).await {
            Ok(sitemap) if sitemap.pages.is_empty() && sitemap.sitemaps.is_empty() => {
                found.refuse(&address, "the answer lists no addresses");
            }
            Ok(sitemap) => {
                add(&sitemap.pages, most, found);
                waiting.extend(sitemap.sitemaps);
            }
            Err(reason) => found.refuse(&address, reason),
        }
        asked.insert(address);
    }
    Ok(())
}

fn add(pages: &[String], most: usize, found: &mut Found) {
    for page in pages {
        if found.websites() >= most {
            found.refuse(page, format!("more than {most} pages; `--pages` sets the limit"));
        } else {
            found.website(page);
        }
    }
}

async fn request(egress: &Egress, address: &str) -> Result<Sitemap, String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    let answer = egress.get_following(Request::get(url), REDIRECTS, |_| true).await;
    let answer = answer.map_err(|error| error.to_string())?;
    let status = answer.status.as_u16();
    if status != 200 {
        return Err(format!("the server answered {status}"));
    }
    let bytes = answer.bytes(BYTES).await.map_err(|error| error.to_string())?;
    Ok(Sitemap::parse(&bytes, BYTES))
}
