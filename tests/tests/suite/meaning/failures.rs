//! An embeddings upstream that fails at some texts, or for a while.

use std::time::Duration;

use cicerone_tests::embedder::{Behaviour, TestEmbedder};

use super::{ASKED, SAID, Served, found, learned, search};
use crate::world::eventually;

const LACKING: &str = "cicerone_sources_without_vectors";
const WITHOUT: &str = "cicerone_passages_without_vector_total";

fn no_number() -> Behaviour {
    Behaviour::Says("{\"data\": [{\"index\": 0, \"embedding\": [null]}]}".to_owned())
}

#[tokio::test]
async fn a_passage_that_the_model_fails_at_keeps_no_other_from_its_vector() {
    for behaviour in [
        Behaviour::Refuses("500 Internal Server Error", ""),
        Behaviour::Refuses("400 Bad Request", ""),
        no_number(),
    ] {
        let upstream = TestEmbedder::start(128).await;
        upstream.behave(Behaviour::At("poison", Box::new(behaviour.clone())));
        let served = Served::start(&upstream, "batch = 8");
        let (hostile, other) = (served.server.account("hostile"), served.server.account("other"));
        let agent = hostile.agent().await;
        let mut pairs: Vec<(&str, &str)> = vec![("What is in the cabinet?", "Coins."); 11];
        pairs.insert(5, ("What is the poison?", "It is bitter."));
        pairs.push((ASKED, "Automobiles are parked in the garage."));
        hostile.qa(&agent, &pairs).await;
        let others_agent = other.agent().await;
        let source = other.text(&others_agent, SAID).await;
        found(&other, &others_agent, ASKED, &source).await;
        eventually("the source of the poison is never done", async || {
            served.metric(WITHOUT).await > 0.0 && served.metric(LACKING).await == 0.0
        })
        .await;
        assert!(served.metric(WITHOUT).await < 2.0, "{behaviour:?}: others have vectors");
        let reported = "returns no vector for a passage";
        let log = served.server.log_with(reported).await;
        assert_eq!(log.matches(reported).count(), 1, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_model_that_refuses_everything_for_a_while_makes_all_vectors_afterwards() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, _) = learned(&client).await;
    upstream.behave(Behaviour::Refuses("400 Bad Request", ""));
    let before = upstream.received().len();
    let source = client.text(&agent, "Pets\n\nCanines are forbidden indoors.").await;
    eventually("nothing is asked for", async || upstream.received().len() >= before + 4).await;
    upstream.behave(Behaviour::Answers);
    found(&client, &agent, "perro prohibido dentro", &source).await;
    assert!(served.metric(WITHOUT).await < 1.0);
}

#[tokio::test]
async fn questions_that_the_model_fails_at_leave_search_by_meaning_to_others() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    for behaviour in [
        Behaviour::Refuses("400 Bad Request", ""),
        Behaviour::Refuses("500 Internal Server Error", ""),
        no_number(),
    ] {
        upstream.behave_to_questions(Behaviour::At("poison", Box::new(behaviour)));
        for number in 0..5 {
            search(&client, &agent, &format!("Is poison {number} bitter?")).await;
        }
        let hits = search(&client, &agent, ASKED).await;
        assert!(super::sources(&hits).contains(&source.as_str()), "{hits:?}");
    }
    assert!(!served.server.stderr().contains("the embeddings upstream failed"));
}

#[tokio::test]
async fn a_question_that_is_too_long_for_the_model_is_searched_by_its_end() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, source) = learned(&client).await;
    upstream.behave_to_questions(Behaviour::RefusesLongTexts(600));
    let long = format!("{} {ASKED} {}", "x".repeat(2_000), ASKED.repeat(20));
    let hits = search(&client, &agent, &long).await;
    assert!(super::sources(&hits).contains(&source.as_str()), "{hits:?}");
}

