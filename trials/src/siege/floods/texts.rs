//! Large texts and large text files, added as quickly as they are accepted.

use std::time::{Duration, Instant};

use cicerone_tests::client::Client;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::bench::corpus::{self, Numbers};
use crate::siege::arena::{Arena, Field};
use crate::siege::report::{RISE_MIB, Report};
use crate::siege::sources::{Material, add};

/// The number of concurrent callers, and the characters of a text and of a file.
const CALLERS: usize = 8;
const TEXT_CHARS: usize = 100_000;
const FILE_CHARS: usize = 4_000_000;
/// The pause of a caller after a refusal.
const PAUSE: Duration = Duration::from_millis(100);

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let time = field.seconds(30, 8);
    let mut numbers = Numbers::new(field.seed);
    let text = corpus::text(&mut numbers, TEXT_CHARS);
    let file = corpus::text(&mut numbers, FILE_CHARS);
    let mut report = Report::default();
    let attack = flood(&attacker, &agent, &text, &file, time);
    // Many sources are in progress at the same time here, so twice the memory is allowed.
    let (taken, refused) = arena.besiege(&mut report, 2.0 * RISE_MIB, attack).await??;
    report.attempted(format!(
        "{taken} texts of {} kB and files of {} kB accepted in {} s, {refused} refused",
        TEXT_CHARS / 1_000,
        FILE_CHARS / 1_000,
        time.as_secs()
    ));
    Ok(report)
}

/// Adds texts and, with one caller in four, files. Returns how many were accepted and refused.
async fn flood(
    client: &Client,
    agent: &str,
    text: &str,
    file: &str,
    time: Duration,
) -> anyhow::Result<(usize, usize)> {
    let end = Instant::now() + time;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (client, agent) = (client.clone(), agent.to_owned());
        let material = if caller % 4 == 0 {
            Material::File("large.txt", file.as_bytes().to_vec())
        } else {
            Material::Text(text.to_owned())
        };
        callers.spawn(async move {
            let (mut taken, mut refused) = (0, 0);
            while Instant::now() < end {
                if add(&client, &agent, material.clone()).await?.is_ok() {
                    taken += 1;
                } else {
                    refused += 1;
                    sleep(PAUSE).await;
                }
            }
            anyhow::Ok((taken, refused))
        });
    }
    let mut sum = (0, 0);
    for outcome in callers.join_all().await {
        let (taken, refused) = outcome?;
        sum = (sum.0 + taken, sum.1 + refused);
    }
    Ok(sum)
}
