//! The history of a server: up to a backup, and after it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::process::{Program, Server};
use crate::scenario::id;

/// The texts at the time of the backup.
pub(super) const BEFORE: [&str; 3] = [
    "The museum opens at nine in the morning.",
    "A ticket costs twelve euros.",
    "Parking is free for visitors.",
];
/// Questions that the restored content answers, each with a part of its answer.
pub(super) const ANSWERED: [(&str, &str); 3] = [
    ("When does the museum open?", "nine"),
    ("What does a ticket cost?", "twelve"),
    ("Is parking free?", "free"),
];
/// Questions that only the content added after the backup answers.
pub(super) const GONE: [&str; 2] = ["Where is the elephant?", "What are zeppelin days?"];
/// The texts that were added after the backup.
const AFTER: [&str; 2] =
    ["The museum opens at eleven on zeppelin days.", "The elephant lives behind the zoo."];

/// The data that restores start from and are made over.
#[derive(Debug)]
pub(super) struct History {
    folder: TempDir,
    /// The agent whose content changed.
    pub(super) agent: String,
    /// Its sources at the time of the backup, sorted.
    pub(super) sources: Vec<String>,
}

impl History {
    /// Creates the history: a copy of the data directory at the time of the backup, the backup, and
    /// a copy of the data directory after more changes and a crash.
    pub(super) async fn make(program: &Program) -> Self {
        let folder = TempDir::with_prefix("cicerone-restores-").expect("a temporary directory");
        let mut server = Server::of(program).start();
        let client = server.client();
        let agent = client.agent().await;
        let mut sources = Vec::new();
        for text in [BEFORE[0], BEFORE[2]] {
            sources.push(client.text(&agent, text).await);
        }
        let file = id(&client.upload("prices.txt", BEFORE[1]).await.expect(201));
        let source = client.source(&agent, "file", &file).await;
        client.trained(&source).await;
        sources.push(source);
        client.ask(&agent, ANSWERED[0].0).await;
        let archive = folder.path().join("backup.tar.gz");
        server.succeed(&["backup", archive.to_str().unwrap()]);
        server.terminate();
        assert!(server.wait().success(), "{}", server.stderr());
        copy(server.data(), &folder.path().join("older"));

        server.restart();
        let client = server.client();
        client.delete(&format!("/v1/sources/{}", sources[0])).await.expect_nothing();
        for text in AFTER {
            client.text(&agent, text).await;
        }
        let file = id(&client.upload("map.txt", "A map of the zoo.").await.expect(201));
        let source = client.source(&agent, "file", &file).await;
        client.trained(&source).await;
        let reply = client.ask(&agent, GONE[0]).await;
        assert!(reply["reply"].as_str().unwrap().contains("zoo"), "{reply}");
        server.kill();
        copy(server.data(), &folder.path().join("newer"));
        sources.sort();
        Self { folder, agent, sources }
    }

    /// The backup.
    pub(super) fn archive(&self) -> String {
        self.folder.path().join("backup.tar.gz").to_str().expect("UTF-8").to_owned()
    }

    /// Copies the data directory from the time of the backup.
    pub(super) fn copy_older(&self, to: &Path) {
        copy(&self.folder.path().join("older"), to);
    }

    /// Copies the data directory from after the crash.
    pub(super) fn copy_newer(&self, to: &Path) {
        copy(&self.folder.path().join("newer"), to);
    }
}

/// Copies a folder into another one, which is created.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
