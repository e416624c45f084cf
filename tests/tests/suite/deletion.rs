//! Deleted data disappears from every answer at once, and from every file within a minute.

use std::fs;
use std::path::{Path, PathBuf};

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::json;

use crate::world::{awaited, own_server};

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
