//! `POST /v1/sources/{source_id}/pairs`.

use cicerone_tests::Client;
use cicerone_tests::scenario::{id, qa_content};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, NO_SOURCE, client, own_server};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/sources/{source_id}/pairs",
    cases: &[
        ("200", added_pairs_are_answered_and_the_others_still_are),
        ("400 missing_required_field", a_request_without_pairs_is_refused),
        ("400 invalid_parameter", what_is_no_list_of_pairs_is_refused),
        ("400 invalid_operation", other_types_than_qa_are_refused),
        ("404 resource_not_found", an_unknown_source_is_not_found),
        ("409 conflict", a_source_that_is_being_processed_is_refused_for_a_second),
        ("422 validation_error", malformed_pairs_are_refused_one_finding_each),
    ],
};

fn path(source: &str) -> String {
    format!("/v1/sources/{source}/pairs")
}

fn pair(question: &str, answer: &str) -> Value {
    json!({ "question": question, "answer": answer })
}

/// That many pairs, numbered from `first`.
fn pairs(first: usize, count: usize) -> Value {
    let numbers = first..first + count;
    numbers.map(|n| pair(&format!("What is in room {n}?"), &format!("Statue {n}."))).collect()
}

/// The titles and ids of the documents of a source, in order.
async fn documents(client: &Client, source: &str) -> Vec<(String, String)> {
    let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 100).await;
    let title = |document: &Value| document["title"].as_str().unwrap().to_owned();
    listed.iter().map(|document| (title(document), id(document))).collect()
}

#[tokio::test]
async fn added_pairs_are_answered_and_the_others_still_are() {
    let client = client();
    let agent = client.agent().await;
    // Other members of the objects are kept as well.
    let content =
        r#" [{"question": "When does the museum open?", "answer": "At nine.", "by": "Ada"} ] "#;
    let source = client.source(&agent, "qa", content).await;
    client.trained(&source).await;
    let before = documents(&client, &source).await;
    let body = json!({ "pairs": [pair("Is parking free?", "Yes, behind the \"old\" gate. 🦀")] });
    let answer = client.post(&path(&source), body).await.expect(200);
    assert_eq!((&answer["id"], &answer["status"]), (&json!(source), &json!("processing")));
    assert!(answer["character_count"].as_u64() > Some(0), "the previous content is searched");
    let grown: Value = serde_json::from_str(answer["content"].as_str().unwrap()).unwrap();
    let expected = json!([
        { "question": "When does the museum open?", "answer": "At nine.", "by": "Ada" },
        { "question": "Is parking free?", "answer": "Yes, behind the \"old\" gate. 🦀" },
    ]);
    assert_eq!(grown, expected);
    let trained = client.trained(&source).await;
    assert_eq!(trained["content"], answer["content"]);
    let after = documents(&client, &source).await;
    assert_eq!(after[..1], before[..], "documents keep their ids");
    assert_eq!((after.len(), &*after[1].0), (2, "Is parking free?"));
    for (question, reply) in
        [("Is parking free?", "behind"), ("When does the museum open?", "nine")]
    {
        let asked = client.ask(&agent, question).await;
        assert!(asked["reply"].as_str().unwrap().contains(reply), "{asked}");
        assert_eq!(asked["sources_used"][0]["id"], source.as_str());
    }
    let passages = client.list_all(&format!("/v1/sources/{source}/passages"), 100).await;
    let positions: Vec<_> = passages.iter().map(|passage| &passage["position"]).collect();
    assert_eq!(positions, [0, 1]);
}

#[tokio::test]
async fn a_source_grows_to_500_pairs_and_no_further() {
    let client = client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    let add = async |pairs: Value| client.post(&path(&source), json!({ "pairs": pairs })).await;
    add(pairs(0, 498)).await.expect(200);
    client.trained(&source).await;
    let error = add(pairs(498, 2)).await.refuses(422, "validation_error", "pairs");
    assert!(error["message"].as_str().unwrap().contains("499 of 500"), "{error}");
    add(pairs(498, 1)).await.expect(200);
    client.trained(&source).await;
    assert_eq!(documents(&client, &source).await.len(), 500);
    add(pairs(499, 1)).await.refuses(422, "validation_error", "pairs");
    let asked = client.ask(&agent, "What is in room 498?").await;
    assert_eq!(asked["reply"], "Statue 498.");
}

#[tokio::test]
async fn a_request_adds_500_pairs_at_most() {
    let client = client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    let most = client.post(&path(&source), json!({ "pairs": pairs(0, 500) })).await;
    // The one that is there makes 501.
    most.refuses(422, "validation_error", "pairs");
    let more = client.post(&path(&source), json!({ "pairs": pairs(0, 501) })).await;
    let error = more.refuses(422, "validation_error", "pairs");
    assert!(error["message"].as_str().unwrap().contains("not 501"), "{error}");
}

#[tokio::test]
async fn content_grows_to_8_mib_and_no_further() {
    let client = client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    let long = "The museum. ".repeat(400_000);
    let add = async |answer: &str| {
        client.post(&path(&source), json!({ "pairs": [pair("What is it?", answer)] })).await
    };
    add(&long).await.expect(200);
    client.trained(&source).await;
    let error = add(&long).await.refuses(422, "validation_error", "pairs");
    assert!(error["message"].as_str().unwrap().contains("8388608"), "{error}");
    add("A museum.").await.expect(200);
    client.trained(&source).await;
}

