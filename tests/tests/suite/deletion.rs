//! Deleted data disappears from every answer at once, and from every file within a minute.

use std::fs;
use std::path::{Path, PathBuf};

use cicerone_tests::postgres::Cluster;
use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use serde_json::json;

use crate::world::{awaited, eventually, own_server, program};

/// A word that occurs in everything that is deleted, and nowhere else.
const CANARY: &str = "zyxcanary";

/// The files below a folder that contain the word.
fn holding(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // A file can be removed during the search.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

/// A source of each type whose content is stored.
async fn sources(client: &Client, agent: &str) -> Vec<String> {
    let path = format!("/v1/agents/{agent}/sources");
    let text = json!({ "type": "text", "content": format!("The {CANARY} museum opens at nine.") });
    let key = format!("text-of-{agent}");
    let kept = client.request("POST", &path).json(&text).idempotent(&key).send().await.expect(201);
    let pairs = json!([{ "question": format!("What is {CANARY}?"), "answer": "A word." }]);
    let pairs = client.source(agent, "qa", &pairs.to_string()).await;
    let file = client.upload("a.txt", format!("A {CANARY} ticket is free.")).await.expect(201);
    let file = client.source(agent, "file", &id(&file)).await;
    let all = vec![id(&kept), pairs, file];
    for source in &all {
        client.trained(source).await;
    }
    all
}

#[tokio::test]
async fn what_is_deleted_is_in_no_file_after_a_minute() {
    let server = own_server();
    let client = server.client();
    let body = json!({ "name": CANARY, "system_prompt": format!("Be a {CANARY}.") });
    let request = client.request("POST", "/v1/agents").json(&body).idempotent("agent");
    let whole = id(&request.send().await.expect(201));
    sources(&client, &whole).await;
    client.ask(&whole, &format!("What is {CANARY}?")).await;

    let agent = client.agent().await;
    let kept = client.text(&agent, "The garden is open all day.").await;
    let parts = sources(&client, &agent).await;
    let message = json!({
        "agent_id": agent, "message": format!("What is {CANARY}?"), "metadata": { "k": CANARY },
    });
    let request = client.request("POST", "/v1/conversations").json(&message).idempotent("message");
    let conversation = id(&request.send().await.expect(200));
    assert!(!holding(server.data()).is_empty());

    for source in &parts {
        client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    }
    client.delete(&format!("/v1/conversations/{conversation}")).await.expect_nothing();
    client.delete(&format!("/v1/agents/{whole}")).await.expect_nothing();
    awaited("nothing of them is left", async || {
        let left = holding(server.data());
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .await;
    client.get(&format!("/v1/sources/{kept}")).await.expect(200);
    let reply = client.ask(&agent, "When is the garden open?").await;
    assert_eq!(reply["sources_used"][0]["id"], kept.as_str(), "{reply}");
}

/// Searches for something else than the word, and returns the results. Unlike a conversation, a search is not stored.
async fn search(client: &Client, agent: &str) -> String {
    let path = format!("/v1/agents/{agent}/search");
    let body = json!({ "query": "What does the river carry?" });
    client.post(&path, body).await.expect(200).to_string()
}

/// An agent whose index is on the disk, because it has more content than is indexed in memory, and the source with the
/// word.
async fn indexed(client: &Client) -> (String, String) {
    let agent = client.agent().await;
    client.text(&agent, &"The river carries stones to the sea. ".repeat(2_000)).await;
    let source = client.text(&agent, &format!("The {CANARY} tower is open on Sundays.")).await;
    search(client, &agent).await;
    (agent, source)
}

/// The folder of an agent's index.
fn index_of(server: &Server, agent: &str) -> PathBuf {
    server.data().join("index").join(agent)
}

/// Waits until no file of a server contains the word.
async fn nothing_left(server: &Server) {
    awaited("nothing is left", async || {
        let left = holding(server.data());
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .await;
}

/// Waits until a server has no folder of an agent's index.
async fn no_index(server: &Server, agent: &str) {
    eventually("the index is gone", async || !index_of(server, agent).exists()).await;
}

/// Two servers on one new database; `None` if PostgreSQL is not installed.
fn two_servers() -> Option<[Server; 2]> {
    let url = Cluster::shared()?.empty_database().to_string();
    Some(std::array::from_fn(|_| {
        Server::of(&program()).env("CICERONE_DATABASE_URL", url.clone()).start()
    }))
}

#[tokio::test]
async fn what_one_server_deletes_is_in_no_file_of_the_other_after_a_minute() {
    let Some([one, other]) = two_servers() else { return };
    let (agent, source) = indexed(&one.client()).await;
    search(&other.client(), &agent).await;
    assert!(!holding(&index_of(&other, &agent)).is_empty());
    one.client().delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    nothing_left(&one).await;
    nothing_left(&other).await;
    assert!(search(&other.client(), &agent).await.contains("stones"));
}

#[tokio::test]
async fn an_agent_that_one_server_deletes_has_no_files_on_the_other_after_a_minute() {
    let Some([one, other]) = two_servers() else { return };
    let (agent, _) = indexed(&one.client()).await;
    search(&other.client(), &agent).await;
    assert!(!holding(&index_of(&other, &agent)).is_empty());
    one.client().delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    for server in [&one, &other] {
        nothing_left(server).await;
        no_index(server, &agent).await;
    }
}

/// Copies the files of a folder into another one, which is created if it is missing.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[tokio::test]
async fn what_a_server_deleted_before_it_was_killed_is_in_no_file_a_minute_after_its_start() {
    let mut server = own_server();
    let (agent, source) = indexed(&server.client()).await;
    let (gone, _) = indexed(&server.client()).await;
    server.kill();
    let aside = tempfile::tempdir().unwrap();
    let folders = [&agent, &gone].map(|agent| (index_of(&server, agent), aside.path().join(agent)));
    for (index, aside) in &folders {
        copy(index, aside);
    }
    server.restart();
    let client = server.client();
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    client.delete(&format!("/v1/agents/{gone}")).await.expect_nothing();
    server.kill();
    // As if it had been killed after it changed the rows, and before it changed the files.
    for (index, aside) in &folders {
        let _ = fs::remove_dir_all(index);
        copy(aside, index);
        assert!(!holding(index).is_empty());
    }
    server.restart();
    nothing_left(&server).await;
    no_index(&server, &gone).await;
    assert!(search(&server.client(), &agent).await.contains("stones"));
}
