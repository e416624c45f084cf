//! Very many new agents, each with a text and a first question.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use cicerone_tests::client::Client;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::siege::arena::{Arena, Field};
use crate::siege::report::{RISE_MIB, Report};
use crate::siege::sources::{Material, add, ended};
use crate::siege::victim::Times;

/// The number of agents, and how many are created at the same time.
const AGENTS: usize = 2_000;
const MAKERS: usize = 16;
/// The number of the other account's agents, and the longest time for the first question to each.
const OWN: usize = 10;
const FIRST: Duration = Duration::from_millis(250);

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let count = field.count(AGENTS, 200);
    let victim = arena.victim.client();
    let quiet = first_questions(&victim, Duration::ZERO).await?;
    let mut report = Report::default();
    let attack = async {
        let warming = warm(&attacker, count);
        let own = first_questions(&victim, field.seconds(1, 0));
        tokio::join!(warming, own)
    };
    // Hundreds of indexes are open at the same time here, so twice the memory is allowed.
    let (warmed, during) = arena.besiege(&mut report, 2.0 * RISE_MIB, attack).await?;
    let (during, (warmed, refused)) = (during?, warmed?);
    let slowest = during.within(1.0);
    report.attempted(format!(
        "{warmed} new agents asked and {refused} requests refused; the victim's first question to an agent: \
         {:.1?} quiet, {slowest:.1?} during",
        quiet.within(1.0),
    ));
    report.check(slowest <= FIRST, format!("the victim's first question took {slowest:.1?}"));
    Ok(report)
}

/// Creates agents, gives each a text, and asks it as soon as the text is trained.
async fn warm(client: &Client, count: usize) -> anyhow::Result<(usize, usize)> {
    let mut makers = JoinSet::new();
    for maker in 0..MAKERS {
        let client = client.clone();
        makers.spawn(async move {
            let (mut warmed, mut refused) = (0, 0);
            for number in (maker..count).step_by(MAKERS) {
                let name = json!({ "name": "Guide" });
                let made = client.request("POST", "/v1/agents").json(&name).try_send().await?;
                let Some(agent) = made.json()["id"].as_str().map(str::to_owned) else {
                    refused += 1;
                    continue;
                };
                let text = format!("Hall {number} of the museum opens at nine.");
                if add(&client, &agent, Material::Text(text)).await?.is_err() {
                    refused += 1;
                    continue;
                }
                let question = json!({ "agent_id": agent, "message": "When does it open?" });
                let asked = client.request("POST", "/v1/conversations").json(&question);
                match asked.try_send().await?.status {
                    200 => warmed += 1,
                    _ => refused += 1,
                }
            }
            anyhow::Ok((warmed, refused))
        });
    }
    let mut sum = (0, 0);
    for made in makers.join_all().await {
        let (warmed, refused) = made?;
        sum = (sum.0 + warmed, sum.1 + refused);
    }
    Ok(sum)
}

/// How long the first question to each of some new agents takes.
async fn first_questions(client: &Client, pause: Duration) -> anyhow::Result<Times> {
    let mut times = Times::default();
    for _ in 0..OWN {
        sleep(pause).await;
        let agent = client.agent().await;
        let text = Material::Text("The museum opens at nine.".to_owned());
        let added = add(client, &agent, text).await?.ok().context("a text was refused")?;
        ended(client, &added, Duration::from_secs(60)).await?;
        let question = json!({ "agent_id": agent, "message": "When does the museum open?" });
        let begun = Instant::now();
        client.post("/v1/conversations", question).await.expect(200);
        times.note(begun.elapsed());
    }
    Ok(times)
}
