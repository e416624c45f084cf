//! While one account floods the server, another account is still served.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Resource, Server, Site};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::world::program;

/// A server with a configuration of its own and with access to loopback.
fn server(folder: &TempDir, configuration: &str, variables: &[(&str, &str)]) -> Server {
    let file = folder.path().join("cicerone.toml");
    fs::write(&file, configuration).unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8");
    variables.iter().fold(server, |server, (name, value)| server.env(name, *value)).start()
}

async fn website(client: &Client, agent: &str, url: &str) -> String {
    let body = json!({ "type": "website", "content": url, "crawl_subpages": true });
    id(&client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201))
}

#[tokio::test]
async fn replies_and_streams_of_one_account_do_not_refuse_those_of_another() {
    // An upstream that accepts connections and never answers.
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", upstream.local_addr().unwrap());
    let folder = TempDir::new().unwrap();
    let bound = "[http]\nreplies_at_once = 2\n";
    let server = server(&folder, bound, &[("OPENAI_BASE_URL", &base_url)]);
    let (flood, other) = (server.client(), server.account("other"));
    let mut held = Vec::new();
    for is_streamed in [true, false] {
        let agent = flood.agent().await;
        let body = json!({ "agent_id": agent, "message": "Hello", "stream": is_streamed });
        let reply = flood.request("POST", "/v1/conversations").json(&body);
        let reply = tokio::spawn(reply.try_send());
        // When the upstream has received the request, the reply is in progress.
        held.push((upstream.accept().await.unwrap(), reply));
    }
    let agent = flood.agent().await;
    for is_streamed in [true, false] {
        let body = json!({ "agent_id": agent, "message": "Hello", "stream": is_streamed });
        let refused = flood.post("/v1/conversations", body).await;
        refused.refused(503, "service_unavailable");
        assert!(refused.header("retry-after").is_some());
    }

    let agent = other.agent().await;
    let body = json!({ "agent_id": agent, "message": "Hello" });
    let reply = tokio::spawn(other.request("POST", "/v1/conversations").json(&body).try_send());
    let asked = upstream.accept().await.unwrap();
    // It has reached its half of the places, as there are two accounts.
    other.post("/v1/conversations", body).await.refused(503, "service_unavailable");
    for (_, reply) in held {
        reply.abort();
    }
    drop(asked);
    reply.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_would_come_too_late_are_refused_and_those_of_another_account_are_not() {
    let folder = TempDir::new().unwrap();
    let settings = "[http]\nlongest_wait_ms = 1\n";
    let server = server(&folder, settings, &[("CICERONE_RATE_LIMIT_PER_MINUTE", "0")]);
    let (flood, other) = (Arc::new(server.client()), server.account("other"));
    let mut bodies = Vec::new();
    for client in [flood.as_ref(), &other] {
        let agent = client.agent().await;
        let text = client.text(&agent, "The museum opens at nine.").await;
        client.trained(&text).await;
        bodies.push(json!({ "agent_id": agent, "message": "When does the museum open?" }));
    }
    // More than are always accepted, each asking again and again.
    let (is_over, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let mut askers = JoinSet::new();
    for _ in 0..150 {
        let (flood, body) = (Arc::clone(&flood), bodies[0].clone());
        let (is_over, refused) = (Arc::clone(&is_over), Arc::clone(&refused));
        askers.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                let answer = flood.post("/v1/conversations", body.clone()).await;
                if answer.status != 200 {
                    answer.refused(503, "service_unavailable");
                    assert!(answer.header("retry-after").is_some());
                    refused.notify_one();
                }
            }
        });
    }
    tokio::time::timeout(Duration::from_secs(60), refused.notified()).await.unwrap();
    for _ in 0..5 {
        let reply = other.post("/v1/conversations", bodies[1].clone()).await.expect(200);
        assert!(reply["reply"].as_str().unwrap().contains("nine"), "{reply}");
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(asker) = askers.join_next().await {
        asker.unwrap();
    }
    // It is itself again.
    flood.post("/v1/conversations", bodies[0].clone()).await.expect(200);
}

