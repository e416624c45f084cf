//! A disk without a free byte: the server starts, something can be deleted, and a backup can be made.

use std::fs;
use std::path::Path;

use cicerone_tests::Server;
use cicerone_tests::disk::{Ballast, Disk};
use serde_json::json;
use tempfile::TempDir;

use crate::world::{eventually, program};

/// The size of the disk in megabytes: the reserve for deletions and as much again.
const MEGABYTES: u32 = 40;

/// A new disk; `None` if this process may not mount one.
#[expect(clippy::print_stderr, reason = "a person who runs the tests must see what was skipped")]
fn disk() -> Option<Disk> {
    Disk::new(MEGABYTES).map_err(|error| eprintln!("skipped: {error}")).ok()
}

fn start(disk: &Path) -> Server {
    Server::of(&program()).start_in(TempDir::with_prefix_in("data-", disk).unwrap())
}

/// How the server ended before the disk was filled.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Stop,
    Kill,
}

async fn starts_and_deletes(end: End) {
    let Some(disk) = disk() else { return };
    let mut server = start(disk.path());
    let client = server.client();
    let agent = client.agent().await;
    let source = client.text(&agent, &"The museum opens at nine o'clock. ".repeat(2_000)).await;
    if end == End::Stop {
        server.terminate();
        server.wait();
    } else {
        server.kill();
    }
    let ballast = Ballast::new(disk.path()).unwrap();
    server.restart();
    let client = server.client();
    client.get(&format!("/v1/sources/{source}")).await.expect(200);
    client.post("/v1/agents", json!({ "name": "x" })).await.refused(503, "service_unavailable");
    // The disk of the archive is another one.
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    server.succeed(&["backup", archive.to_str().unwrap()]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the archive is left");
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    ballast.remove().unwrap();
    eventually("the server takes changes again", async || {
        client.post("/v1/agents", json!({ "name": "x" })).await.status == 201
    })
    .await;
    let place = tempfile::tempdir().unwrap();
    program().succeed(place.path(), &["restore", archive.to_str().unwrap()]);
    let restored = Server::of(&program()).start_in(place);
    restored.client().get(&format!("/v1/sources/{source}")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_stopped_starts_and_deletes() {
    starts_and_deletes(End::Stop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_starts_and_deletes() {
    starts_and_deletes(End::Kill).await;
}
