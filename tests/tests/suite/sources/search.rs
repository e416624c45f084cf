//! `POST /v1/agents/{agent_id}/search`.

use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/agents/{agent_id}/search",
    cases: &[
        ("200", the_best_passage_comes_first),
        ("400 missing_required_field", a_search_without_a_query_is_refused),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn the_best_passage_comes_first() {
    let client = client();
    let agent = client.agent().await;
    let museum = client.text(&agent, "Museum\n\nThe museum opens at nine.").await;
    client.text(&agent, "Garden\n\nThe garden closes at seven.").await;
    let path = format!("/v1/agents/{agent}/search");
    let body = json!({ "query": "When does the museum open?" });
    let found = client.post(&path, body).await.expect(200);
    let hits = found["data"].as_array().unwrap();
    assert_eq!(hits[0]["source_id"], museum.as_str());
    assert_eq!(hits[0]["title"], "Museum");
    assert_eq!(hits[0]["url"], Value::Null);
    assert_eq!(hits[0]["page"], Value::Null);
    assert!(hits[0]["text"].as_str().unwrap().contains("opens at nine"), "{found}");
    let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.iter().all(|score| *score > 0.0), "{scores:?}");
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
}

#[tokio::test]
async fn a_search_says_whether_a_message_would_be_answered() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine. On Mondays it is closed.").await;
    let path = format!("/v1/agents/{agent}/search");
    for (query, is_answered) in
        [("When does the museum open?", true), ("How do trains cross the museum?", false)]
    {
        let found = client.post(&path, json!({ "query": query })).await.expect(200);
        let number = |name: &str| found[name].as_f64().unwrap();
        assert_eq!(number("confidence") >= number("floor"), is_answered, "{query} {found}");
        let answer = client.ask(&agent, query).await;
        assert_eq!(answer["sources_used"] != json!([]), is_answered, "{query} {answer}");
    }
}

#[tokio::test]
async fn the_floor_is_that_of_the_agent() {
    let client = client();
    let agent = client.agent().await;
    let floor = async |name: &str| {
        let body = json!({ "answer_floor": name });
        client.patch(&format!("/v1/agents/{agent}"), body).await.expect(200);
        let body = json!({ "query": "museum" });
        let found = client.post(&format!("/v1/agents/{agent}/search"), body).await.expect(200);
        found["floor"].as_f64().unwrap()
    };
    let floors = [floor("eager").await, floor("balanced").await, floor("cautious").await];
    assert!(floors[0] < floors[1] && floors[1] < floors[2], "{floors:?}");
}

#[tokio::test]
async fn search_changes_nothing_and_finds_nothing_in_an_empty_agent() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/search");
    let found = client.post(&path, json!({ "query": "museum" })).await.expect(200);
    assert_eq!(found["data"], json!([]));
    assert_eq!(found["confidence"], 0.0);
    let page = client.get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    assert_eq!(page["data"], json!([]));
}

#[tokio::test]
async fn a_search_gives_10_hits_unless_told_otherwise() {
    let client = client();
    let agent = client.agent().await;
    let questions: Vec<String> = (0..60).map(|n| format!("What is in museum room {n}?")).collect();
    let pairs: Vec<_> = questions.iter().map(|question| (question.as_str(), "Art.")).collect();
    client.qa(&agent, &pairs).await;
    let path = format!("/v1/agents/{agent}/search");
    let cases = [
        (json!({}), 10),
        (json!({ "limit": null }), 10),
        (json!({ "limit": 1 }), 1),
        (json!({ "limit": 50 }), 50),
    ];
    for (mut body, expected) in cases {
        body["query"] = json!("What is in the museum?");
        let found = client.post(&path, body).await.expect(200);
        assert_eq!(found["data"].as_array().unwrap().len(), expected);
    }
}

#[tokio::test]
async fn only_the_agents_own_sources_are_found() {
    let client = client();
    let (one, other) = (client.agent().await, client.agent().await);
    client.text(&one, "The museum opens at nine.").await;
    let path = format!("/v1/agents/{other}/search");
    let found = client.post(&path, json!({ "query": "museum" })).await.expect(200);
    assert_eq!(found["data"], json!([]));
}

#[tokio::test]
async fn queries_are_words_and_never_syntax() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let path = format!("/v1/agents/{agent}/search");
    let nested = "(".repeat(2_000) + &")".repeat(2_000);
    for query in ["*", "museum AND (", "\"museum", "text:museum", "-museum +", "[* TO *]", &nested]
    {
        client.post(&path, json!({ "query": query })).await.expect(200);
    }
}

#[tokio::test]
async fn a_paused_agent_can_be_searched() {
    let client = client();
    let agent = client.agent().await;
    client.patch(&format!("/v1/agents/{agent}"), json!({ "status": "paused" })).await.expect(200);
    client
        .post(&format!("/v1/agents/{agent}/search"), json!({ "query": "museum" }))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_search_without_a_query_is_refused() {
    let path = format!("/v1/agents/{}/search", client().agent().await);
    for body in [json!({}), json!({ "query": null })] {
        client().post(&path, body).await.refuses(400, "missing_required_field", "query");
    }
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let path = format!("/v1/agents/{}/search", client().agent().await);
    let bad = [
        ("query", json!("")),
        ("query", json!(" \n")),
        ("query", json!(1)),
        ("limit", json!(0)),
        ("limit", json!(51)),
        ("limit", json!(-1)),
        ("limit", json!("10")),
        ("limit", json!(1.5)),
    ];
    for (field, value) in bad {
        let mut body = json!({ "query": "museum" });
        body[field] = value;
        client().post(&path, body).await.refuses(400, "invalid_parameter", field);
    }
}

#[tokio::test]
async fn a_query_of_4000_characters_is_taken_and_one_of_4001_is_not() {
    let path = format!("/v1/agents/{}/search", client().agent().await);
    client().post(&path, json!({ "query": CRAB.repeat(4_000) })).await.expect(200);
    let answer = client().post(&path, json!({ "query": CRAB.repeat(4_001) })).await;
    answer.refuses(400, "invalid_parameter", "query");
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let answer =
        client().post(&format!("/v1/agents/{NO_AGENT}/search"), json!({ "query": "x" })).await;
    answer.refused(404, "resource_not_found");
}
