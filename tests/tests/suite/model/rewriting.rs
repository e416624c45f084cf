//! Follow-up questions, rewritten by the upstream before they are searched for.

use std::time::Duration;

use cicerone_tests::upstream::{Script, Upstream};
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::world::program;

/// Two subjects of which each has opening hours.
const MUSEUM: &str =
    "Museum\n\nThe museum opens at nine o'clock. On Sundays the museum opens at noon.";
const GARDEN: &str = "Garden\n\nThe botanical garden opens at six o'clock. On Sundays the botanical garden is closed.";

struct World {
    client: Client,
    agent: String,
    _server: Server,
    _folder: tempfile::TempDir,
}

/// A server whose upstream rewrites questions, if `is_on`.
async fn world(upstream: &Upstream, is_on: bool) -> World {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    let text = format!(
        "[models.upstreams.openai]\nmax_retries = 0\nrewrite_questions = {is_on}\nrewrite_seconds = 0.5\n"
    );
    std::fs::write(&file, text).unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .env("OPENAI_BASE_URL", upstream.url())
        .start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, MUSEUM).await;
    client.text(&agent, GARDEN).await;
    World { client, agent, _server: server, _folder: folder }
}

impl World {
    async fn say(&self, text: &str, conversation: Option<&Value>) -> Value {
        let mut body = json!({ "agent_id": self.agent, "message": text });
        if let Some(id) = conversation {
            body["conversation_id"] = id.clone();
        }
        self.client.post("/v1/conversations", body).await.expect(200)
    }

    async fn receipt(&self, reply: &Value) -> Value {
        let (id, n) = (reply["id"].as_str().unwrap(), &reply["n"]);
        let path = format!("/v1/conversations/{id}/messages/{n}/receipt");
        self.client.get(&path).await.expect(200)
    }
}

/// The last message of a request to the upstream.
fn last(body: &Value) -> &str {
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

const FIRST: &str = "When does the botanical garden open in the morning?";
const REWRITTEN: &str = "Is the botanical garden open on Sundays?";

#[tokio::test]
async fn a_follow_up_is_searched_for_as_the_model_rewrites_it() {
    let upstream = Upstream::start([Script::whole("At six [1].")]).await;
    let world = world(&upstream, true).await;
    let first = world.say(FIRST, None).await;
    assert_eq!(upstream.received().len(), 1, "there is nothing to refer to");
    assert_eq!(world.receipt(&first).await["search"]["rewritten"], Value::Null);

    upstream.follow([Script::whole(&format!("\"{REWRITTEN}\"\n")), Script::whole("No [1].")]);
    let second = world.say("And on Sundays?", Some(&first["id"])).await;
    let received = upstream.received();
    let (asked, answered) = (&received[1].body, &received[2].body);
    assert_eq!(asked["temperature"], 0.0);
    assert_eq!(asked["stream"], false);
    assert!(last(asked).contains(FIRST) && last(asked).ends_with("Last message: And on Sundays?"));
    let prompt = last(answered);
    assert!(prompt.ends_with("Question: And on Sundays?"), "the model gets the user's words");
    let garden = prompt.find("garden is closed").unwrap();
    assert!(prompt.find("museum opens at noon").is_none_or(|museum| museum > garden), "{prompt}");

    let receipt = world.receipt(&second).await;
    assert_eq!(receipt["search"]["query"], "And on Sundays?");
    assert_eq!(receipt["search"]["rewritten"], REWRITTEN);
    assert_eq!(receipt["search"]["context_messages"], 0);
    let stages: Vec<_> = receipt["stages"].as_array().unwrap().iter().collect();
    assert!(stages.iter().any(|stage| stage["name"] == "rewrite"), "{receipt}");
    // Both requests count: the first alone has more tokens than the question.
    assert!(
        receipt["tokens"]["prompt"].as_u64()
            > world.receipt(&first).await["tokens"]["prompt"].as_u64()
    );
}

#[tokio::test]
async fn a_question_that_stands_alone_is_not_rewritten() {
    let upstream = Upstream::start([Script::whole("At six [1].")]).await;
    let world = world(&upstream, true).await;
    let first = world.say(FIRST, None).await;
    upstream.follow([Script::whole("At nine [1].")]);
    world.say("When does the museum open on weekdays?", Some(&first["id"])).await;
    assert_eq!(upstream.received().len(), 2);
}

#[tokio::test]
async fn nothing_is_rewritten_unless_it_is_turned_on() {
    let upstream = Upstream::start([Script::whole("At six [1].")]).await;
    let world = world(&upstream, false).await;
    let first = world.say(FIRST, None).await;
    upstream.follow([Script::whole("No [1].")]);
    let second = world.say("And on Sundays?", Some(&first["id"])).await;
    assert_eq!(upstream.received().len(), 2);
    assert_eq!(world.receipt(&second).await["search"]["rewritten"], Value::Null);
}

#[tokio::test]
async fn a_question_that_is_not_rewritten_is_searched_for_as_it_is() {
    let upstream = Upstream::start([Script::whole("At six [1].")]).await;
    let world = world(&upstream, true).await;
    let first = world.say(FIRST, None).await;
    let failures = [
        Script::default().stall(),
        Script::default().pause(Duration::from_millis(700)),
        Script::error("500 Internal Server Error", "", "broken"),
        Script::error("400 Bad Request", "", "no"),
        Script::whole(" \n "),
        Script::whole(&"long ".repeat(200)),
    ];
    for failure in failures {
        upstream.follow([failure.clone(), Script::whole("No [1].")]);
        let second = world.say("And on Sundays?", Some(&first["id"])).await;
        assert_eq!(second["reply"], "No.", "{failure:?}");
        let receipt = world.receipt(&second).await;
        assert_eq!(receipt["search"]["rewritten"], Value::Null, "{failure:?}");
        assert_ne!(receipt["search"]["context_messages"], 0, "{failure:?}");
    }
}
