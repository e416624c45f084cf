//! `cicerone backup` and `restore`: everything that was acknowledged before is found afterwards.

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

/// The standard error of a failed command.
#[track_caller]
fn refused(output: &Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Adds agents, uploads and conversations until told to stop, and returns what was acknowledged, in
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
    // The work of each writer must exist up to some point, and nothing after it.
    for writer in acknowledged {
        let mut is_behind = false;
        for (path, resource) in writer {
            let found = restored.get(&path).await;
            if found.status == 404 {
                is_behind = true;
                continue;
            }
            assert!(!is_behind, "`{path}` exists, but not what came before");
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
    assert!(said.contains("another cicerone process uses"), "{said}");
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
    // A byte of the checksum of the file.
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
    // A changed byte may leave the content intact; but other content must never be restored.
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

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_is_refused_or_only_what_was_restored_is_answered() {
    let told = cicerone_tests::restores::restores(&program(), 12, 11).await;
    assert_eq!(told.refused + told.restored, 12);
    assert!(told.refused >= 3 && told.restored >= 4, "{told:?}");
}

#[test]
fn a_restore_beside_the_log_of_another_database_is_refused() {
    let server = own_server();
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    let archive = archive.to_str().unwrap();
    server.succeed(&["backup", archive]);
    for name in [
        "cicerone.db-wal",
        "cicerone.db-shm",
        "cicerone.db-journal",
        "index/a",
        "objects/uploads/a",
    ] {
        let place = tempfile::tempdir().unwrap();
        let stale = place.path().join(name);
        fs::create_dir_all(stale.parent().unwrap()).unwrap();
        fs::write(&stale, "of another database").unwrap();
        let said = refused(&program().run(place.path(), &["restore", archive]), 2);
        let named = name.split('/').next().unwrap();
        assert!(said.contains(named) && said.contains("empty data directory"), "{said}");
        assert!(!place.path().join("cicerone.db").exists(), "{said}");
        assert_eq!(fs::read(&stale).unwrap(), b"of another database");
    }
}

#[tokio::test]
async fn after_a_restore_that_was_broken_off_no_server_starts_and_it_can_be_repeated() {
    let server = own_server();
    let agent = server.client().agent().await;
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    let archive = archive.to_str().unwrap();
    server.succeed(&["backup", archive]);
    let place = tempfile::tempdir().unwrap();
    let path = place.path();
    // The state after a kill before the database is moved into place.
    fs::write(path.join("cicerone.db.restoring"), "").unwrap();
    fs::create_dir_all(path.join("objects/uploads")).unwrap();
    fs::write(path.join("objects/uploads/left"), "half").unwrap();
    for command in [&["serve"][..], &["account", "list"], &["migrate", "run"]] {
        let said = refused(&program().run(path, command), 1);
        assert!(said.contains("was interrupted; run `cicerone restore` again"), "{said}");
        assert!(!path.join("cicerone.db").exists());
    }
    program().succeed(path, &["restore", archive]);
    assert!(!path.join("objects/uploads/left").exists());
    // A kill after that leaves only the mark.
    fs::write(path.join("cicerone.db.restoring"), "").unwrap();
    let other = Server::of(&program()).start_in(place);
    other.client().get(&format!("/v1/agents/{agent}")).await.expect(200);
    assert!(!other.data().join("cicerone.db.restoring").exists());
}

#[tokio::test]
async fn a_backup_names_the_files_that_the_object_store_has_lost_and_has_all_others() {
    let server = own_server();
    let client = server.client();
    let kept = id(&client.upload("a.txt", "The garden closes at seven.").await.expect(201));
    let lost = id(&client.upload("b.txt", "The museum has two floors.").await.expect(201));
    fs::remove_file(server.data().join("objects/uploads").join(&lost)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("backup.tar.gz");
    let said = refused(&server.command(&["backup", archive.to_str().unwrap()]), 3);
    assert!(said.contains(&lost) && !said.contains(&kept), "{said}");
    let other = restored(&archive).await;
    let content = other.client().get(&format!("/v1/files/{kept}/content")).await;
    assert_eq!((content.status, content.text()), (200, "The garden closes at seven."));
    other.client().get(&format!("/v1/files/{lost}")).await.expect(200);
    // Without the file, a backup is complete again.
    client.delete(&format!("/v1/files/{lost}")).await.expect_nothing();
    let archive = folder.path().join("again.tar.gz");
    server.succeed(&["backup", archive.to_str().unwrap()]);
}

#[test]
fn half_made_copies_are_swept_at_a_start_and_by_a_backup() {
    let place = tempfile::tempdir().unwrap();
    let leave = |name: &str| {
        let folder = place.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("cicerone.db"), "a copy of everything").unwrap();
        folder
    };
    let left = ["backup-aB3dE6", "restore-aB3dE6", "cicerone.db.restore-aB3dE6"].map(leave);
    let data = tempfile::tempdir().unwrap();
    for folder in &left {
        fs::rename(folder, data.path().join(folder.file_name().unwrap())).unwrap();
    }
    let server = Server::of(&program()).start_in(data);
    for folder in left {
        assert!(!server.data().join(folder.file_name().unwrap()).exists());
    }
    let killed = server.data().join("backup-fG7hI9");
    fs::create_dir(&killed).unwrap();
    fs::write(killed.join("cicerone.db"), "a copy of everything").unwrap();
    let archive = place.path().join("backup.tar.gz");
    server.succeed(&["backup", archive.to_str().unwrap()]);
    assert!(!killed.exists());
    let names: Vec<_> =
        fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["backup.tar.gz"], "only the archive is left");
}

#[test]
fn a_killed_backup_leaves_no_archive_and_no_copy_behind() {
    let server = own_server();
    let folder = tempfile::tempdir().unwrap();
    // At several moments of its work; the checks apply at each, even if it has already ended.
    for millis in [1, 5, 10, 20, 40, 80] {
        let archive = folder.path().join(format!("{millis}.tar.gz"));
        let mut command = program().command(server.data(), &["backup", archive.to_str().unwrap()]);
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(millis));
        let _ = child.kill();
        let _ = child.wait();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name.ends_with(".tar.gz"), "`{name}` is left behind");
        }
        // An archive under its name is whole.
        if archive.exists() {
            let place = tempfile::tempdir().unwrap();
            let restore = ["restore", archive.to_str().unwrap()];
            let restored = program().command(place.path(), &restore).output().unwrap();
            assert!(restored.status.success(), "{restored:?}");
        }
    }
    let archive = folder.path().join("whole.tar.gz");
    server.succeed(&["backup", archive.to_str().unwrap()]);
    for entry in fs::read_dir(server.data()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with("backup-"), "`{name}` is left behind");
    }
}