#[tokio::test]
async fn sites_that_never_answer_hold_up_no_other_account_and_no_text() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = TempDir::new().unwrap();
    let server = server(&folder, "[crawl]\nparallel = 1\n[workers]\nparallel = 1\n", &[]);
    let (flood, other) = (server.client(), server.account("other"));
    let agent = flood.agent().await;
    for number in 0..5 {
        website(&flood, &agent, &format!("http://{}/{number}", silent.local_addr().unwrap())).await;
    }
    // Now the place for crawls is occupied.
    let held = silent.accept().await.unwrap();
    let text = flood.text(&agent, "The museum opens at nine.").await;
    flood.trained(&text).await;

    let site = Site::start().await;
    let hours = "The museum opens at nine o'clock in the morning on every day except Monday.";
    site.page("/", "Opening hours", hours, &[]);
    let agent = other.agent().await;
    let source = website(&other, &agent, &site.url("/")).await;
    other.trained(&source).await;
    drop(held);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_whose_fields_all_have_wrong_types_hold_up_no_other_account() {
    const MEBIBYTE: usize = 1_048_576;
    // The fields of an agent that are not objects.
    const FIELDS: [&str; 10] = [
        "name",
        "model",
        "system_prompt",
        "temperature",
        "max_tokens",
        "retention_days",
        "answer_floor",
        "public_sources",
        "receipts",
        "source_list",
    ];
    let folder = TempDir::new().unwrap();
    let server = server(&folder, "", &[("CICERONE_RATE_LIMIT_PER_MINUTE", "0")]);
    let (flood, other) = (Arc::new(server.client()), server.account("other"));
    let agent = other.agent().await;
    let text = other.text(&agent, "The museum opens at nine.").await;
    other.trained(&text).await;
    // Every field is read once more for each one that is wrong. Unknown fields and long names make the body as large as it
    // may be.
    let long = "n".repeat(30_000);
    let mut fields: Vec<_> = FIELDS.map(|field| format!(r#""{field}": {{"{long}": [7]}}"#)).into();
    fields.extend((0..240).map(|number| format!(r#""{number}{long}": null"#)));
    let body = Arc::new(format!("{{{}}}", fields.join(",")));
    assert!((7 * MEBIBYTE..8 * MEBIBYTE).contains(&body.len()), "{}", body.len());
    let before = server.resident_bytes();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut senders = JoinSet::new();
    for _ in 0..3 {
        let (flood, body, is_over) = (Arc::clone(&flood), Arc::clone(&body), Arc::clone(&is_over));
        senders.spawn(async move {
            let mut refused = 0;
            // At least once, and until the other account has been served.
            while refused == 0 || !is_over.load(Ordering::Relaxed) {
                let request = flood.request("POST", "/v1/agents");
                let answer = request.raw("application/json", body.as_str()).send().await;
                // Or the account has no more room for bodies.
                if answer.status != 503 {
                    let error = answer.refused(400, "invalid_parameter");
                    let told = error["errors"].as_array().unwrap().len();
                    assert_eq!((&error["param"], told), (&json!("name"), FIELDS.len()));
                    refused += 1;
                }
            }
            refused
        });
    }
    let message = json!({ "agent_id": agent, "message": "When does the museum open?" });
    for _ in 0..3 {
        let reply = other.post("/v1/conversations", message.clone()).await.expect(200);
        assert!(reply["reply"].as_str().unwrap().contains("nine"), "{reply}");
    }
    is_over.store(true, Ordering::Relaxed);
    let refused: usize = senders.join_all().await.into_iter().sum();
    assert!(refused >= 3, "{refused}");
    let raised = server.peak_bytes().saturating_sub(before);
    assert!(raised < 96 * MEBIBYTE, "{raised} bytes");
}

/// A site whose `robots.txt` has as many rules with stars as are read, and which names addresses that each rule has to
/// be compared with.
async fn site_with_costly_rules() -> Site {
    let site = Site::start().await;
    let rules: String = (0..40_000).map(|n| format!("allow:/*a~{n}\n")).collect();
    let rules = format!("user-agent:*\ndisallow:/9\n{rules}");
    site.put("/robots.txt", Resource::of("text/plain", rules));
    let long = |from: usize, count: usize| {
        (from..from + count).map(|n| format!("/9{n}{}", "a".repeat(1_900)))
    };
    let named: String = long(10_000, 5_000)
        .map(|path| format!("<sitemap><loc>{}</loc></sitemap>", site.url(&path)))
        .collect();
    let index = format!("<sitemapindex>{named}</sitemapindex>");
    site.put("/sitemap.xml", Resource::of("application/xml", index));
    let links: Vec<String> = long(20_000, 500).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    site.page("/", "Start", "The museum opens at nine.", &links);
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_with_costly_rules_do_not_stop_another_account() {
    let folder = TempDir::new().unwrap();
    let server = server(&folder, "", &[]);
    let (hostile, other) = (server.client(), server.account("other"));
    let agent = hostile.agent().await;
    let mut previews = JoinSet::new();
    let (mut sites, mut sources) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let site = site_with_costly_rules().await;
        let path = format!("/v1/agents/{agent}/sources/preview");
        let preview = hostile.request("POST", &path).json(&json!({ "url": site.url("/") }));
        previews.spawn(preview.send());
        sources.push(website(&hostile, &agent, &site.url("/")).await);
        sites.push(site);
    }

    let agent = other.agent().await;
    let text = other.text(&agent, "The museum opens at nine.").await;
    other.trained(&text).await;
    let body =
        json!({ "agent_id": agent, "message": "When does the museum open?", "stream": true });
    let stream = other.request("POST", "/v1/conversations").json(&body).send().await;
    assert!(stream.text().contains("at nine"), "{}", stream.text());

    while let Some(preview) = previews.join_next().await {
        preview.unwrap().expect(200);
    }
    for source in sources {
        hostile.trained(&source).await;
        let pages = hostile.list_all(&format!("/v1/sources/{source}/pages"), 100).await;
        let skipped = pages.iter().filter(|page| page["status"] == "skipped").count();
        assert_eq!((pages.len(), skipped), (501, 500));
    }
}
