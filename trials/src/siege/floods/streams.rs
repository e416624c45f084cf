//! Long streamed replies, more than the server serves at the same time.

use cicerone_tests::client::Client;
use serde_json::json;

use crate::siege::arena::{Arena, Field};
use crate::siege::connections;
use crate::siege::model::{self, SLOW};
use crate::siege::report::{RISE_MIB, Report};

/// The number of streams, and the addresses that they come from.
const STREAMS: usize = 1_100;
const ADDRESSES: usize = 20;

/// Runs the siege, with an upstream that answers the attackers slowly and the victim at once.
pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let server = field.server()?.env("OPENAI_BASE_URL", model::start().await?);
    let arena = Arena::open(&field, server).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let request = slow_stream(&attacker, &agent);
    let time = field.seconds(25, 8);
    let mut report = Report::default();
    let attack = connections::hold(arena.server.address(), STREAMS, ADDRESSES, &request, time);
    // A thousand replies are in progress at the same time here, so twice the memory is allowed.
    let fates = arena.besiege(&mut report, 2.0 * RISE_MIB, attack).await?;
    report.attempted(format!("{STREAMS} slow streams by one account, {} were opened", fates.made));
    Ok(report)
}

/// A complete request for a slow streamed reply.
pub(in crate::siege) fn slow_stream(client: &Client, agent: &str) -> String {
    let body = json!({ "agent_id": agent, "message": format!("Tell it {SLOW}"), "stream": true });
    let body = body.to_string();
    format!(
        "POST /v1/conversations HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        client.key().unwrap_or_default(),
        body.len(),
    )
}
