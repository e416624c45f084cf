//! Logs, metrics and traces: what they contain, and what they never contain.

use std::collections::BTreeSet;

use cicerone_tests::embedder::TestEmbedder;
use cicerone_tests::receiver::Receiver;
use cicerone_tests::scenario::id;
use cicerone_tests::upstream::{Script, Upstream};
use cicerone_tests::{Answer, Server};
use diesel::prelude::*;
use serde_json::{Value, json};

use crate::world::{awaited, program};

/// A word that occurs in messages and documents of these tests, and nowhere else.
const TOLD: &str = "xylophone";

/// Waits for a log line that contains all of `marks`, and returns it.
async fn line(server: &Server, marks: &[&str]) -> String {
    awaited(&format!("a line with {marks:?}"), async || {
        let log = server.stderr();
        let line = log.lines().find(|line| marks.iter().all(|mark| line.contains(mark)));
        line.map(str::to_owned).ok_or(log)
    })
    .await
}

#[tokio::test]
async fn a_request_is_followed_into_its_job_and_its_deliveries() {
    let server = Server::of(&program())
        .env("CICERONE_LOG_FORMAT", "json")
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
        .start();
    let client = server.client();
    let receiver = Receiver::start().await;
    let body = json!({ "url": receiver.url() });
    client.post("/v1/webhook_endpoints", body).await.expect(201);
    let agent = client.agent().await;
    let body = json!({ "type": "text", "content": "The museum opens at nine." });
    let added = client.post(&format!("/v1/agents/{agent}/sources"), body).await;
    let id = added.request_id().to_owned();
    receiver.wait_for(1).await;
    for mark in ["processed a source", "attempted a delivery"] {
        let line = line(&server, &[mark, &id]).await;
        let _: Value = serde_json::from_str(&line).expect("a line is a JSON object");
    }
}

#[tokio::test]
async fn the_line_of_a_request_says_what_was_asked_and_what_became_of_it() {
    let server = Server::of(&program()).env("CICERONE_LOG_FORMAT", "json").start();
    let client = server.client();
    let answer = client.get("/v1/agents/agent_0123456789").await;
    let id = answer.request_id().to_owned();
    let line = line(&server, &["cicerone::access", &id]).await;
    let line: Value = serde_json::from_str(&line).expect("a line is a JSON object");
    let span = json!({
        "name": "request",
        "request_id": id,
        "method": "GET",
        "route": "/v1/agents/{agent_id}",
        "status": 404,
    });
    assert_eq!(line["span"], span, "{line}");
    assert_eq!([&line["level"], &line["message"]], ["INFO", "served"], "{line}");
    assert!(line["latency_ms"].as_f64().is_some_and(|latency| latency > 0.0), "{line}");
    let time = line["timestamp"].as_str().unwrap_or_default();
    assert!(time.starts_with("20") && time.ends_with('Z') && time.len() == 27, "{line}");
}

#[tokio::test]
async fn a_line_about_an_error_says_its_causes() {
    let server = Server::of(&program()).env("CICERONE_LOG_FORMAT", "json").start();
    let client = server.client();
    let agent = client.agent().await;
    let database = server.data().join("cicerone.db");
    let mut database = SqliteConnection::establish(database.to_str().unwrap()).unwrap();
    diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut database).unwrap();
    diesel::sql_query("DROP TABLE document_texts").execute(&mut database).unwrap();
    let body = json!({ "type": "text", "content": "The museum opens at nine." });
    client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201);
    // A task between requests, and a request.
    let of_work = line(&server, &["cicerone_processing", "document_texts"]).await;
    diesel::sql_query("DROP TABLE conversation_metadata").execute(&mut database).unwrap();
    client.get(&format!("/v1/agents/{agent}/conversations?metadata=a:b")).await;
    let of_request = line(&server, &["cicerone_http", "conversation_metadata"]).await;
    for (line, table) in [(of_work, "document_texts"), (of_request, "conversation_metadata")] {
        let line: Value = serde_json::from_str(&line).expect("a line is a JSON object");
        let error = line["error"].as_str().unwrap_or_default();
        assert!(error.contains(&format!(": no such table: {table}")), "{line}");
    }
}

