//! Refreshes during questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context as _, ensure};
use cicerone_tests::Site;
use cicerone_tests::client::Client;
use cicerone_tests::process::Program;

use super::{add, refresh_source, start, trained};

/// Concurrent askers.
const ASKERS: usize = 4;

/// In each round, changes a page and refreshes. Meanwhile every answer must be from the old content
/// or the new, and the first one after the end from the new.
pub(super) async fn run(program: &Program, rounds: usize) -> anyhow::Result<()> {
    let site = Site::start().await;
    for number in 0..20 {
        let text = format!(
            "Hall {number} shows the paintings that were made in the year {}.",
            1500 + number
        );
        site.page(&format!("/{number}"), &format!("Hall {number}"), &text, &["/"]);
    }
    let links: Vec<String> =
        (0..20).map(|number| format!("/{number}")).chain(["/price".to_owned()]).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page(
        "/",
        "Museum",
        "The museum has twenty halls, which are open on every day of the week.",
        &links,
    );
    price(&site, 0);
    let server = start(program);
    let client = server.client();
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/")).await?;
    trained(&client, &source).await?;

    // An answer may contain the price of the previous round or of the current one.
    let round = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let askers: Vec<_> = (0..ASKERS)
        .map(|_| {
            tokio::spawn(ask(server.client(), agent.clone(), Arc::clone(&round), Arc::clone(&stop)))
        })
        .collect();
    for next in 1..=rounds {
        price(&site, next);
        round.store(next, Ordering::SeqCst);
        refresh_source(&client, &source).await;
        trained(&client, &source).await?;
        let said = said(&client, &agent).await?;
        ensure!(said == next, "after refresh {next} the answer is still {said}");
    }
    stop.store(true, Ordering::SeqCst);
    let mut answers = 0;
    for asker in askers {
        answers += asker.await.context("an asker's task")??;
    }
    println!(
        "{rounds} refreshes, {answers} concurrent answers, each from the old content or the new"
    );
    Ok(())
}

fn price(site: &Site, round: usize) {
    let text = format!(
        "A ticket for adults costs exactly {} euros, and children enter free of charge.",
        1_000 + round
    );
    site.page("/price", "Prices", &text, &["/"]);
}

/// Asks questions until the end. Returns the number of answers.
async fn ask(
    client: Client,
    agent: String,
    round: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<usize> {
    let mut answers = 0;
    while !stop.load(Ordering::SeqCst) {
        let before = round.load(Ordering::SeqCst);
        let said = said(&client, &agent).await?;
        let after = round.load(Ordering::SeqCst);
        ensure!(
            said + 1 >= before && said <= after,
            "an answer between the rounds {before} and {after} says {said}"
        );
        answers += 1;
    }
    Ok(answers)
}

/// The round whose price is in an answer.
async fn said(client: &Client, agent: &str) -> anyhow::Result<usize> {
    let answer = client.ask(agent, "How much does a ticket for adults cost?").await;
    let reply = answer["reply"].as_str().unwrap_or_default();
    let digits: String = reply.chars().filter(char::is_ascii_digit).collect();
    let price: usize = digits.parse().with_context(|| format!("no price in {answer}"))?;
    price.checked_sub(1_000).with_context(|| format!("no price in {answer}"))
}