#[cfg(unix)]
#[test]
fn one_server_uses_a_database_however_it_is_spelled() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("shared.db");
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink("shared.db", &link).unwrap();
    let url = |path: &Path| format!("sqlite:{}", path.display());
    let server = Server::of(&program()).env("CICERONE_DATABASE_URL", url(&link)).start();
    for path in [&database, &link] {
        let said = Server::of(&program()).env("CICERONE_DATABASE_URL", url(path)).start_fails();
        assert!(said.contains("another cicerone process uses"), "{said}");
        assert!(said.contains("CICERONE_DATABASE_URL"), "{said}");
    }
    // Commands that may run beside a server still work.
    server.succeed(&["account", "create", "beside"]);
    let archive = folder.path().join("backup.tar.gz");
    server.succeed(&["backup", archive.to_str().unwrap()]);
    let place = tempfile::tempdir().unwrap();
    let mut command = program().command(place.path(), &["restore", archive.to_str().unwrap()]);
    let said = refused(&command.env("CICERONE_DATABASE_URL", url(&database)).output().unwrap(), 1);
    assert!(said.contains("another cicerone process uses"), "{said}");
    drop(server);
    fs::hard_link(&database, folder.path().join("second.db")).unwrap();
    let said = Server::of(&program()).env("CICERONE_DATABASE_URL", url(&database)).start_fails();
    assert!(said.contains("2 names (hard links)"), "{said}");
}