/// Does a bit of everything, with words that no log may contain; some of it fails.
async fn everything(server: &Server, receiver: &Receiver) {
    let client = server.client();
    let body = json!({ "url": receiver.url(), "description": TOLD });
    let endpoint = client.post("/v1/webhook_endpoints", body).await.expect(201);
    let agent = json!({ "name": TOLD, "system_prompt": format!("Play the {TOLD}.") });
    let agent = client.post("/v1/agents", agent).await.expect(201);
    let agent = agent["id"].as_str().unwrap();
    client.text(agent, &format!("The {TOLD} is in the hall.")).await;
    client.qa(agent, &[(&format!("Where is the {TOLD}?"), "In the hall.")]).await;
    let file = client.upload("a.txt", format!("A {TOLD} has bars.")).await.expect(201);
    client.trained(&client.source(agent, "file", file["id"].as_str().unwrap()).await).await;
    let damaged = format!("%PDF-1.7\n{TOLD}\n%%EOF");
    let file = client.upload("a.pdf", damaged).await.expect(201);
    client.failed(&client.source(agent, "file", file["id"].as_str().unwrap()).await).await;
    let question = format!("Where is the {TOLD}?");
    client.ask(agent, &question).await;
    client.stream(json!({ "agent_id": agent, "message": question, "stream": true })).await;
    let metadata = json!({ TOLD: TOLD });
    let body = json!({ "agent_id": agent, "message": TOLD.repeat(600), "metadata": metadata });
    client.post("/v1/conversations", body).await.refused(400, "invalid_parameter");
    let broken = format!("{{\"message\": \"{TOLD}");
    let request = client.request("POST", "/v1/conversations").raw("application/json", broken);
    request.send().await.refused(400, "invalid_parameter");
    let body = json!({ "query": TOLD });
    client.post(&format!("/v1/agents/{agent}/search"), body).await.expect(200);
    let key = json!({ "name": TOLD, "permissions": ["*"] });
    let key = client.post("/v1/api_keys", key).await.expect(201);
    let key = client.with_key(key["key"].as_str().unwrap());
    key.get(&format!("/v1/agents/{agent}?metadata={TOLD}")).await.expect(200);
    let path = format!("/v1/webhook_endpoints/{}", endpoint["id"].as_str().unwrap());
    key.post_nothing(&format!("{path}/rotate_secret")).await.expect(200);
    receiver.wait_for(4).await;
}

#[tokio::test]
async fn no_log_tells_keys_messages_or_documents_however_much_it_tells() {
    let parts =
        ["http", "storage", "ingestion", "retrieval", "llm", "webhooks", "egress", "server"];
    let filter: Vec<String> = parts.iter().map(|part| format!("cicerone_{part}=trace")).collect();
    let receiver = Receiver::start().await;
    for upstream in [None, Some(Upstream::start([Script::whole("In the hall.")]).await)] {
        let mut server = Server::of(&program())
            .env("RUST_LOG", format!("debug,{}", filter.join(",")))
            .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8");
        if let Some(upstream) = &upstream {
            let key = "sk-of-the-upstream-0123456789";
            server = server.env("OPENAI_BASE_URL", upstream.url()).env("OPENAI_API_KEY", key);
        }
        let server = server.start();
        everything(&server, &receiver).await;
        let log = server.log_with("processed a source").await;
        assert!(log.contains("DEBUG"), "{log}");
        for secret in [TOLD, "ck_", "whsec_", "sk-of-the-upstream", cicerone_tests::ROOT_KEY] {
            let line = log.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "the log contains `{secret}`");
        }
    }
}

#[tokio::test]
async fn traces_go_to_the_collector_and_tell_no_content() {
    let collector = Receiver::start().await;
    let address = collector.url();
    let address = address.trim_end_matches("/hook");
    let mut server = Server::of(&program())
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        .env("OTEL_SERVICE_NAME", "guide-of-the-museum")
        .start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, &format!("The {TOLD} is in the hall.")).await;
    client.ask(&agent, &format!("Where is the {TOLD}?")).await;
    server.terminate();
    assert!(server.wait().success());
    let sent = collector.wait_for(1).await;
    let body: Vec<u8> = sent.iter().flat_map(|one| one.body.to_vec()).collect();
    let has = |mark: &str| body.windows(mark.len()).any(|part| part == mark.as_bytes());
    assert!(sent.iter().all(|one| one.path == "/v1/traces"));
    assert_eq!(sent[0].header("content-type"), "application/x-protobuf");
    for mark in ["guide-of-the-museum", "request", "job", "index_sync", "/v1/conversations", &agent]
    {
        assert!(has(mark), "no `{mark}` in the traces");
    }
    assert!(!has(TOLD), "traces contain content");
}

