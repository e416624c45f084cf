//! `GET /v1/sources/{source_id}/documents`.

use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_SOURCE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/sources/{source_id}/documents",
    cases: &[
        ("200", a_text_is_one_document),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_source_is_not_found),
    ],
};

#[tokio::test]
async fn a_text_is_one_document() {
    let client = client();
    let agent = client.agent().await;
    let text = "Öffnungszeiten\n\nDas Museum öffnet um neun.";
    let source = client.text(&agent, text).await;
    let page = client.get(&format!("/v1/sources/{source}/documents")).await.expect(200);
    assert_eq!(page["has_more"], false);
    assert_eq!(page["next_cursor"], Value::Null);
    let expected = json!([{
        "id": page["data"][0]["id"], "source_id": source, "agent_id": agent, "url": null, "title": "Öffnungszeiten", "page_count": null,
        "character_count": text.chars().count(), "table_count": 0, "warnings": [], "text": text,
    }]);
    assert_eq!(page["data"], expected);
}

#[tokio::test]
async fn a_file_is_one_document_in_its_own_words() {
    let client = client();
    let agent = client.agent().await;
    let utf16: Vec<u8> =
        "\u{feff}Das Museum öffnet um neun.".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = id(&client.upload("hours.txt", utf16).await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    let trained = client.trained(&source).await;
    assert_eq!(trained["title"], "hours.txt");
    assert_eq!(trained["content"], file.as_str());
    let page = client.get(&format!("/v1/sources/{source}/documents")).await.expect(200);
    let documents = page["data"].as_array().unwrap();
    assert_eq!(documents.len(), 1);
    assert_eq!(documents[0]["text"], "Das Museum öffnet um neun.");
    assert_eq!(documents[0]["title"], "hours.txt");
    assert_eq!(documents[0]["character_count"], 26);
    assert_eq!(trained["character_count"], 26);
}

#[tokio::test]
async fn each_pair_is_a_document() {
    let client = client();
    let agent = client.agent().await;
    let pairs = [("When does it open?", "At nine."), ("When does it close?", "At seven.")];
    let source = client.qa(&agent, &pairs).await;
    let page = client.get(&format!("/v1/sources/{source}/documents")).await.expect(200);
    let documents = page["data"].as_array().unwrap();
    assert_eq!(documents.len(), 2);
    for (document, (question, answer)) in documents.iter().zip(pairs) {
        assert_eq!(document["title"], question);
        assert_eq!(document["text"], answer);
        assert_eq!(document["url"], Value::Null);
    }
}

#[tokio::test]
async fn pages_keep_the_order_of_the_source() {
    let client = client();
    let agent = client.agent().await;
    let questions: Vec<String> = (0..5).map(|n| format!("What is in room {n}?")).collect();
    let pairs: Vec<_> = questions.iter().map(|question| (question.as_str(), "Art.")).collect();
    let source = client.qa(&agent, &pairs).await;
    for size in [1, 2, 5] {
        let found = client.list_all(&format!("/v1/sources/{source}/documents"), size).await;
        let titles: Vec<_> = found.iter().map(|d| d["title"].as_str().unwrap()).collect();
        assert_eq!(titles, questions, "page_size {size}");
    }
}

#[tokio::test]
async fn a_source_that_was_never_trained_has_none() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "website", "http://127.0.0.1:9/").await;
    client.failed(&source).await;
    let page = client.get(&format!("/v1/sources/{source}/documents")).await.expect(200);
    assert_eq!(page, json!({ "data": [], "has_more": false, "next_cursor": null }));
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum.").await;
    for (name, value) in [("page_size", "0"), ("page_size", "101"), ("cursor", "x")] {
        let answer = client.get(&format!("/v1/sources/{source}/documents?{name}={value}")).await;
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let path = format!("/v1/sources/{NO_SOURCE}/documents");
    client().get(&path).await.refused(404, "resource_not_found");
}
