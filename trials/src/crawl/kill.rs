//! Kills in the middle of a crawl.

use std::time::Duration;

use anyhow::ensure;
use cicerone_storage::DatabaseUrl;
use cicerone_tests::Site;
use cicerone_tests::process::Program;

use super::{add, start, trained};
use crate::crash::{check_events, random_below};

/// Pages of the site.
const PAGES: usize = 60;
/// The delay of the site for each page.
const DELAY: Duration = Duration::from_millis(20);
/// The longest time before a kill: about as long as a crawl takes.
const CRAWL_MILLIS: u64 = 500;

/// In each round, adds the site, kills the server during its crawl, starts it again and waits until
/// the source is trained with every page. At the end each source must have one event.
pub(super) async fn run(program: &Program, rounds: usize) -> anyhow::Result<()> {
    let site = Site::start().await;
    let links: Vec<String> = (0..PAGES).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    for (number, link) in links.iter().enumerate() {
        let text =
            format!("Page number {number} has a text of its own, long enough to be read as one.");
        site.page(link, link, &text, &links);
    }
    site.page(
        "/",
        "Start",
        "The first page of a site with many others, all of which it links to.",
        &links,
    );
    site.set_delay(DELAY);
    let mut server = start(program);
    let agent = server.client().agent().await;
    let (mut interrupted, mut again) = (0, 0);
    for round in 1..=rounds {
        site.take_visits();
        let source = add(&server.client(), &agent, &site.url("/")).await?;
        tokio::time::sleep(Duration::from_millis(random_below(CRAWL_MILLIS))).await;
        server.kill();
        let before = site.take_visits().len();
        interrupted += usize::from(before > 0 && before <= PAGES);
        server.restart();
        let client = server.client();
        trained(&client, &source).await?;
        let pages = client.list_all(&format!("/v1/sources/{source}/pages"), 100).await;
        ensure!(
            pages.len() == PAGES + 1,
            "kill {round}: {} pages instead of {}",
            pages.len(),
            PAGES + 1
        );
        again += (before + site.take_visits().len()).saturating_sub(PAGES + 1);
        if round % 10 == 0 {
            println!("{round} kills");
        }
    }
    server.kill();
    let checked = check_events(&DatabaseUrl::sqlite(server.data().join("cicerone.db")))?;
    println!(
        "{rounds} kills, {interrupted} of them in the middle of a crawl; {checked} sources, each trained whole \
         with exactly one event; {:.1} requests repeated a kill",
        again as f64 / rounds.max(1) as f64
    );
    Ok(())
}
