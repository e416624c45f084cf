//! A folder of pages, learnt by the service and read by `wget -r` and Scrapy, in turn.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::Site;
use cicerone_tests::client::Client;
use cicerone_tests::process::Program;
use serde_json::Value;
use tokio::process::Command;

use super::{add, start, trained};
use crate::others;

/// Where Debian's package `git-doc` puts the manual of Git.
const MANUAL: &str = "/usr/share/doc/git/html";

/// Crawls the folder `rounds` times with each program, and prints the medians.
pub(super) async fn run(
    program: &Program,
    folder: Option<PathBuf>,
    rounds: usize,
) -> anyhow::Result<()> {
    let folder = folder.unwrap_or_else(|| PathBuf::from(MANUAL));
    ensure!(
        folder.join("index.html").is_file(),
        "`{}` has no index.html: name another folder, or `apt-get install git-doc`",
        folder.display()
    );
    let site = Site::start().await;
    site.folder(&folder);
    let server = start(program);
    let client = server.client();
    let python = others::install().await?.map(|folder| folder.join("python/bin/python"));
    let (mut ours, mut wgets, mut scrapies) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let agent = client.agent().await;
        let begun = Instant::now();
        let source = add(&client, &agent, &site.url("/")).await?;
        trained(&client, &source).await?;
        ours.push(begun.elapsed());
        if round == 0 {
            println!("{} pages are trained", pages(&client, &source).await);
        }
        wgets.push(wget(&site).await?);
        if let Some(python) = &python {
            scrapies.push(scrapy(python, &site, round == 0).await?);
        }
    }
    let base = median(&mut ours);
    println!("from POST to `trained`: {:.2} s", base.as_secs_f64());
    for (name, times) in [("wget -r", &mut wgets), ("Scrapy", &mut scrapies)] {
        if times.is_empty() {
            continue;
        }
        let time = median(times).as_secs_f64();
        println!("{name}: {time:.2} s; ours takes {:.2} of that", base.as_secs_f64() / time);
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// How many pages a crawl indexed.
async fn pages(client: &Client, source: &str) -> usize {
    let pages = client.list_all(&format!("/v1/sources/{source}/pages"), 100).await;
    pages.iter().filter(|page| page["status"] == "indexed").count()
}

/// How long `wget -r` takes for the site.
pub(super) async fn wget(site: &Site) -> anyhow::Result<Duration> {
    let folder = tempfile::tempdir()?;
    let begun = Instant::now();
    let status = Command::new("wget")
        .args(["-q", "-r", "-np", "-P"])
        .arg(folder.path())
        .arg(site.url("/"))
        .status()
        .await
        .context("running wget: `apt-get install wget`")?;
    // Status 8: a linked page does not exist.
    ensure!(matches!(status.code(), Some(0 | 8)), "wget ended with {status}");
    Ok(begun.elapsed())
}

/// How long Scrapy takes to read the texts of the site, without the start of Python.
async fn scrapy(python: &Path, site: &Site, prints: bool) -> anyhow::Result<Duration> {
    let output = Command::new(python)
        .arg(others::scripts().join("crawl.py"))
        .arg(site.url("/"))
        .output()
        .await
        .context("running Scrapy")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "Scrapy ended with {}: {error}", output.status);
    let figures: Value = serde_json::from_slice(&output.stdout).context("Scrapy's figures")?;
    if prints {
        println!("Scrapy read {} pages", figures["pages"]);
    }
    let seconds = figures["seconds"].as_f64().context("no `seconds`")?;
    Ok(Duration::try_from_secs_f64(seconds)?)
}