/// A trace, and spans of the callers in it.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPANS: [&str; 2] = ["00f067aa0ba902b7", "00f067aa0ba902b8"];

#[tokio::test]
async fn requests_join_the_traces_of_their_callers() {
    let collector = Receiver::start().await;
    let address = collector.url();
    let address = address.trim_end_matches("/hook");
    let mut server = Server::of(&program()).env("OTEL_EXPORTER_OTLP_ENDPOINT", address).start();
    let client = server.client();
    let parents = [
        (format!("00-{TRACE}-{}-01", SPANS[0]), "guide=1".to_owned()),
        (format!("00-{TRACE}-{}-01", SPANS[1]), format!("guide={}", "x".repeat(600))),
        // The standard has such a value ignored, and with it the trace.
        (format!("00-{TRACE}-0000000000000000-01"), TOLD.to_owned()),
        (TOLD.repeat(100), TOLD.to_owned()),
    ];
    for (parent, state) in &parents {
        let request = client.request("GET", "/v1/agents").header("traceparent", parent);
        request.header("tracestate", state).send().await.expect(200);
    }
    server.terminate();
    assert!(server.wait().success());

    let sent = collector.wait_for(1).await;
    let body: Vec<u8> = sent.iter().flat_map(|one| one.body.to_vec()).collect();
    let count = |mark: &[u8]| body.windows(mark.len()).filter(|part| *part == mark).count();
    let bytes = |hex: &str| -> Vec<u8> {
        hex.as_bytes()
            .chunks(2)
            .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
            .collect()
    };
    assert!(count(&bytes(TRACE)) >= SPANS.len(), "the requests are in the trace");
    for span in SPANS {
        assert_eq!(count(&bytes(span)), 1, "one request has the parent {span}");
    }
    assert_eq!((count(b"guide=1"), count(b"guide=x"), count(TOLD.as_bytes())), (1, 0, 0));
}

#[tokio::test]
async fn a_collector_that_is_out_of_reach_is_reported_once_and_counted() {
    let server = Server::of(&program())
        // Nobody listens there.
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.9.9.9:9")
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
        .start();
    let client = server.client();
    let failed = "cicerone_trace_batches_total{outcome=\"failed\"} ";
    awaited("three batches have failed", async || {
        client.get("/v1/agents").await.expect(200);
        let text = client.anonymous().get("/metrics").await.text().to_owned();
        let count = text.lines().find_map(|line| line.strip_prefix(failed)?.parse().ok());
        if count.unwrap_or(0) >= 3 { Ok(()) } else { Err(text) }
    })
    .await;
    let mark = "the trace collector does not accept traces";
    assert_eq!(server.log_with(mark).await.matches(mark).count(), 1);
}

#[tokio::test]
async fn a_collector_that_is_no_address_stops_the_start() {
    let error =
        Server::of(&program()).env("OTEL_EXPORTER_OTLP_ENDPOINT", "collector").start_fails();
    assert!(error.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{error}");
}

/// The names of the metrics in the dashboard's queries.
fn shown() -> BTreeSet<String> {
    let dashboard: Value =
        serde_json::from_str(include_str!("../../../docs/grafana-dashboard.json")).unwrap();
    let mut names = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = target["expr"].as_str().unwrap();
            let words = query.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
            let is_metric =
                |word: &&str| word.starts_with("cicerone_") || word.starts_with("http_re");
            names.extend(words.filter(is_metric).map(str::to_owned));
        }
    }
    names
}

