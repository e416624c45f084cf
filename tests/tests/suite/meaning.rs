//! Search by meaning, against an embeddings upstream that a test controls.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cicerone_tests::embedder::{Behaviour, TestEmbedder};
use cicerone_tests::postgres::Cluster;
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::world::{awaited, eventually, program};

mod failures;

/// Answers [`ASKED`] in other words.
const SAID: &str = "Vehicles\n\nAutomobiles are parked in the garage behind the theatre.";
/// Has no words in common with [`SAID`], except small ones.
const ASKED: &str = "Dónde aparcar mi coche?";

/// A server with this upstream and these further settings.
struct Served {
    server: Server,
    folder: tempfile::TempDir,
}

impl Served {
    fn start(upstream: &TestEmbedder, settings: &str) -> Self {
        Self::start_at(upstream, settings, None)
    }

    fn start_at(upstream: &TestEmbedder, settings: &str, database: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = configure(folder.path(), upstream, settings);
        let mut builder = Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap());
        if let Some(database) = database {
            builder = builder.env("CICERONE_DATABASE_URL", database);
        }
        Self { server: builder.start(), folder }
    }

    /// Replaces the settings, for the next start.
    fn set(&self, upstream: &TestEmbedder, settings: &str) {
        configure(self.folder.path(), upstream, settings);
    }

    /// The value of a metric, 0 if there is none.
    async fn metric(&self, name: &str) -> f64 {
        let metrics = self.server.client().anonymous().get("/metrics").await;
        let text = metrics.text().to_owned();
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }
}

/// Writes the configuration and returns its file. Unless the settings mention the floor of cosines, it is set.
fn configure(folder: &Path, upstream: &TestEmbedder, settings: &str) -> PathBuf {
    let file = folder.join("cicerone.toml");
    let url = upstream.url();
    let floor = if settings.contains("floor") { "" } else { "floor = 0.4\n" };
    let text = format!(
        "[embeddings]\nbase_url = \"{url}\"\nmodel = \"test\"\nquestion_prefix = \"query: \"\n\
         {floor}cache_seconds = 0\n{settings}\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

async fn search(client: &Client, agent: &str, query: &str) -> Vec<Value> {
    let path = format!("/v1/agents/{agent}/search");
    let found = client.post(&path, json!({ "query": query })).await.expect(200);
    found["data"].as_array().unwrap().clone()
}

fn sources(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(|hit| hit["source_id"].as_str().unwrap()).collect()
}

/// Waits until a search finds `source`.
async fn found(client: &Client, agent: &str, query: &str, source: &str) {
    awaited(&format!("`{query}` finds `{source}`"), async || {
        let hits = search(client, agent, query).await;
        if sources(&hits).contains(&source) { Ok(()) } else { Err(format!("{hits:?}")) }
    })
    .await;
}

/// An agent with [`SAID`] and two other texts that have vectors.
async fn learned(client: &Client) -> (String, String) {
    let agent = client.agent().await;
    let source = client.text(&agent, SAID).await;
    client.text(&agent, "Hours\n\nThe museum opens at nine o'clock.").await;
    client.text(&agent, "Bread\n\nRye loaves are baked before sunrise.").await;
    found(client, &agent, ASKED, &source).await;
    (agent, source)
}

#[tokio::test]
async fn what_is_said_in_other_words_is_found_by_meaning_and_answered() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    let reply = client.ask(&agent, ASKED).await;
    assert!(reply["reply"].as_str().unwrap().contains("garage"), "{reply}");
    assert_eq!(reply["sources_used"][0]["id"], source.as_str(), "{reply}");
    // Passages that contain the words are still found.
    let hits = search(&client, &agent, "When does the museum open?").await;
    assert!(hits[0]["text"].as_str().unwrap().contains("nine"), "{hits:?}");
    // A question that neither kind of search can answer is refused.
    let reply = client.ask(&agent, "Quién escribió Hamlet?").await;
    assert_eq!(reply["sources_used"], json!([]), "{reply}");
    assert!(served.metric("cicerone_meaning_searches_total{outcome=\"fused\"}").await >= 1.0);
}

#[tokio::test]
async fn words_and_meaning_decide_together_without_a_floor_of_cosines() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "# no floor");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    let answered = async |question: &str| {
        let reply = client.ask(&agent, question).await;
        let cited = reply["sources_used"].as_array().unwrap().first().cloned();
        cited.map(|citation| citation["id"].as_str().unwrap().to_owned())
    };
    // Close in meaning, without a common word.
    assert_eq!(answered(ASKED).await.as_deref(), Some(&*source));
    // Close to nothing, and without a common word.
    assert_eq!(answered("Quién escribió Hamlet?").await, None);
    // Words alone are enough, although nothing is closer in meaning than by chance.
    assert!(answered("When does the museum open?").await.is_some());
    // A number that the passage lacks is not outweighed by its meaning.
    assert_eq!(answered("Dónde aparcar mi coche en 1987?").await, None);
}