#[tokio::test]
async fn a_model_that_never_answered_is_counted_and_a_slow_one_is_measured_in_its_own_time() {
    let upstream = TestEmbedder::start(128).await;
    upstream.behave(Behaviour::Refuses("500 Internal Server Error", ""));
    let served = Served::start(&upstream, "question_seconds = 0.2\nbatch_seconds = 10");
    let client = served.server.client();
    let agent = client.agent().await;
    let source = client.text(&agent, SAID).await;
    assert!(search(&client, &agent, ASKED).await.is_empty());
    assert!(served.metric("cicerone_meaning_searches_total{outcome=\"words\"}").await >= 1.0);
    // The questions by which it is measured take longer than a person waits.
    upstream.behave(Behaviour::Answers);
    upstream.behave_to_questions(Behaviour::Waits(Duration::from_millis(800)));
    eventually("no passage is asked for", async || {
        upstream.received().iter().flatten().any(|text| text.contains("Automobiles are parked"))
    })
    .await;
    upstream.behave(Behaviour::Answers);
    found(&client, &agent, ASKED, &source).await;
}

#[tokio::test]
async fn what_is_left_to_do_is_known_while_it_is_done() {
    let upstream = TestEmbedder::start(64).await;
    let served = Served::start(&upstream, "batch = 1");
    let client = served.server.client();
    let agent = client.agent().await;
    upstream.behave(Behaviour::Waits(Duration::from_millis(200)));
    let pairs = vec![("What is in the cabinet?", "Coins."); 50];
    client.qa(&agent, &pairs).await;
    eventually("the sources without vectors are not counted", async || {
        served.metric(LACKING).await > 0.0
    })
    .await;
    let asked = upstream.received().iter().flatten().filter(|t| t.contains("cabinet")).count();
    assert!(asked < 50, "it was counted when all was done");
}

#[tokio::test]
async fn vectors_are_made_again_if_a_setting_changes_that_they_depend_on() {
    let upstream = TestEmbedder::start(128).await;
    let mut served = Served::start(&upstream, "");
    let (agent, source) = learned(&served.server.client()).await;
    for setting in ["passage_prefix = \"passage: \"", "text_chars = 150"] {
        served.set(&upstream, setting);
        let before = upstream.received().len();
        served.server.restart();
        eventually("the passages are not embedded again", async || {
            let again = upstream.received().split_off(before);
            again.iter().flatten().any(|text| text.contains("garage"))
        })
        .await;
        found(&served.server.client(), &agent, ASKED, &source).await;
    }
    let before = upstream.received().len();
    served.server.restart();
    found(&served.server.client(), &agent, ASKED, &source).await;
    let again = upstream.received().split_off(before);
    assert!(!again.iter().flatten().any(|text| text.contains("garage")), "{again:?}");
}

#[tokio::test]
async fn slow_questions_of_one_account_leave_search_by_meaning_to_others() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "question_seconds = 0.5");
    let (hostile, other) = (served.server.account("hostile"), served.server.account("other"));
    let (theirs, _) = learned(&hostile).await;
    let (agent, source) = learned(&other).await;
    let slow = Behaviour::Waits(Duration::from_secs(20));
    upstream.behave_to_questions(Behaviour::At("poison", Box::new(slow)));
    for number in 0..6 {
        search(&hostile, &theirs, &format!("Is poison {number} bitter?")).await;
        // Another text each time, since vectors of questions are cached.
        let asked = format!("{ASKED} {number}");
        let hits = search(&other, &agent, &asked).await;
        assert!(super::sources(&hits).contains(&source.as_str()), "{hits:?}");
    }
    assert!(!served.server.stderr().contains("the embeddings upstream failed"));
}

#[tokio::test]
async fn a_short_question_after_a_long_message_is_searched_by_meaning() {
    let upstream = TestEmbedder::start(128).await;
    let served = Served::start(&upstream, "");
    let client = served.server.client();
    let (agent, _) = learned(&client).await;
    let before = "A whale swims in the ocean. ".repeat(2_000);
    let body = serde_json::json!({
        "model": agent,
        "messages": [
            { "role": "user", "content": before },
            { "role": "user", "content": ASKED },
        ],
    });
    let before = upstream.received().len();
    client.post("/v1/chat/completions", body).await.expect(200);
    let asked = upstream.received()[before..].concat();
    let [text] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(text.ends_with(ASKED), "the question is embedded");
    assert!(text.chars().count() < 1_100, "{} characters", text.chars().count());
}