#[tokio::test]
async fn every_metric_of_the_dashboard_is_there() {
    let receiver = Receiver::start().await;
    let upstream = Upstream::start([Script::whole("In the hall.")]).await;
    let embedder = TestEmbedder::start(64).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cicerone.toml");
    let settings = format!("[embeddings]\nbase_url = \"{}\"\nmodel = \"test\"\n", embedder.url());
    std::fs::write(&file, settings).unwrap();
    let server = Server::of(&program())
        .env("CICERONE_CONFIG", file.to_str().unwrap())
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
        .env("OPENAI_BASE_URL", upstream.url())
        .start();
    everything(&server, &receiver).await;
    let client = server.client();
    let site = cicerone_tests::Site::start().await;
    site.page("/", "Hours", "The museum opens at nine.", &[]);
    let agent = client.agent().await;
    client.trained(&client.source(&agent, "website", &site.url("/")).await).await;
    // A second crawl of a guarded website is compared with the first.
    let checks = json!({ "checks": [{ "question": "When does it open?", "contains": ["nine"] }] });
    client.put(&format!("/v1/agents/{agent}/checks"), checks).await.expect(200);
    let body = json!({ "type": "website", "content": site.url("/"), "guarded": true });
    let guarded = client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201);
    let guarded = id(&guarded);
    client.trained(&guarded).await;
    site.page("/", "Hours", "The museum opens at nine in the morning.", &[]);
    client.post_nothing(&format!("/v1/sources/{guarded}/refresh")).await.expect(200);
    client.trained(&guarded).await;
    // An abandoned wait cannot be provoked here.
    let text = client.anonymous().get("/metrics").await.text().to_owned();
    for name in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
        assert!(text.contains(&format!("# HELP {name} ")), "`{name}` has no description");
    }
    let mut expected = shown();
    assert!(expected.len() > 20, "{expected:?}");
    expected.remove("cicerone_database_wait_timeouts_total");
    awaited("every shown metric has a value", async || {
        // This search is by meaning as soon as the model is known.
        client.ask(&agent, "When does the museum open?").await;
        let metrics = client.anonymous().get("/metrics").await;
        for secret in [TOLD, agent.as_str(), "default"] {
            assert!(!metrics.text().contains(secret), "metrics contain a tenant: {secret}");
        }
        let is_there = |name: &str| metrics.text().lines().any(|line| line.starts_with(name));
        let missing: Vec<_> = expected.iter().filter(|name| !is_there(name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("missing: {missing:?}")) }
    })
    .await;
}

/// The names in an answer's `Server-Timing` header. Checks that each has a number of milliseconds.
fn stages(answer: &Answer) -> Vec<&str> {
    let header = answer.header("server-timing").expect("the stages of the reply");
    let stage = |part| {
        let (name, milliseconds) = str::split_once(part, ";dur=").expect("a name and a duration");
        assert!(milliseconds.parse::<f64>().is_ok_and(|number| number >= 0.0), "{header}");
        name
    };
    header.split(", ").map(stage).collect()
}

#[tokio::test]
async fn replies_say_how_long_each_stage_took_if_a_setting_asks_for_it() {
    let upstream = Upstream::start([Script::whole("In the hall.")]).await;
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, "[http]\nserver_timing = true\n").unwrap();
    let configured = || Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap());
    let (alone, asking) =
        (configured().start(), configured().env("OPENAI_BASE_URL", upstream.url()).start());
    let embedded = ["authenticate", "read", "wait", "search", "model"];
    let with_prompt = ["authenticate", "read", "wait", "search", "prompt", "model"];
    for (server, before_the_reply) in [(&alone, &embedded[..]), (&asking, &with_prompt[..])] {
        let client = server.client();
        let agent = client.agent().await;
        client.text(&agent, "The xylophone is in the hall.").await;
        let question = json!({ "agent_id": agent, "message": "Where is the xylophone?" });

        let whole = client.post("/v1/conversations", question.clone()).await;

        assert_eq!(stages(&whole), [before_the_reply, &["commit"]].concat());
        let mut streamed = question;
        streamed["stream"] = true.into();
        let streamed = client.post("/v1/conversations", streamed).await;
        assert_eq!(stages(&streamed)[..before_the_reply.len()], *before_the_reply);
        let refused = client.post("/v1/conversations", json!({ "message": 5 })).await;
        assert_eq!(refused.header("server-timing"), None, "only replies have stages");
    }
}

#[tokio::test]
async fn replies_do_not_tell_their_stages_unasked() {
    let server = Server::of(&program()).start();
    let client = server.client();
    let agent = client.agent().await;
    let question = json!({ "agent_id": agent, "message": "Where is the xylophone?" });
    let whole = client.post("/v1/conversations", question).await;
    assert_eq!((whole.status, whole.header("server-timing")), (200, None));
}
