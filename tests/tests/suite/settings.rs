//! Settings for the places of files, and for the log.

use std::fs;

use cicerone_tests::Server;
use cicerone_tests::scenario::id;
use serde_json::Value;
use tempfile::TempDir;

use crate::world::program;

#[tokio::test]
async fn the_database_and_the_files_lie_where_they_are_told_to() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("elsewhere.db");
    let files = folder.path().join("files");
    let server = Server::of(&program())
        .env("CICERONE_DATABASE_URL", format!("sqlite:{}", database.display()))
        .env("CICERONE_OBJECT_STORE_URL", format!("file:{}", files.display()))
        .start();
    let client = server.client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    client.trained(&source).await;
    assert!(fs::read(&database).unwrap().starts_with(b"SQLite format 3"));
    assert!(holds(&files, b"The museum opens at nine."), "the upload is not in its folder");
    assert!(!holds(server.data(), b"The museum opens at nine. "), "it is elsewhere too");
}

fn holds(folder: &std::path::Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() { holds(&path, bytes) } else { fs::read(&path).unwrap() == bytes }
    })
}

#[tokio::test]
async fn logs_are_json_lines_away_from_a_terminal_and_text_on_request() {
    let server = Server::of(&program()).start();
    server.client().get("/v1/agents").await.expect(200);
    let log = server.log_with("/v1/agents").await;
    for line in log.lines() {
        let event: Value =
            serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert!(event["level"].is_string(), "{line}");
    }
    let server = Server::of(&program()).env("CICERONE_LOG_FORMAT", "text").start();
    server.client().get("/v1/agents").await.expect(200);
    let log = server.log_with("/v1/agents").await;
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_err()), "{log}");
}

#[tokio::test]
async fn a_new_root_key_replaces_the_one_before() {
    let mut server = Server::of(&program()).start();
    let old = server.client();
    let agent = old.agent().await;
    server.kill();
    server.set_env("CICERONE_ROOT_KEY", "another-root-key-of-32-characters-or-more");
    server.restart();
    let new = server.client().with_key("another-root-key-of-32-characters-or-more");
    assert_eq!(new.get(&format!("/v1/agents/{agent}")).await.expect(200)["id"], agent.as_str());
    server.client().get("/v1/agents").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn beyond_the_bound_of_replies_in_progress_a_message_is_refused_at_once() {
    // An upstream that accepts connections and never answers.
    let upstream = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", upstream.local_addr().unwrap());
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cicerone.toml");
    fs::write(&file, "[http]\nreplies_at_once = 1\n").unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .env("OPENAI_BASE_URL", base_url)
        .start();
    let client = server.client();
    let agent = client.agent().await;
    let body = serde_json::json!({ "agent_id": agent, "message": "Hello" });
    let first = client.request("POST", "/v1/conversations").json(&body);
    let first = tokio::spawn(first.try_send());
    // When the upstream has received the request, the first reply is in progress.
    let held = upstream.accept().await.unwrap();
    let refused = client.post("/v1/conversations", body).await;
    refused.refused(503, "service_unavailable");
    assert!(refused.header("retry-after").is_some());
    client.get("/v1/agents").await.expect(200);
    drop(held);
    first.abort();
}

#[tokio::test]
async fn models_of_the_configuration_are_models_of_agents() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cicerone.toml");
    fs::write(
        &file,
        "[models.upstreams.local]\nbase_url = \"http://127.0.0.1:9/v1\"\n\
         [models.routes.house]\nupstream = \"local\"\n",
    )
    .unwrap();
    let server = Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap()).start();
    let body = serde_json::json!({ "name": "Guide", "model": "house" });
    let agent = server.client().post("/v1/agents", body).await.expect(201);
    assert_eq!(agent["model"], "house");
}
