//! `POST /v1/agents/{agent_id}/gaps/{gap_id}/answer`.

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{open, path, with_status};
use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, NO_GAP, NO_SOURCE, client, own_server, server};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/agents/{agent_id}/gaps/{gap_id}/answer",
    cases: &[
        ("200", an_answered_gap_is_refused_no_more),
        ("400 missing_required_field", an_answer_without_its_fields_is_refused),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("400 invalid_operation", a_source_of_another_type_is_refused),
        ("404 resource_not_found", an_unknown_gap_is_not_found),
        ("409 conflict", a_source_that_is_being_processed_is_refused_for_a_second),
        ("422 validation_error", a_full_source_that_is_named_is_refused),
    ],
};

/// An agent with a gap for each of these questions, and the paths of their answers in the order of the questions.
async fn gaps(client: &Client, questions: &[&str]) -> (String, Vec<String>) {
    let agent = client.agent().await;
    for question in questions {
        client.ask(&agent, question).await;
    }
    let open = open(client, &agent).await;
    assert_eq!(open.len(), questions.len(), "{open:?}");
    let of = |question: &&str| id(open.iter().find(|gap| gap["question"] == **question).unwrap());
    let answers =
        questions.iter().map(|question| format!("{}/{}/answer", path(&agent), of(question)));
    let answers = answers.collect();
    (agent, answers)
}

fn parking() -> Value {
    json!({ "question": "Is parking free?", "answer": "Yes, behind the museum." })
}

#[tokio::test]
async fn an_answered_gap_is_refused_no_more() {
    let client = client();
    let questions = ["Is parking free?", "Which volcano erupted in Iceland?"];
    let (agent, gaps) = gaps(&client, &questions).await;
    let source = client.post(&gaps[0], parking()).await.expect(200);
    assert_eq!((&source["type"], &source["status"]), (&json!("qa"), &json!("pending")));
    let content: Value = serde_json::from_str(source["content"].as_str().unwrap()).unwrap();
    assert_eq!(content, json!([parking()]));
    let answered = with_status(&client, &agent, "answered").await;
    assert_eq!((answered.len(), &answered[0]["source_id"]), (1, &source["id"]));
    client.trained(&id(&source)).await;
    let asked = client.ask(&agent, "do i pay for parking").await;
    assert_eq!(asked["reply"], "Yes, behind the museum.");
    assert_eq!(asked["sources_used"][0]["id"], source["id"]);
    // The next answer goes to the same source.
    let body = json!({ "question": "Which volcano erupted?", "answer": "Katla." });
    let grown = client.post(&gaps[1], body).await.expect(200);
    assert_eq!((&grown["id"], &grown["status"]), (&source["id"], &json!("processing")));
    client.trained(&id(&grown)).await;
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
    let asked = client.ask(&agent, "Which volcano erupted in Iceland?").await;
    assert_eq!(asked["reply"], "Katla.");
}

#[tokio::test]
async fn a_question_that_is_refused_before_the_answer_is_trained_does_not_open_the_gap_for_long() {
    let client = client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    let source = id(&client.post(&gaps[0], parking()).await.expect(200));
    // It may or may not be refused.
    client.ask(&agent, "is parking free").await;
    client.trained(&source).await;
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_answer_can_name_its_source() {
    let client = client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    let mut body = parking();
    body["source_id"] = json!(source);
    let grown = client.post(&gaps[0], body).await.expect(200);
    assert_eq!(grown["id"], source.as_str());
    client.trained(&source).await;
    assert_eq!(client.ask(&agent, "Is parking free?").await["reply"], "Yes, behind the museum.");
    let answered = with_status(&client, &agent, "answered").await;
    assert_eq!(answered[0]["source_id"], source.as_str());
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    assert_eq!(with_status(&client, &agent, "answered").await[0]["source_id"], Value::Null);
}

#[tokio::test]
async fn the_source_for_gaps_is_made_again_when_it_is_missing_or_full() {
    let client = client();
    let questions =
        ["Is parking free?", "Which volcano erupted in Iceland?", "Can I bring my dog?"];
    let (_, gaps) = gaps(&client, &questions).await;
    let first = id(&client.post(&gaps[0], parking()).await.expect(200));
    client.delete(&format!("/v1/sources/{first}")).await.expect_nothing();
    let second = id(&client.post(&gaps[1], parking()).await.expect(200));
    assert_ne!(first, second);
    client.trained(&second).await;
    let pair = |n: usize| json!({ "question": format!("Room {n}?"), "answer": "Yes." });
    let pairs = json!({ "pairs": (0..499).map(pair).collect::<Vec<_>>() });
    client.post(&format!("/v1/sources/{second}/pairs"), pairs).await.expect(200);
    // It is being processed, and full all the same.
    let third = id(&client.post(&gaps[2], parking()).await.expect(200));
    assert_ne!(second, third);
    client.trained(&third).await;
    let again = client.post(&gaps[2], parking()).await.expect(200);
    assert_eq!(again["id"], third.as_str());
}

#[tokio::test]
async fn a_full_source_that_is_named_is_refused() {
    let client = client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    let pairs: Vec<(String, &str)> = (0..500).map(|n| (format!("Room {n}?"), "Yes.")).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(q, a)| (q.as_str(), *a)).collect();
    let source = client.qa(&agent, &pairs).await;
    let mut body = parking();
    body["source_id"] = json!(source);
    client.post(&gaps[0], body).await.refuses(422, "validation_error", "pairs");
    assert_eq!(open(&client, &agent).await.len(), 1);
}

