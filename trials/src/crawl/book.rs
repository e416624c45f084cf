//! The Rust book, crawled from a site on loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Program;
use cicerone_tests::{Resource, Site};
use serde_json::Value;

use super::beside::wget;
use super::{add, refresh_source, start, trained};

/// Crawls the book, refreshes it unchanged and with one page changed, and prints the cost of each.
pub(super) async fn run(program: &Program) -> anyhow::Result<()> {
    let folder = book()?;
    let site = Site::start().await;
    site.folder(&folder);
    let wget = wget(&site).await?;
    println!("wget -r: {:.2} s", wget.as_secs_f64());
    site.take_visits();

    let server = start(program);
    let client = server.client();
    let agent = client.agent().await;
    let begun = Instant::now();
    let source = add(&client, &agent, &site.url("/")).await?;
    trained(&client, &source).await?;
    let crawl = begun.elapsed();
    let ratio = crawl.as_secs_f64() / wget.as_secs_f64();
    println!("crawl, extract, index: {:.2} s, {ratio:.2} times wget", crawl.as_secs_f64());
    report_pages(&client, &site, &source, &folder).await?;
    site.take_visits();

    let before = documents(&client, &source).await;
    refresh_source(&client, &source).await;
    trained(&client, &source).await?;
    let bytes: usize = site
        .take_visits()
        .iter()
        .filter(|visit| visit.status == 200)
        .map(|visit| visit.body_bytes)
        .sum();
    let after = documents(&client, &source).await;
    println!(
        "refresh, nothing changed: {bytes} bytes of bodies, {} documents replaced",
        replaced(&before, &after)
    );
    ensure!(bytes == 0 && before == after, "an unchanged site was fetched again");

    let changed = "/ch01-01-installation.html";
    let page = std::fs::read_to_string(folder.join(changed.trim_start_matches('/')))?;
    let sentence = "<main><p>A sentence that was not there before.</p>";
    site.put(changed, Resource::html(page.replacen("<main>", sentence, 1)));
    refresh_source(&client, &source).await;
    trained(&client, &source).await?;
    let fetched = site.take_visits().iter().filter(|visit| visit.status == 200).count();
    let last = documents(&client, &source).await;
    println!(
        "refresh, one page changed: {fetched} bodies, {} documents replaced",
        replaced(&after, &last)
    );
    ensure!(
        fetched == 1 && replaced(&after, &last) == 1,
        "more than the changed page was fetched again"
    );
    Ok(())
}

/// The folder of the book in this toolchain's documentation.
fn book() -> anyhow::Result<PathBuf> {
    let output =
        Command::new("rustc").args(["--print", "sysroot"]).output().context("running rustc")?;
    let sysroot = String::from_utf8(output.stdout)?;
    let folder = Path::new(sysroot.trim()).join("share/doc/rust/html/book");
    ensure!(
        folder.is_dir(),
        "`{}` does not exist: `rustup component add rust-docs`",
        folder.display()
    );
    Ok(folder)
}

/// Each document's position and text, by URL.
async fn documents(client: &Client, source: &str) -> BTreeMap<String, String> {
    let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 100).await;
    let entry = |document: &Value| {
        (document["url"].as_str().unwrap_or_default().to_owned(), document["text"].to_string())
    };
    listed.iter().map(entry).collect()
}

fn replaced(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> usize {
    after.iter().filter(|(url, text)| before.get(*url) != Some(text)).count()
}

/// Prints the outcome of the pages, and which pages of the folder were not found.
async fn report_pages(
    client: &Client,
    site: &Site,
    source: &str,
    folder: &Path,
) -> anyhow::Result<()> {
    let pages = client.list_all(&format!("/v1/sources/{source}/pages"), 100).await;
    let mut by_status: BTreeMap<(String, String), usize> = BTreeMap::new();
    for page in &pages {
        let url = page["url"].as_str().context("a page without an address")?;
        ensure!(url.starts_with(&site.url("")), "`{url}` is outside the site");
        let field = |name: &str| page[name].as_str().unwrap_or_default().to_owned();
        *by_status.entry((field("status"), field("reason"))).or_default() += 1;
    }
    for ((status, reason), count) in by_status {
        println!("  {count:4} {status} {reason}");
    }
    let met: BTreeSet<&str> = pages.iter().filter_map(|page| page["url"].as_str()).collect();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_index = name == "index.html" && met.contains(site.url("/").as_str());
        if name.ends_with(".html")
            && !is_index
            && !met.contains(site.url(&format!("/{name}")).as_str())
        {
            println!("  not found: {name}");
        }
    }
    Ok(())
}