#[tokio::test]
async fn a_second_pair_with_the_same_question_has_a_document_of_its_own() {
    let client = client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    let again = json!({ "pairs": [pair("When does it open?", "On Sundays at ten.")] });
    client.post(&path(&source), again).await.expect(200);
    client.trained(&source).await;
    let documents = documents(&client, &source).await;
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[0].0, documents[1].0);
    assert_ne!(documents[0].1, documents[1].1);
}

#[tokio::test]
async fn a_source_that_is_being_processed_is_refused_for_a_second() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "qa", &qa_content(&[("When?", "At nine.")])).await;
    client.trained(&source).await;
    let add = async |n: usize| client.post(&path(&source), json!({ "pairs": pairs(n, 1) })).await;
    let answers = join_all((0..20).map(add)).await;
    let mut added = 0;
    for answer in &answers {
        match answer.status {
            200 => added += 1,
            _ => {
                answer.refused(409, "conflict");
                assert_eq!(answer.header("retry-after"), Some("1"));
                assert_eq!(answer.header("x-should-retry"), None);
            }
        }
    }
    assert!((1..20).contains(&added), "{added} were added");
    client.trained(&source).await;
    assert_eq!(documents(&client, &source).await.len(), 1 + added);
}

#[tokio::test]
async fn a_key_whose_request_was_refused_for_a_second_can_be_used_again() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "qa", &qa_content(&[("When?", "At nine.")])).await;
    let body = json!({ "pairs": pairs(0, 1) });
    let key = format!("pairs-{source}");
    loop {
        let request = client.request("POST", &path(&source)).json(&body).idempotent(&key);
        let answer = request.send().await;
        if answer.status == 200 {
            break;
        }
        answer.refused(409, "conflict");
        client.trained(&source).await;
    }
    client.trained(&source).await;
    let request = client.request("POST", &path(&source)).json(&body).idempotent(&key);
    assert_eq!(request.send().await.header("idempotent-replayed"), Some("true"));
    assert_eq!(documents(&client, &source).await.len(), 2);
}

#[tokio::test]
async fn a_request_without_pairs_is_refused() {
    for body in [json!({}), json!({ "pairs": null }), json!({ "pair": [] })] {
        let answer = client().post(&path(NO_SOURCE), body).await;
        answer.refuses(400, "missing_required_field", "pairs");
    }
}

#[tokio::test]
async fn what_is_no_list_of_pairs_is_refused() {
    for body in [json!({ "pairs": "x" }), json!({ "pairs": {} }), json!({ "pairs": 1 })] {
        client().post(&path(NO_SOURCE), body).await.refuses(400, "invalid_parameter", "pairs");
    }
    for body in ["[]", "[[]]", "\"pairs\"", "{\"pairs\": [", "", "{\"pairs\": []}x"] {
        let request = client().request("POST", &path(NO_SOURCE));
        let answer = request.raw("application/json", body).send().await;
        answer.refuses(400, "invalid_parameter", "body");
    }
}

#[tokio::test]
async fn malformed_pairs_are_refused_one_finding_each() {
    let client = client();
    let long = CRAB.repeat(2_001);
    for (pairs, params) in [
        (json!([]), vec!["pairs"]),
        (json!([1]), vec!["pairs[0]"]),
        (json!([{}]), vec!["pairs[0].question", "pairs[0].answer"]),
        (json!([pair("a", "b"), { "question": "a", "answer": 7 }]), vec!["pairs[1].answer"]),
        (json!([pair(" ", "b")]), vec!["pairs[0].question"]),
        (json!([pair("a\u{0}", "b")]), vec!["pairs[0].question"]),
        (json!([pair(&long, "b")]), vec!["pairs[0].question"]),
    ] {
        let answer = client.post(&path(NO_SOURCE), json!({ "pairs": pairs })).await;
        let error = answer.refused(422, "validation_error");
        let findings = error["errors"].as_array().unwrap();
        let found: Vec<&str> = findings.iter().map(|one| one["param"].as_str().unwrap()).collect();
        assert_eq!(found, params, "{pairs}");
    }
}

#[tokio::test]
async fn other_types_than_qa_are_refused() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "text", "The museum.").await;
    let body = json!({ "pairs": pairs(0, 1) });
    let answer = client.post(&path(&source), body).await;
    let error = answer.refused(400, "invalid_operation");
    assert!(error["message"].as_str().unwrap().contains("text"), "{error}");
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    for source in [NO_SOURCE, "7"] {
        let answer = client().post(&path(source), json!({ "pairs": pairs(0, 1) })).await;
        answer.refused(404, "resource_not_found");
        let malformed = client().post(&path(source), json!({ "pairs": [] })).await;
        malformed.refused(422, "validation_error");
    }
}

#[tokio::test]
async fn pairs_beyond_the_quota_are_refused_and_nothing_is_added() {
    let server = own_server();
    let client = server.client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    server.succeed(&["account", "limit", "default", "--bytes", "10000"]);
    let body = json!({ "pairs": [pair("What is it?", &"A museum. ".repeat(2_000))] });
    client.post(&path(&source), body).await.refused(429, "quota_exceeded");
    let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
    assert_eq!(found["status"], "trained");
    assert_eq!(found["content"], qa_content(&[("When does it open?", "At nine.")]));
}