#[tokio::test]
async fn a_source_that_is_being_processed_is_refused_for_a_second() {
    let client = client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    let send = async |_: usize| client.post(&gaps[0], parking()).await;
    let answers = join_all((0..20).map(send)).await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert!(!refused.is_empty() && refused.len() < 20, "{} were refused", refused.len());
    for answer in refused {
        answer.refused(409, "conflict");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    let sources = client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await;
    assert_eq!(sources.len(), 1, "answers at once share the source for gaps");
}

#[tokio::test]
async fn an_answer_without_its_fields_is_refused() {
    for (param, body) in [
        ("question", json!({ "answer": "Yes." })),
        ("answer", json!({ "question": "Is parking free?", "answer": null })),
    ] {
        let answer = client().post(&format!("{}/{NO_GAP}/answer", path(NO_AGENT)), body).await;
        answer.refuses(400, "missing_required_field", param);
    }
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    let other = client.agent().await;
    let foreign = client.qa(&other, &[("When?", "At nine.")]).await;
    let with = |name: &str, value: Value| {
        let mut body = parking();
        body[name] = value;
        body
    };
    let (question, answer) = (CRAB.repeat(2_000), CRAB.repeat(100_000));
    for (param, value) in [
        ("question", json!(" ")),
        ("question", json!(1)),
        ("question", json!(format!("{question}x"))),
        ("answer", json!("")),
        ("answer", json!("a\u{0}b")),
        ("answer", json!(format!("{answer}x"))),
        ("source_id", json!("7")),
        ("source_id", json!(NO_SOURCE)),
        ("source_id", json!(foreign)),
    ] {
        let answer = client.post(&gaps[0], with(param, value)).await;
        answer.refuses(400, "invalid_parameter", param);
    }
    assert_eq!(open(&client, &agent).await.len(), 1);
    let most = json!({ "question": question, "answer": answer, "source_id": null });
    client.post(&gaps[0], most).await.expect(200);
}

#[tokio::test]
async fn a_source_of_another_type_is_refused() {
    let client = client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    let source = client.source(&agent, "text", "The museum opens at nine.").await;
    let mut body = parking();
    body["source_id"] = json!(source);
    client.post(&gaps[0], body).await.refused(400, "invalid_operation");
}

#[tokio::test]
async fn an_unknown_gap_is_not_found() {
    let client = client();
    let (_, gaps) = gaps(&client, &["Is parking free?"]).await;
    let gap = gaps[0].rsplit('/').nth(1).unwrap();
    let other = client.agent().await;
    for (agent, gap) in [(&*other, NO_GAP), (&*other, gap), (&*other, "7"), (NO_AGENT, gap)] {
        let path = format!("{}/{gap}/answer", path(agent));
        client.post(&path, parking()).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_key_that_may_not_read_conversations_learns_no_question() {
    let client = client();
    let (_, gaps) = gaps(&client, &["Which volcano erupted in Iceland?"]).await;
    let writer = server().client_with(&["sources:write"]);
    let answer = writer.post(&gaps[0], parking()).await;
    answer.expect(200);
    assert!(!answer.text().contains("volcano"), "{}", answer.text());
}

#[tokio::test]
async fn an_answer_beyond_the_quota_changes_nothing() {
    let server = own_server();
    let client = server.client();
    let (agent, gaps) = gaps(&client, &["Is parking free?"]).await;
    server.succeed(&["account", "limit", "default", "--bytes", "10"]);
    client.post(&gaps[0], parking()).await.refused(429, "quota_exceeded");
    assert_eq!(open(&client, &agent).await.len(), 1);
    assert_eq!(client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await.len(), 0);
}
