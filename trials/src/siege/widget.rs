//! Visitors of a widget, who need no key: ten thousand streams that nobody reads, from many addresses, and guesses of other
//! people's conversations.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use serde_json::{Value, json};

use crate::open_files;
use crate::siege::arena::{Arena, Field};
use crate::siege::connections;
use crate::siege::model::{self, SLOW};
use crate::siege::report::{RISE_MIB, Report};

/// The streams, and the addresses that they come from: fewer of each than the limit of an address.
const STREAMS: usize = 10_000;
const QUICK_STREAMS: usize = 1_000;
const ADDRESSES: usize = 250;
/// Open files that the attackers need, and the server as many.
const FILES: u64 = 12_000;
/// Requests of one address with guessed ids and credentials.
const GUESSES: usize = 400;
/// By how much more than a siege of one request the memory may rise: ten thousand connections have buffers.
const FACTOR: f64 = 4.0;

/// Runs the siege, on a widget whose owner has set the highest limits, with an upstream that answers visitors slowly.
pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    open_files::allow(FILES)?;
    let streams = field.count(STREAMS, QUICK_STREAMS);
    let server = field.server()?.env("OPENAI_BASE_URL", model::start().await?);
    let arena = Arena::open(&field, server).await?;
    let owner = arena.attacker("attacker");
    let agent = owner.agent().await;
    let token = widget(&owner, &agent).await?;
    let credential = visitor(&owner, &token).await?;
    let request = slow_stream(&token, &credential);
    let time = field.seconds(40, 10);
    let mut report = Report::default();
    let flood = async {
        let address = arena.server.address();
        let streams = connections::hold(address, streams, ADDRESSES, &request, time);
        tokio::join!(streams, owned(&owner, &agent, time), guess(&owner, &token, &credential))
    };
    let (fates, served, guesses) = arena.besiege(&mut report, FACTOR * RISE_MIB, flood).await?;
    let (served, guesses) = (served?, guesses?);
    report.check(served.0 == served.1, "messages of the widget's owner were refused");
    report.check(
        guesses == 0,
        format!("{guesses} guesses were answered otherwise than 401, 404 or 429"),
    );
    report.check(fates.served > 0, "no visitor was answered");
    report.attempted(format!(
        "{streams} slow streams by a widget's visitors: {} connections were opened, {} streams began and {} were \
         refused; {} of {} messages of its owner were answered at the same time; {GUESSES} guessed conversations and \
         credentials",
        fates.made, fates.served, fates.refused, served.0, served.1,
    ));
    arena.rest(&mut report).await?;
    Ok(report)
}

/// A widget with the highest limits, for any page; returns its token.
async fn widget(owner: &Client, agent: &str) -> anyhow::Result<String> {
    let limits = json!({
        "messages_per_day": 1_000_000, "messages_per_visitor_per_hour": 10_000,
        "messages_per_address_per_minute": 10_000, "replies_at_once": 1_000,
    });
    let body = json!({ "name": "Site", "origins": ["*"], "limits": limits });
    let path = format!("/v1/agents/{agent}/widgets");
    let made = owner.request("POST", &path).json(&body).try_send().await?;
    ensure!(made.status == 201, "making a widget was answered {}", made.status);
    text(&made.json(), "token")
}

/// The credential of a new visitor.
async fn visitor(owner: &Client, token: &str) -> anyhow::Result<String> {
    let path = format!("/w/{token}/visitors");
    let made = owner.anonymous().request("POST", &path).try_send().await?;
    ensure!(made.status == 200, "making a visitor was answered {}", made.status);
    text(&made.json(), "credential")
}

fn text(value: &Value, name: &str) -> anyhow::Result<String> {
    Ok(value[name].as_str().with_context(|| format!("no `{name}`"))?.to_owned())
}

/// A complete request for a slow streamed reply to a visitor.
fn slow_stream(token: &str, credential: &str) -> String {
    let body = json!({ "message": format!("Tell it {SLOW}"), "stream": true }).to_string();
    format!(
        "POST /w/{token}/messages HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {credential}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    )
}

/// Sends messages with the owner's key, one after the other. Returns how many were answered, of how many. A message whose
/// connection was closed is sent again, as clients do: idle connections give way to others.
async fn owned(owner: &Client, agent: &str, time: Duration) -> anyhow::Result<(usize, usize)> {
    let body = json!({ "agent_id": agent, "message": "When does the museum open?" });
    let (mut answered, mut sent) = (0, 0);
    let end = tokio::time::Instant::now() + time;
    while tokio::time::Instant::now() < end {
        let send = || owner.request("POST", "/v1/conversations").json(&body).try_send();
        let answer = match send().await {
            Ok(answer) => answer,
            Err(_) => send().await?,
        };
        sent += 1;
        answered += usize::from(answer.status == 200);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok((answered, sent))
}

/// Guesses conversations, and credentials. Returns how many guesses were answered as if they were right. Those whose
/// connection was closed were not answered.
async fn guess(owner: &Client, token: &str, credential: &str) -> anyhow::Result<usize> {
    let stranger = owner.anonymous();
    let mut right = 0;
    for number in 0..GUESSES {
        let path = format!("/w/{token}/conversations/conv_{number:010}");
        let forged = format!("vst_{number:010}_{}", "A".repeat(22));
        let credential = if number % 2 == 0 { credential } else { &forged };
        let request = stranger.request("GET", &path);
        let request = request.header("Authorization", &format!("Bearer {credential}"));
        let Ok(answer) = request.try_send().await else { continue };
        right += usize::from(!matches!(answer.status, 401 | 404 | 429));
    }
    Ok(right)
}
