//! Guarded websites: a refresh that loses an answer keeps the old content. On both databases.

use std::time::Duration;

use cicerone_tests::postgres::Cluster;
use cicerone_tests::process::Builder;
use cicerone_tests::receiver::Receiver;
use cicerone_tests::scenario::id;
use cicerone_tests::upstream::{Script, Upstream, completion};
use cicerone_tests::{Client, Server, Site};
use serde_json::{Value, json};

use super::{ended, path, set};
use crate::world::{eventually, program};

const HOURS: &str = "The museum opens at nine o'clock in the morning on every day except Monday.";
const PRICES: &str = "A ticket for adults costs seven euros, and children enter free of charge.";
const NEWS: &str = "The museum shows paintings of the harbour until the end of the summer.";
const OPENS: &str = "When does the museum open?";
const COSTS: &str = "How much is a ticket for adults?";

/// A server that may fetch from loopback, on each database.
pub(super) fn builders() -> Vec<Builder> {
    let builder = || Server::of(&program()).env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8");
    let database = Cluster::shared().map(|cluster| cluster.empty_database().to_string());
    let postgres = database.map(|url| builder().env("CICERONE_DATABASE_URL", url));
    [Some(builder()), postgres].into_iter().flatten().collect()
}

/// A site with two pages.
async fn museum() -> Site {
    let site = Site::start().await;
    site.page("/", "Opening hours", HOURS, &["/prices"]);
    site.page("/prices", "Prices", PRICES, &["/"]);
    site
}

/// An agent with that site as its guarded source.
async fn guarded(client: &Client, site: &Site) -> (String, String) {
    let agent = client.agent().await;
    let body = json!({
        "type": "website", "content": site.url("/"), "crawl_subpages": true, "guarded": true,
    });
    let source = id(&client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201));
    client.trained(&source).await;
    (agent, source)
}

async fn refresh(client: &Client, source: &str) {
    client.post_nothing(&format!("/v1/sources/{source}/refresh")).await.expect(200);
}

/// The runs that guards made, newest first.
async fn guards(client: &Client, agent: &str) -> Vec<Value> {
    let mut runs = client.list_all(&format!("{}/runs", path(agent)), 10).await;
    runs.retain(|run| run["trigger"] == "guard");
    runs
}

#[tokio::test]
async fn a_refresh_that_loses_an_answer_keeps_the_old_content() {
    for builder in builders() {
        let server = builder.start();
        let (client, site, receiver) = (server.client(), museum().await, Receiver::start().await);
        let (agent, source) = guarded(&client, &site).await;
        set(&client, &agent, &[OPENS, COSTS, "Who painted the ceiling of the staircase?"]).await;
        let hook = json!({ "url": receiver.url(), "events": ["source.failed", "checks.failed"] });
        client.post("/v1/webhook_endpoints", hook).await.expect(201);
        let before = client.get(&format!("/v1/sources/{source}")).await.expect(200);
        let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;

        site.page("/prices", "Exhibition", NEWS, &["/"]);
        refresh(&client, &source).await;
        let failed = client.failed(&source).await;
        let said =
            format!("the previous content was kept: 1 of 3 checks would fail, first `{COSTS}`");
        assert_eq!(failed["error_message"], said);
        assert_eq!(failed["character_count"], before["character_count"]);
        assert_eq!(
            client.list_all(&format!("/v1/sources/{source}/documents"), 10).await,
            documents
        );
        let reply = client.ask(&agent, COSTS).await;
        assert!(reply["reply"].as_str().unwrap().contains("seven euros"), "{reply}");

        let run = guards(&client, &agent).await.remove(0);
        assert_eq!((&run["status"], &run["source_id"]), (&json!("done"), &json!(source)), "{run}");
        assert_eq!((&run["passed"], &run["failed"]), (&json!(1), &json!(2)), "{run}");
        let mut told: Vec<Value> = receiver
            .wait_for(2)
            .await
            .iter()
            .map(cicerone_tests::receiver::Received::json)
            .collect();
        told.sort_by_key(|event| event["event"].to_string());
        assert_eq!(told[0]["event"], "checks.failed");
        assert_eq!(
            (&told[0]["data"]["trigger"], &told[0]["data"]["run_id"]),
            (&json!("guard"), &run["id"])
        );
        assert_eq!(told[1]["event"], "source.failed");

        // New pages that gain an answer are accepted, and so is the loss of one that no check covers.
        site.page("/prices", "Prices", &format!("{PRICES} {NEWS}"), &["/"]);
        site.page("/", "Opening hours", &HOURS.replace("Monday", "Tuesday"), &["/prices"]);
        refresh(&client, &source).await;
        client.trained(&source).await;
        let reply = client.ask(&agent, "On which day is the museum not open?").await;
        assert!(reply["reply"].as_str().unwrap().contains("Tuesday"), "{reply}");
        let runs = guards(&client, &agent).await;
        assert_eq!((runs.len(), &runs[0]["failed"]), (2, &json!(1)), "{runs:?}");
        // Without a change there is nothing to compare.
        refresh(&client, &source).await;
        client.trained(&source).await;
        assert_eq!(guards(&client, &agent).await.len(), 2);
    }
}

