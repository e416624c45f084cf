//! `cicerone backup` and `restore`: what was acknowledged before is there after, and answers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::world::{own_server, program};

/// What a failed command said.
#[track_caller]
fn refused(output: &Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Adds agents, uploads and conversations until told to stop, and gives what was acknowledged, in
/// order: path and resource.
async fn load(client: Client, stop: Arc<AtomicBool>) -> Vec<(String, Value)> {
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let agent = client.post("/v1/agents", json!({ "name": "Guide" })).await.expect(201);
        let agent_id = id(&agent);
        acknowledged.push((format!("/v1/agents/{agent_id}"), agent));
        let reply = client.ask(&agent_id, "Hello there").await;
        acknowledged.push((format!("/v1/conversations/{}", id(&reply)), Value::Null));
        let file = client.upload("a.txt", "Some words.").await.expect(201);
        acknowledged.push((format!("/v1/files/{}", id(&file)), file));
    }
    acknowledged
}

async fn restored(file: &Path) -> Server {
    let folder = tempfile::tempdir().unwrap();
    program().succeed(folder.path(), &["restore", file.to_str().unwrap()]);
    Server::of(&program()).start_in(folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_before_a_backup_is_there_after_it_and_answers() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let file = client.upload("prices.txt", "A ticket costs twelve euros.").await.expect(201);
    let source = client.source(&agent, "file", &id(&file)).await;
    client.trained(&source).await;
    let spoken = client.ask(&agent, "When does the museum open?").await;

    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> =
        (0..4).map(|_| tokio::spawn(load(server.client(), Arc::clone(&stop)))).collect();
    let before = client.post("/v1/agents", json!({ "name": "The last before" })).await.expect(201);
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    let said = server.succeed(&["backup", archive.to_str().unwrap()]);
    assert!(said.contains("uploads"), "{said}");
    let after = client.post("/v1/agents", json!({ "name": "The first after" })).await.expect(201);
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.push(writer.await.unwrap());
    }

    let other = restored(&archive).await;
    let restored = other.client();
    let path = |agent: &Value| format!("/v1/agents/{}", id(agent));
    assert_eq!(restored.get(&path(&before)).await.expect(200), before);
    restored.get(&path(&after)).await.refused(404, "resource_not_found");
    let reply = restored.ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["reply"], spoken["reply"]);
    let reply = restored.ask(&agent, "What does a ticket cost?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "{reply}");
    let conversation = format!("/v1/conversations/{}", id(&spoken));
    assert_eq!(
        restored.get(&conversation).await.expect(200),
        client.get(&conversation).await.expect(200)
    );
    // Each writer's work is there up to one moment, and nothing behind it.
    for writer in acknowledged {
        let mut is_behind = false;
        for (path, resource) in writer {
            let found = restored.get(&path).await;
            if found.status == 404 {
                is_behind = true;
                continue;
            }
            assert!(!is_behind, "`{path}` is there, and what came before it is not");
            let found = found.expect(200);
            if resource != Value::Null {
                assert_eq!(found, resource);
            }
        }
    }
}

#[tokio::test]
async fn a_file_of_a_restored_upload_can_still_become_a_source() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let file = id(&client.upload("a.txt", "The museum opens at nine.").await.expect(201));
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    server.succeed(&["backup", archive.to_str().unwrap()]);
    let other = restored(&archive).await;
    let client = other.client();
    let source = client.source(&agent, "file", &file).await;
    client.trained(&source).await;
    let reply = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "{reply}");
}

#[tokio::test]
async fn a_backup_is_its_owner_s_alone_and_what_is_there_is_never_written_over() {
    let server = own_server();
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    let archive = archive.to_str().unwrap();
    server.succeed(&["backup", archive]);
    let bytes = fs::read(archive).unwrap();
    let mode = fs::metadata(archive).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let said = refused(&server.command(&["backup", archive]), 2);
    assert!(said.contains("exists; name a new file"), "{said}");
    assert_eq!(fs::read(archive).unwrap(), bytes);

    let said = refused(&server.command(&["restore", archive]), 1);
    assert!(said.contains("another cicerone uses"), "{said}");
    let place = tempfile::tempdir().unwrap();
    program().succeed(place.path(), &["restore", archive]);
    let said = refused(&program().run(place.path(), &["restore", archive]), 2);
    assert!(said.contains("restore into an empty data directory"), "{said}");
}

#[tokio::test]
async fn a_file_that_is_no_whole_backup_restores_nothing() {
    let server = own_server();
    server.client().upload("a.txt", "Some words.").await.expect(201);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.tar.gz");
    server.succeed(&["backup", whole.to_str().unwrap()]);
    let bytes = fs::read(&whole).unwrap();
    let mut cases = vec![b"words".to_vec(), Vec::new(), bytes[..bytes.len() / 2].to_vec()];
    let changed = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        changed
    };
    // The checksum over all of it.
    cases.push(changed(bytes.len() - 8));
    for (number, bytes) in cases.iter().enumerate() {
        let file = folder.path().join(format!("{number}.tar.gz"));
        fs::write(&file, bytes).unwrap();
        let place = tempfile::tempdir().unwrap();
        let output = program().run(place.path(), &["restore", file.to_str().unwrap()]);
        let said = refused(&output, 1);
        assert!(said.contains(file.to_str().unwrap()) || said.contains("database"), "{said}");
        assert!(!place.path().join("cicerone.db").exists(), "case {number}: {said}");
    }
    // A changed byte may leave the content what it was; never is another one restored.
    let place = tempfile::tempdir().unwrap();
    program().succeed(place.path(), &["restore", whole.to_str().unwrap()]);
    let expected = fs::read(place.path().join("cicerone.db")).unwrap();
    for part in 1..20 {
        let file = folder.path().join("changed.tar.gz");
        fs::write(&file, changed(bytes.len() * part / 20)).unwrap();
        let place = tempfile::tempdir().unwrap();
        let output = program().run(place.path(), &["restore", file.to_str().unwrap()]);
        let restored = fs::read(place.path().join("cicerone.db")).ok();
        assert_eq!(output.status.success(), restored.is_some(), "{output:?}");
        assert!(restored.is_none_or(|restored| restored == expected), "part {part}");
    }
    let missing = folder.path().join("missing.tar.gz");
    let place = tempfile::tempdir().unwrap();
    let said = refused(&program().run(place.path(), &["restore", missing.to_str().unwrap()]), 1);
    assert!(said.contains("cannot read"), "{said}");
    let said = refused(&program().run(place.path(), &["backup", missing.to_str().unwrap()]), 1);
    assert!(said.contains("there is no database"), "{said}");
}
