//! Websites that answer slowly, together with a small website of the other account.

use std::time::{Duration, Instant};

use cicerone_tests::site::Site;

use crate::siege::arena::{Arena, Field};
use crate::siege::report::{RISE_MIB, Report};
use crate::siege::sources::{End, Material, add, carry_through};

/// The number of slow sites, each crawled by its own source.
const SITES: usize = 12;
/// Their delay before an answer, and the pages of each.
const DELAY: Duration = Duration::from_secs(8);
const PAGES: usize = 200;
/// The pages of the other account's site.
const OWN_PAGES: usize = 5;
/// How soon its crawl must end.
const CRAWLED: Duration = Duration::from_secs(10);

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let server = field.server()?.env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8");
    let arena = Arena::open(&field, server).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let own = site(OWN_PAGES).await;
    let quick = crawl(&arena, &own, field.seconds(60, 30)).await?;
    let mut slow = Vec::new();
    for _ in 0..SITES {
        let site = site(PAGES).await;
        site.set_delay(DELAY);
        slow.push(site);
    }
    let mut report = Report::default();
    let attack = async {
        for site in &slow {
            // A refused crawl delays nobody.
            let _ = add(&attacker, &agent, Material::Website(site.url("/"))).await?;
        }
        tokio::time::sleep(field.seconds(5, 2)).await;
        crawl(&arena, &own, field.seconds(120, 40)).await
    };
    let during = arena.besiege(&mut report, RISE_MIB, attack).await?;
    report.attempted(format!("{SITES} sites that answer after {} s", DELAY.as_secs()));
    match during {
        Ok(during) => {
            report.attempted(format!("the victim's crawl {quick:.1?} quiet, {during:.1?} during"));
            report.check(during <= CRAWLED, format!("the victim's crawl took {during:.1?}"));
        }
        Err(error) => report.fell(format!("the victim's crawl: {error:#}")),
    }
    Ok(report)
}

/// How long the victim's crawl of a site takes.
async fn crawl(arena: &Arena, site: &Site, patience: Duration) -> anyhow::Result<Duration> {
    let (client, agent) = (arena.victim.client(), arena.victim.agent());
    let begun = Instant::now();
    let end = carry_through(&client, agent, Material::Website(site.url("/")), patience).await?;
    anyhow::ensure!(end == End::Trained, "the victim's crawl was {}", end.word());
    Ok(begun.elapsed())
}

/// A site with this many pages, all linked from the first one.
async fn site(pages: usize) -> Site {
    let site = Site::start().await;
    let links: Vec<_> = (1..pages).map(|number| format!("/{number}")).collect();
    let all: Vec<_> = links.iter().map(String::as_str).collect();
    site.page("/", "Halls", "The museum has halls.", &all);
    for link in &links {
        site.page(link, link, &format!("In hall {link} stands a boat."), &[]);
    }
    site
}
