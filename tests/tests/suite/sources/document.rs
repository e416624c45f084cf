//! `GET /v1/documents/{document_id}`.

use cicerone_tests::answer::is_id;
use cicerone_tests::scenario::{id, ids};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_DOCUMENT, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/documents/{document_id}",
    cases: &[
        ("200", a_document_is_what_the_list_shows),
        ("404 resource_not_found", an_unknown_document_is_not_found),
    ],
};

#[tokio::test]
async fn a_document_is_what_the_list_shows() {
    let client = client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let file = client.source(&agent, "file", &file).await;
    client.trained(&file).await;
    let pairs = [("When does it open?", "At nine."), ("When does it close?", "At seven.")];
    let qa = client.qa(&agent, &pairs).await;
    let text = client.text(&agent, "The garden is free.").await;
    for (source, count) in [(file, 1), (qa, 2), (text, 1)] {
        let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        assert_eq!(listed.len(), count);
        for document in listed {
            assert!(is_id(document["id"].as_str().unwrap(), "doc_"), "{document}");
            assert_eq!(
                (&document["source_id"], &document["agent_id"]),
                (&json!(source), &json!(agent))
            );
            let path = format!("/v1/documents/{}", id(&document));
            assert_eq!(client.get(&path).await.expect(200), document);
        }
    }
}

#[tokio::test]
async fn equal_questions_are_documents_of_their_own() {
    let client = client();
    let agent = client.agent().await;
    let pairs = [("When?", "At nine."), ("Where?", "Here."), ("When?", "At ten.")];
    let source = client.qa(&agent, &pairs).await;
    let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
    let mut all = ids(&listed);
    for (id, (_, answer)) in all.iter().zip(pairs) {
        let found = client.get(&format!("/v1/documents/{id}")).await.expect(200);
        assert_eq!(found["text"], answer);
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 3);
    // A source with the same content has documents of its own.
    let other = client.qa(&agent, &pairs).await;
    let others = ids(&client.list_all(&format!("/v1/sources/{other}/documents"), 10).await);
    assert!(others.iter().all(|id| !all.contains(id)), "{others:?}");
}

#[tokio::test]
async fn a_document_vanishes_with_its_source_and_with_its_agent() {
    let client = client();
    for removes_agent in [false, true] {
        let agent = client.agent().await;
        let source = client.text(&agent, "The museum opens at nine.").await;
        let listed = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
        let path = format!("/v1/documents/{}", id(&listed[0]));
        client.get(&path).await.expect(200);
        let gone = match removes_agent {
            true => format!("/v1/agents/{agent}"),
            false => format!("/v1/sources/{source}"),
        };
        client.delete(&gone).await.expect_nothing();
        client.get(&path).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn passages_and_hits_name_their_document() {
    let client = client();
    let agent = client.agent().await;
    let pairs =
        [("When does the museum open?", "At nine."), ("Where is the garden?", "Behind it.")];
    let source = client.qa(&agent, &pairs).await;
    let documents = ids(&client.list_all(&format!("/v1/sources/{source}/documents"), 10).await);
    let path = format!("/v1/sources/{source}/passages");
    let passages = client.list_all(&path, 1).await;
    let named: Vec<_> = passages.iter().map(|p| p["document_id"].as_str().unwrap()).collect();
    assert_eq!(named, documents);
    for (document, passage) in documents.iter().zip(&passages) {
        let only = client.list_all(&format!("{path}?document_id={document}"), 1).await;
        assert_eq!(only, std::slice::from_ref(passage));
    }
    let search = json!({ "query": "Where is the garden?" });
    let found = client.post(&format!("/v1/agents/{agent}/search"), search).await.expect(200);
    let best = &found["data"][0];
    assert_eq!((&best["document_id"], &best["position"]), (&json!(documents[1]), &json!(1)));
    assert_eq!(best["heading"], Value::Null);
    // A document of another source has no passages in this one, and an invalid id is refused.
    let other = client.text(&agent, "The museum.").await;
    let other = client.list_all(&format!("/v1/sources/{other}/documents"), 1).await;
    for document in [id(&other[0]), NO_DOCUMENT.to_owned()] {
        let page = client.get(&format!("{path}?document_id={document}")).await.expect(200);
        assert_eq!(page["data"], json!([]));
    }
    for bad in ["7", "src_0000000000", ""] {
        let answer = client.get(&format!("{path}?document_id={bad}")).await;
        answer.refuses(400, "invalid_parameter", "document_id");
    }
}

#[tokio::test]
async fn an_unknown_document_is_not_found() {
    for id in [NO_DOCUMENT, "7", "src_0000000000"] {
        client().get(&format!("/v1/documents/{id}")).await.refused(404, "resource_not_found");
    }
}
