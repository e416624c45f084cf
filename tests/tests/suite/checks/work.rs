//! How runs are worked on: after trainings, across kills, within quotas, and with a model that fails.

use cicerone_tests::Server;
use cicerone_tests::receiver::Receiver;
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::{Value, json};

use super::guard::builders;
use super::{ended, path, set, start};
use crate::world::{eventually, own_server, program};

#[tokio::test]
async fn a_training_runs_the_checks_and_what_fails_newly_is_told() {
    for builder in builders() {
        let server = builder.start();
        let client = server.client();
        let receiver = Receiver::start().await;
        let agent = client.agent().await;
        set(&client, &agent, &["When does the museum open?", "How much is a ticket?"]).await;
        let hook = json!({ "url": receiver.url(), "events": ["checks.failed"] });
        client.post("/v1/webhook_endpoints", hook).await.expect(201);
        let hours = client.text(&agent, "The museum opens at nine.").await;
        let first = ended(&client, &agent, &Value::Null).await;
        assert_eq!((&first["trigger"], &first["source_id"]), (&json!("trained"), &json!(hours)));
        assert_eq!((&first["passed"], &first["failed"]), (&json!(1), &json!(1)), "{first}");
        let told = receiver.wait_for(1).await.remove(0).json();
        assert_eq!(told["event"], "checks.failed");
        assert_eq!(
            told["data"],
            json!({
                "agent_id": agent, "run_id": first["id"], "trigger": "trained", "source_id": hours,
                "failed": 1, "passed": 1, "questions": ["How much is a ticket?"],
            })
        );
        // A check that fails again is not reported again; one that passes again is not reported at all.
        start(&client, &agent).await;
        let second = ended(&client, &agent, &first).await;
        client.text(&agent, "A ticket costs twelve euros.").await;
        let third = ended(&client, &agent, &second).await;
        assert_eq!(third["failed"], 0, "{third}");
        client.delete(&format!("/v1/sources/{hours}")).await.expect_nothing();
        start(&client, &agent).await;
        let last = ended(&client, &agent, &third).await;
        let told = receiver.wait_for(2).await.remove(1).json();
        assert_eq!(told["data"]["run_id"], last["id"]);
        assert_eq!(told["data"]["questions"], json!(["When does the museum open?"]));
    }
}

#[tokio::test]
async fn a_run_goes_on_after_each_kill() {
    let slow = Script::default().pause(std::time::Duration::from_millis(150));
    let body = cicerone_tests::upstream::completion("At nine.").to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    let upstream = Upstream::start([slow.bytes(head).bytes(body)]).await;
    let mut server = Server::of(&program()).env("OPENAI_BASE_URL", upstream.url()).start();
    let client = server.client();
    let agent = client.agent().await;
    let questions: Vec<String> = (0..20).map(|number| format!("Door {number}?")).collect();
    let check = |question: &String| json!({ "question": question, "contains": ["nine"] });
    let checks: Vec<Value> = questions.iter().map(check).collect();
    client.put(&path(&agent), json!({ "checks": checks })).await.expect(200);
    let begun = start(&client, &agent).await;
    // Killed while the first questions are asked, and after each further progress: crashes with progress between them
    // do not end a run.
    for results in [0, 4, 8, 12] {
        let (client, before) = (server.client(), upstream.received().len());
        eventually("the run proceeds", async || {
            let run = client.get(&path(&agent)).await.expect(200)["last_run"].clone();
            let recorded = run["results"].as_array().unwrap().len();
            recorded >= results && upstream.received().len() > before
        })
        .await;
        server.kill();
        server.restart();
    }
    let run = ended(&server.client(), &agent, &Value::Null).await;
    assert_eq!((&run["id"], &run["status"]), (&begun["id"], &json!("done")), "{run}");
    assert_eq!((&run["passed"], &run["failed"]), (&json!(20), &json!(0)));
    let asked: Vec<&str> = run["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["question"].as_str().unwrap())
        .collect();
    assert_eq!(asked, questions, "each once, in order");
}

#[tokio::test]
async fn a_quota_ends_a_run() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let questions: Vec<String> = (0..30).map(|number| format!("Door {number}?")).collect();
    let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
    set(&client, &agent, &questions).await;
    // The account has sent no message, so that its quotas are read with the first one.
    server.succeed(&["account", "limit", "default", "--messages", "10"]);
    start(&client, &agent).await;
    let run = ended(&client, &agent, &Value::Null).await;
    assert_eq!(run["status"], "failed", "{run}");
    let message = run["error_message"].as_str().unwrap();
    assert!(message.contains("monthly quota of 10 messages"), "{message}");
    assert!(run["results"].as_array().unwrap().len() <= 10);
}

#[tokio::test]
async fn a_model_that_fails_ends_a_run_after_three_attempts() {
    let upstream = Upstream::start([Script::error("400 Bad Request", "", "no")]).await;
    let server = Server::of(&program()).env("OPENAI_BASE_URL", upstream.url()).start();
    let client = server.client();
    let agent = client.agent().await;
    set(&client, &agent, &["When does it open?"]).await;
    start(&client, &agent).await;
    let run = ended(&client, &agent, &Value::Null).await;
    assert_eq!((&run["status"], &run["results"]), (&json!("failed"), &json!([])), "{run}");
    assert_eq!(run["error_message"], "the model is unavailable");
    assert_eq!(upstream.received().len(), 3);
}