#[tokio::test]
async fn without_an_upstream_search_is_by_words() {
    let client = crate::world::client();
    let agent = client.agent().await;
    client.text(&agent, SAID).await;
    assert!(search(&client, &agent, ASKED).await.is_empty());
}

#[tokio::test]
async fn an_upstream_that_fails_leaves_search_by_words() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "question_seconds = 0.5");
    let client = served.server.client();
    let (agent, _) = learned(&client).await;
    let vector = |numbers: &str| {
        Behaviour::Says(format!("{{\"data\": [{{\"index\": 0, \"embedding\": [{numbers}]}}]}}"))
    };
    let zeros = vec!["0"; 128].join(",");
    for behaviour in [
        Behaviour::Refuses("500 Internal Server Error", ""),
        Behaviour::Refuses("401 Unauthorized", ""),
        Behaviour::Refuses("429 Too Many Requests", "retry-after: 1\r\n"),
        Behaviour::Says("<html></html>".to_owned()),
        Behaviour::Says("{\"data\": []}".to_owned()),
        vector("1, null"),
        vector("1e999"),
        vector("1, 2, 3"),
        vector(&zeros),
        Behaviour::Waits(Duration::from_secs(20)),
    ] {
        upstream.behave_to_questions(behaviour.clone());
        let began = Instant::now();
        let hits = search(&client, &agent, "When does the museum open?").await;
        assert!(hits[0]["text"].as_str().unwrap().contains("nine"), "{behaviour:?}: {hits:?}");
        let reply = client.ask(&agent, "When does the museum open?").await;
        assert!(reply["reply"].as_str().unwrap().contains("nine"), "{behaviour:?}: {reply}");
        assert!(began.elapsed() < Duration::from_secs(10), "{behaviour:?}");
    }
    assert!(search(&client, &agent, ASKED).await.is_empty(), "words alone do not find it");
    assert!(served.metric("cicerone_meaning_searches_total{outcome=\"words\"}").await >= 10.0);
    // The failure was reported once, and so is the recovery.
    let reported = "the embeddings upstream failed";
    assert_eq!(served.server.log_with(reported).await.matches(reported).count(), 1);
    upstream.behave(Behaviour::Answers);
    let source = client.text(&agent, "Pets\n\nCanines are forbidden indoors.").await;
    found(&client, &agent, "perro prohibido dentro", &source).await;
    served.server.log_with("searches use meaning again").await;
}

#[tokio::test]
async fn vectors_are_made_again_if_the_model_changes_under_its_name() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    // With another dimension, a question detects the change.
    upstream.change(96, 7);
    found(&client, &agent, ASKED, &source).await;
    // With the same dimension, a start detects it.
    upstream.change(96, 8);
    let mut served = served;
    served.server.restart();
    let client = served.server.client();
    let before = upstream.received().len();
    found(&client, &agent, ASKED, &source).await;
    let again = upstream.received().split_off(before);
    assert!(again.iter().flatten().any(|text| text.contains("garage")), "{again:?}");
}

#[tokio::test]
async fn interrupted_work_is_resumed_where_it_was() {
    let upstream = TestEmbedder::start(64).await;
    let mut served = Served::start(&upstream, "batch = 5");
    let client = served.server.client();
    let agent = client.agent().await;
    let questions: Vec<String> =
        (0..40).map(|number| format!("What is in cabinet number{number}?")).collect();
    let pairs: Vec<_> =
        questions.iter().map(|question| (question.as_str(), "Old coins.")).collect();
    upstream.behave(Behaviour::Waits(Duration::from_millis(200)));
    client.qa(&agent, &pairs).await;
    let count = || upstream.received().iter().flatten().filter(|t| t.contains("cabinet")).count();
    eventually("vectors are requested", async || count() >= 15).await;
    served.server.kill();
    upstream.behave(Behaviour::Answers);
    served.server.restart();
    awaited("all vectors are there", async || {
        let lacking = served.metric("cicerone_sources_without_vectors").await;
        let requested = count();
        if requested >= 40 && lacking == 0.0 {
            Ok(())
        } else {
            Err(format!("{requested} requested"))
        }
    })
    .await;
    // At most the batch in progress and the one just answered were requested again.
    assert!((40..=50).contains(&count()), "{}", count());
}

#[tokio::test]
async fn a_long_passage_that_is_refused_keeps_no_other_from_its_vector() {
    let upstream = TestEmbedder::start(128).await;
    upstream.behave(Behaviour::RefusesLongTexts(500));
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let agent = client.agent().await;
    let long = format!("Coins\n\n{}", "Old coins lie in cabinets. ".repeat(200));
    client.text(&agent, &long).await;
    let source = client.text(&agent, SAID).await;
    found(&client, &agent, ASKED, &source).await;
}

