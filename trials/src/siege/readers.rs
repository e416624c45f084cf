//! A thousand readers that request something large and read nothing of it.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::answers::get;
use super::arena::{Arena, Field};
use super::connections;
use super::report::{RISE_MIB, Report};
use super::sources::{Material, add, ended};

/// The number of readers, and the addresses that they come from.
const READERS: usize = 1_000;
const ADDRESSES: usize = 20;
/// Bytes of the list.
const LIST_BYTES: usize = 3_000_000;
/// The largest file that is served without a key.
const FILE: &str = "/docs/swagger-ui-bundle.js";

/// A file that needs no key.
pub(super) async fn of_a_file(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let size = arena.victim.client().anonymous().get(FILE).await.body.len();
    ensure!(size > 500_000, "`{FILE}` has {size} bytes: it is not a large file");
    let request = format!("GET {FILE} HTTP/1.1\r\nHost: here\r\n\r\n");
    besiege(&field, &arena, &request, size).await
}

/// A list with a key.
pub(super) async fn of_a_list(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let answer = "The museum opens at nine. ".repeat(LIST_BYTES / 26);
    let pairs = json!([{ "question": "When?", "answer": answer }]).to_string();
    let added = add(&attacker, &agent, Material::Pairs(pairs)).await?;
    let id = added.ok().context("the list's source was refused")?;
    ended(&attacker, &id, field.seconds(120, 60)).await?;
    let path = format!("/v1/agents/{agent}/sources");
    let list: Value = attacker.get(&path).await.expect(200);
    let size = list.to_string().len();
    besiege(&field, &arena, &get(&path, &attacker), size).await
}

async fn besiege(
    field: &Field,
    arena: &Arena,
    request: &str,
    size: usize,
) -> anyhow::Result<Report> {
    let (readers, time) = (field.count(READERS, 300), field.seconds(20, 5));
    let mut report = Report::default();
    let attack = connections::hold(arena.server.address(), readers, ADDRESSES, request, time);
    let fates = arena.besiege(&mut report, RISE_MIB, attack).await?;
    report.attempted(format!(
        "{readers} readers of {} kB that read nothing for {} s: {} were connected, {} still at the end",
        size / 1_000,
        time.as_secs(),
        fates.made,
        fates.open
    ));
    arena.rest(&mut report).await?;
    Ok(report)
}
