//! Answers right after a change: they use the new content at once, and never the old content again.

use std::fs;
use std::path::{Path, PathBuf};

use cicerone_tests::{Client, Server};
use serde_json::json;

use crate::world::own_server;

/// Rounds in this suite; `cargo trial consistency` runs more.
const ROUNDS: usize = 25;

/// An agent whose index is on the disk, because it has more content than is indexed in memory.
async fn large_agent(client: &Client) -> String {
    let agent = client.agent().await;
    client.text(&agent, &"The river carries stones to the sea. ".repeat(2_000)).await;
    agent
}

/// The folder of the only index that is on the disk.
fn index_folder(server: &Server) -> PathBuf {
    let mut folders = fs::read_dir(server.data().join("index")).unwrap();
    folders.next().expect("the index of an agent is on the disk").unwrap().path()
}

/// Adds a text, asks at once, deletes it, asks at once; `between` runs before each question.
async fn round(client: &Client, agent: &str, number: usize, between: impl Fn()) {
    let word = format!("passphrase{number}");
    let text = format!("The secret {word} of the tower is number {number}.");
    let question = format!("What is the secret {word} of the tower?");
    let source = client.text(agent, &text).await;
    between();
    let reply = client.ask(agent, &question).await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "right after `trained`: {reply}");
    assert!(reply["reply"].as_str().unwrap().contains(&word), "{reply}");
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    between();
    let reply = client.ask(agent, &question).await;
    assert!(!reply.to_string().contains(&source), "right after a deletion: {reply}");
    let answer = reply["reply"].as_str().unwrap();
    assert!(!answer.contains(&format!("is number {number}.")), "{reply}");
}

#[tokio::test]
async fn a_question_right_after_a_change_sees_it() {
    let server = own_server();
    let client = server.client();
    for agent in [client.agent().await, large_agent(&client).await] {
        client.text(&agent, "The museum opens at nine o'clock.").await;
        for number in 0..ROUNDS {
            round(&client, &agent, number, || {}).await;
        }
    }
}

#[tokio::test]
async fn a_question_right_after_the_index_was_deleted_sees_the_same() {
    let server = own_server();
    let client = server.client();
    let agent = large_agent(&client).await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    for number in 0..ROUNDS {
        round(&client, &agent, number, || server.remove_index()).await;
    }
}

#[tokio::test]
async fn a_server_that_starts_without_its_index_answers_all_the_same() {
    let mut server = own_server();
    let agent = large_agent(&server.client()).await;
    let source = server.client().text(&agent, "The museum opens at nine o'clock.").await;
    server.kill();
    server.remove_index();
    server.restart();
    let reply = server.client().ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str());
}

#[tokio::test]
async fn a_damaged_index_is_built_again() {
    let mut server = own_server();
    let agent = large_agent(&server.client()).await;
    let source = server.client().text(&agent, "The museum opens at nine o'clock.").await;
    server.client().ask(&agent, "When does the museum open?").await;
    server.kill();
    for file in fs::read_dir(index_folder(&server)).unwrap() {
        fs::write(file.unwrap().path(), "damaged").unwrap();
    }
    server.restart();
    let reply = server.client().ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "{}", server.stderr());
}

#[tokio::test]
async fn deleted_text_is_off_the_disk() {
    let server = own_server();
    let client = server.client();
    let agent = large_agent(&client).await;
    let source = client.text(&agent, "The Zaubersprudel opens at nine o'clock.").await;
    client.ask(&agent, "When does the museum open?").await;
    let index = index_folder(&server);
    assert_ne!(holding(&index, "zaubersp"), Vec::<PathBuf>::new(), "the word can be found");
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    // A search brings the index up to the agent's generation.
    client
        .post(&format!("/v1/agents/{agent}/search"), json!({ "query": "museum" }))
        .await
        .expect(200);
    assert_eq!(holding(&index, "zaubersp"), Vec::<PathBuf>::new());
}

/// The files in a folder that contain an ASCII word, in any case.
fn holding(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut files = files(folder);
    files.retain(|file| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    });
    files
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