#[tokio::test]
async fn what_is_deleted_is_never_found_by_meaning() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    for round in 0..5 {
        let text = format!("Notice {round}\n\nCanines are forbidden indoors.");
        let notice = client.text(&agent, &text).await;
        found(&client, &agent, "perro prohibido dentro", &notice).await;
        client.delete(&format!("/v1/sources/{notice}")).await.expect_nothing();
        let hits = search(&client, &agent, "perro prohibido dentro").await;
        assert!(!sources(&hits).contains(&notice.as_str()), "{hits:?}");
    }
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    assert!(
        search(&client, &agent, ASKED)
            .await
            .iter()
            .all(|hit| { hit["source_id"] != source.as_str() })
    );
}

#[tokio::test]
async fn a_flood_of_one_account_does_not_delay_the_vectors_of_another() {
    let upstream = TestEmbedder::start(64).await;
    let served = Served::start(&upstream, "batch = 4");
    let (flood, other) = (served.server.account("flood"), served.server.account("other"));
    upstream.behave(Behaviour::Waits(Duration::from_millis(100)));
    let agent = flood.agent().await;
    let questions: Vec<String> =
        (0..400).map(|number| format!("What is in cabinet number{number}?")).collect();
    let pairs: Vec<_> = questions.iter().map(|question| (question.as_str(), "Coins.")).collect();
    flood.qa(&agent, &pairs).await;
    let asked = |word: &str| {
        upstream.received().iter().flatten().filter(|text| text.contains(word)).count()
    };
    eventually("vectors are requested", async || asked("cabinet") >= 8).await;
    let agent = other.agent().await;
    let source = other.text(&agent, SAID).await;
    upstream.behave_to_questions(Behaviour::Answers);
    found(&other, &agent, ASKED, &source).await;
    assert!(asked("cabinet") < 400, "the flood was not over");
}

#[tokio::test]
async fn bytes_of_vectors_are_counted_and_given_back() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let kept = async || {
        client.get("/v1/me").await.expect(200)["quotas"]["bytes"]["used"].as_u64().unwrap()
    };
    let before = kept().await;
    let (agent, _) = learned(&client).await;
    eventually("vectors are counted", async || kept().await >= before + 3 * 128 * 4).await;
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    assert_eq!(kept().await, before);
}

#[tokio::test]
async fn on_postgresql_two_servers_find_by_meaning_what_one_learned() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database().to_string();
    let upstream = TestEmbedder::start(128).await;
    let one = Served::start_at(&upstream, "", Some(&url));
    let other = Served::start_at(&upstream, "", Some(&url));
    let (agent, source) = learned(&one.server.client()).await;
    let client = other.server.client();
    found(&client, &agent, ASKED, &source).await;
    one.server.client().delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    let hits = search(&client, &agent, ASKED).await;
    assert!(!sources(&hits).contains(&source.as_str()), "{hits:?}");
}

#[tokio::test]
async fn vectors_of_a_small_agent_survive_a_restart_and_go_with_it() {
    let upstream = TestEmbedder::start(128).await;
    let mut served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    let folder = served.server.data().join("index/vectors").join(&agent);
    let file = folder.join("vectors");
    // The file ends with a description that has the ids of its sources.
    let description = || {
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.rfind("{\"version\"").map_or(String::new(), |begin| text[begin..].to_owned())
    };
    // A source whose vectors are not all stored yet is written again when they are.
    eventually("the file has all of three sources", async || {
        found(&client, &agent, ASKED, &source).await;
        description().matches("\"is_complete\":true").count() >= 3
    })
    .await;
    let written = || std::fs::metadata(&file).unwrap().modified().unwrap();
    let before = (written(), description());
    served.server.restart();
    let client = served.server.client();
    found(&client, &agent, ASKED, &source).await;
    assert_eq!((written(), description()), before, "the files were made again");
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
    eventually("the vectors of a deleted agent are removed", async || !folder.exists()).await;
}

#[tokio::test]
async fn vectors_are_removed_from_the_disk_if_the_upstream_is() {
    let upstream = TestEmbedder::start(128).await;
    let mut served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, _) = learned(&client).await;
    let folder = served.server.data().join("index/vectors");
    assert!(folder.join(&agent).exists());
    std::fs::write(served.folder.path().join("cicerone.toml"), "").unwrap();
    served.server.restart();
    assert!(!folder.exists());
    let client = served.server.client();
    let hits = search(&client, &agent, "When does the museum open?").await;
    assert!(hits[0]["text"].as_str().unwrap().contains("nine"), "{hits:?}");
}

#[tokio::test]
async fn waiting_for_the_vector_of_a_question_is_a_stage_of_its_own() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "[http]\nserver_timing = true");
    let client = served.server.client();
    let (agent, _) = learned(&client).await;
    upstream.behave_to_questions(Behaviour::Waits(Duration::from_millis(300)));
    let question = json!({ "agent_id": agent, "message": "When does the museum open today?" });
    let reply = client.post("/v1/conversations", question).await;
    let stages = reply.header("server-timing").unwrap();
    let (_, rest) = stages.split_once("embed;dur=").unwrap();
    let taken: f64 = rest.split(',').next().unwrap().parse().unwrap();
    assert!(taken >= 300.0, "{stages}");
}
