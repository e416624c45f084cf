//! A folder of pages, learnt by the service and read by `wget -r` and Scrapy, in turn.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::Site;
use cicerone_tests::client::Client;
use cicerone_tests::process::{Program, Server};
use serde_json::Value;
use tokio::process::Command;

use super::{add, start, trained};
use crate::others;

/// Where Debian's package `git-doc` puts the manual of Git.
const MANUAL: &str = "/usr/share/doc/git/html";

/// A folder as a site, and everything that reads it.
pub(crate) struct Beside {
    site: Site,
    server: Server,
    python: Option<PathBuf>,
    prints: bool,
}

/// How long each took for the site.
pub(crate) struct Times {
    /// From POST to `trained`.
    pub(crate) ours: Duration,
    pub(crate) wget: Duration,
    /// `None` if it cannot be installed.
    pub(crate) scrapy: Option<Duration>,
}

/// Whether the manual of Git is on this machine.
pub(crate) fn has_manual() -> bool {
    Path::new(MANUAL).join("index.html").is_file()
}

impl Beside {
    /// Serves the folder, or else the manual of Git, and starts a server. `prints` says whether the first round tells how many
    /// pages are read.
    pub(crate) async fn start(
        program: &Program,
        folder: Option<PathBuf>,
        prints: bool,
    ) -> anyhow::Result<Self> {
        let folder = folder.unwrap_or_else(|| PathBuf::from(MANUAL));
        ensure!(
            folder.join("index.html").is_file(),
            "`{}` has no index.html: name another folder, or `apt-get install git-doc`",
            folder.display()
        );
        let site = Site::start().await;
        site.folder(&folder);
        let python = others::install().await?.map(|folder| folder.join("python/bin/python"));
        Ok(Self { site, server: start(program), python, prints })
    }

    /// Reads the site once with each program.
    pub(crate) async fn round(&mut self) -> anyhow::Result<Times> {
        let client = self.server.client();
        let agent = client.agent().await;
        let prints = std::mem::take(&mut self.prints);
        let begun = Instant::now();
        let source = add(&client, &agent, &self.site.url("/")).await?;
        trained(&client, &source).await?;
        let ours = begun.elapsed();
        if prints {
            println!("{} pages are trained", pages(&client, &source).await);
        }
        let wget = wget(&self.site).await?;
        let scrapy = match &self.python {
            Some(python) => Some(scrapy(python, &self.site, prints).await?),
            None => None,
        };
        Ok(Times { ours, wget, scrapy })
    }
}

/// Crawls the folder `rounds` times with each program, and prints the medians.
pub(super) async fn run(
    program: &Program,
    folder: Option<PathBuf>,
    rounds: usize,
) -> anyhow::Result<()> {
    let mut beside = Beside::start(program, folder, true).await?;
    let (mut ours, mut wgets, mut scrapies) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let times = beside.round().await?;
        ours.push(times.ours);
        wgets.push(times.wget);
        scrapies.extend(times.scrapy);
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