#[tokio::test]
async fn without_the_guard_or_without_checks_the_new_content_is_taken() {
    for builder in builders() {
        let server = builder.start();
        let (client, site) = (server.client(), museum().await);
        let (agent, source) = guarded(&client, &site).await;
        site.page("/prices", "Exhibition", NEWS, &["/"]);
        refresh(&client, &source).await;
        client.trained(&source).await;
        set(&client, &agent, &["What does the museum show?"]).await;
        site.page("/prices", "Prices", PRICES, &["/"]);
        let guarded = json!({ "guarded": false });
        client.patch(&format!("/v1/sources/{source}"), guarded).await.expect(200);
        refresh(&client, &source).await;
        client.trained(&source).await;
        assert!(guards(&client, &agent).await.is_empty());
    }
}

#[tokio::test]
async fn a_model_that_fails_or_a_quota_keeps_the_old_content() {
    for builder in builders() {
        let broken = Script::error("400 Bad Request", "", "no");
        let upstream = Upstream::start([broken]).await;
        let server = builder.env("OPENAI_BASE_URL", upstream.url()).start();
        let (client, site) = (server.client(), museum().await);
        let (agent, source) = guarded(&client, &site).await;
        set(&client, &agent, &[OPENS]).await;
        site.page("/prices", "Exhibition", NEWS, &["/"]);
        refresh(&client, &source).await;
        let failed = client.failed(&source).await;
        let said = "the previous content was kept, because the checks could not be compared: the model is unavailable";
        assert_eq!(failed["error_message"], said);
        let run = guards(&client, &agent).await.remove(0);
        assert_eq!((&run["status"], &run["results"]), (&json!("failed"), &json!([])), "{run}");
        assert_eq!(run["error_message"], "the model is unavailable");

        server.succeed(&["account", "limit", "default", "--messages", "0"]);
        let message = json!({ "agent_id": agent, "message": OPENS });
        eventually("the quota applies", async || {
            client.post("/v1/conversations", message.clone()).await.status == 429
        })
        .await;
        refresh(&client, &source).await;
        let message = client.failed(&source).await["error_message"].to_string();
        assert!(message.contains("was kept") && message.contains("monthly quota"), "{message}");
        let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        assert!(documents.iter().any(|document| document["title"] == "Prices"), "{documents:?}");
    }
}

#[tokio::test]
async fn comparisons_that_take_long_hold_back_no_other_account() {
    for builder in builders() {
        let upstream = Upstream::start([Script::default().stall()]).await;
        let server = builder.env("OPENAI_BASE_URL", upstream.url()).start();
        let (busy, other) = (server.account("busy"), server.account("other"));
        // More than the server has workers.
        let mut sources = Vec::new();
        for _ in 0..12 {
            let site = museum().await;
            let (agent, source) = guarded(&busy, &site).await;
            set(&busy, &agent, &[OPENS]).await;
            site.page("/prices", "Exhibition", NEWS, &["/"]);
            sources.push((site, source));
        }
        for (_, source) in &sources {
            refresh(&busy, source).await;
        }
        eventually("checks are asked", async || !upstream.received().is_empty()).await;
        let agent = other.agent().await;
        other.text(&agent, "Parking is free.").await;
        let site = museum().await;
        let website = other.source(&agent, "website", &site.url("/")).await;
        other.trained(&website).await;
        for (_, source) in &sources {
            let waiting = busy.get(&format!("/v1/sources/{source}")).await.expect(200);
            let status = waiting["status"].as_str().unwrap();
            assert!(["pending", "processing"].contains(&status), "{waiting}");
        }
    }
}

#[tokio::test]
async fn a_comparison_is_made_again_after_a_kill() {
    // On PostgreSQL another server may have the job until its lease is over.
    for (builder, kills) in builders().into_iter().zip([&[1, 6][..], &[6]]) {
        let body = completion("At nine.").to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        let slow = Script::default().pause(Duration::from_millis(500)).bytes(head).bytes(body);
        let upstream = Upstream::start([slow]).await;
        let mut server = builder.env("OPENAI_BASE_URL", upstream.url()).start();
        let (client, site) = (server.client(), museum().await);
        let (agent, source) = guarded(&client, &site).await;
        let questions: Vec<String> =
            (0..12).map(|door| format!("When does door {door} open?")).collect();
        let check = |question: &String| json!({ "question": question, "contains": ["nine"] });
        let checks: Vec<Value> = questions.iter().map(check).collect();
        client.put(&path(&agent), json!({ "checks": checks })).await.expect(200);
        site.page("/prices", "Exhibition", NEWS, &["/"]);
        refresh(&client, &source).await;
        // Before the first request to the model, and in the middle.
        for asked in kills {
            let before = upstream.received().len();
            eventually("checks are asked", async || upstream.received().len() >= before + asked)
                .await;
            server.kill();
            server.restart();
        }
        let client = server.client();
        client.trained(&source).await;
        let runs = guards(&client, &agent).await;
        assert_eq!((runs.len(), &runs[0]["passed"]), (1, &json!(12)), "{runs:?}");
        // The training of the new content runs the checks too.
        let run = ended(&client, &agent, &runs[0]).await;
        assert_eq!((&run["trigger"], &run["passed"]), (&json!("trained"), &json!(12)));
    }
}
