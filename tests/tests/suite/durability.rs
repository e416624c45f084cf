//! Acknowledged changes survive the process, however it ends.

use std::sync::{Arc, Mutex};

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::world::{eventually, own_server};

/// Kills in this suite; `cargo trial crash` does more, with more to check.
const KILLS: usize = 4;

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let mut server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let source = client.text(&agent, "Hours\n\nThe museum opens at nine o'clock.").await;
    let file = id(&client.upload("a.txt", "The garden closes at seven o'clock.").await.expect(201));
    let reply = client.ask(&agent, "When does the museum open?").await;
    let body = json!({ "name": "Repeated" });
    let send = |client: &Client| {
        client.request("POST", "/v1/agents").json(&body).idempotent("before").send()
    };
    let repeated = send(&client).await;
    let paths = [
        format!("/v1/agents/{agent}"),
        format!("/v1/sources/{source}"),
        format!("/v1/sources/{source}/documents"),
        format!("/v1/files/{file}"),
        format!("/v1/conversations/{}", reply["id"].as_str().unwrap()),
    ];
    let mut before = Vec::new();
    for path in &paths {
        before.push(client.get(path).await.expect(200));
    }
    let page = client.get("/v1/agents?page_size=1").await.expect(200);

    server.restart();
    let client = server.client();
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(client.get(path).await.expect(200), before, "{path}");
    }
    let again = send(&client).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body, repeated.body);
    let cursor = page["next_cursor"].as_str().unwrap();
    client.get(&format!("/v1/agents?cursor={cursor}")).await.expect(200);
    let reply = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(reply["sources_used"][0]["id"], source.as_str());
    let source = client.source(&agent, "file", &file).await;
    client.trained(&source).await;
}

#[tokio::test]
async fn what_was_acknowledged_outlives_a_kill() {
    let mut server = own_server();
    let acknowledged = Arc::new(Mutex::new(Vec::<(String, Value)>::new()));
    let mut sources = Vec::new();
    for round in 0..KILLS {
        let client = server.client();
        let writers: Vec<_> = (0..4)
            .map(|_| tokio::spawn(write_until_cut_off(client.clone(), Arc::clone(&acknowledged))))
            .collect();
        // Each time somewhat later, at another moment of the writers' work.
        let enough = acknowledged.lock().unwrap().len() + 2 + 7 * round;
        eventually("writes are acknowledged", async || {
            acknowledged.lock().unwrap().len() >= enough
        })
        .await;
        server.kill();
        for writer in writers {
            sources.extend(writer.await.unwrap());
        }
        server.restart();
        let client = server.client();
        for source in sources.drain(..) {
            eventually("the source is trained", async || {
                client.get(&source).await.expect(200)["status"] == "trained"
            })
            .await;
        }
        let known = acknowledged.lock().unwrap().clone();
        for (path, object) in &known {
            assert_eq!(&client.get(path).await.expect(200)["id"], &object["id"], "{path}");
        }
    }
}

/// Creates agents with a source and a conversation each until the server is killed; returns the
/// paths of the sources.
async fn write_until_cut_off(
    client: Client,
    acknowledged: Arc<Mutex<Vec<(String, Value)>>>,
) -> Vec<String> {
    let mut sources = Vec::new();
    let create = async |path: &str, body: Value, status: u16| {
        let answer = client.request("POST", path).json(&body).try_send().await.ok()?;
        Some(answer.expect(status))
    };
    let note = |path: String, object: &Value| {
        acknowledged.lock().unwrap().push((path, object.clone()));
    };
    loop {
        let Some(agent) = create("/v1/agents", json!({ "name": "Guide" }), 201).await else {
            return sources;
        };
        note(format!("/v1/agents/{}", id(&agent)), &agent);
        let text = json!({ "type": "text", "content": "The museum opens at nine." });
        let path = format!("/v1/agents/{}/sources", id(&agent));
        let Some(source) = create(&path, text, 201).await else { return sources };
        note(format!("/v1/sources/{}", id(&source)), &source);
        sources.push(format!("/v1/sources/{}", id(&source)));
        let message = json!({ "agent_id": agent["id"], "message": "When does it open?" });
        let Some(reply) = create("/v1/conversations", message, 200).await else { return sources };
        note(format!("/v1/conversations/{}", id(&reply)), &reply);
    }
}
