//! `GET /v1/agents/{agent_id}/sources`.

use cicerone_tests::scenario::{id, ids, qa_content};
use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/sources",
    cases: &[
        ("200", sources_are_listed_newest_first_and_whole),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn an_agent_without_sources_has_an_empty_list() {
    let agent = client().agent().await;
    let page = client().get(&format!("/v1/agents/{agent}/sources")).await.expect(200);
    assert_eq!(page, json!({ "data": [], "has_more": false, "next_cursor": null }));
}

#[tokio::test]
async fn sources_are_listed_newest_first_and_whole() {
    let client = client();
    let agent = client.agent().await;
    let mut expected = Vec::new();
    for text in ["One.", "Two.", "Three."] {
        let source = client.text(&agent, text).await;
        expected.insert(0, client.get(&format!("/v1/sources/{source}")).await.expect(200));
    }
    let page = client.get(&format!("/v1/agents/{agent}/sources")).await.expect(200);
    assert_eq!(page["data"], json!(expected));
}

#[tokio::test]
async fn a_page_ends_before_the_source_that_would_exceed_4_mib() {
    let client = client();
    let agent = client.agent().await;
    // In JSON, each of these characters takes six bytes, so six of these sources fit.
    let text = "\u{1}".repeat(100_000);
    let mut expected = Vec::new();
    for _ in 0..8 {
        expected.insert(0, client.source(&agent, "text", &text).await);
    }
    let path = format!("/v1/agents/{agent}/sources?page_size=100");
    let answer = client.get(&path).await;
    assert!(answer.body.len() <= 4 * 1_024 * 1_024, "{} bytes", answer.body.len());
    let first = answer.expect(200);
    assert_eq!(first["has_more"], true);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = client.get(&format!("{path}&cursor={cursor}")).await.expect(200);
    assert_eq!((&second["has_more"], &second["next_cursor"]), (&json!(false), &json!(null)));
    let (first, second) = (first["data"].as_array().unwrap(), second["data"].as_array().unwrap());
    assert_eq!((first.len(), second.len()), (6, 2));
    assert_eq!([ids(first), ids(second)].concat(), expected);
    client.delete(&format!("/v1/agents/{agent}")).await.expect_nothing();
}

#[tokio::test]
async fn pages_have_neither_gap_nor_repeat() {
    let client = client();
    let agent = client.agent().await;
    let mut created = Vec::new();
    for number in 0..5 {
        created.insert(0, client.source(&agent, "text", &format!("Room {number}.")).await);
    }
    for size in [1, 2, 5, 100] {
        let path = format!("/v1/agents/{agent}/sources");
        assert_eq!(ids(&client.list_all(&path, size).await), created, "page_size {size}");
    }
}

#[tokio::test]
async fn sources_of_other_agents_are_not_listed() {
    let client = client();
    let (one, other) = (client.agent().await, client.agent().await);
    client.source(&one, "text", "The museum.").await;
    let page = client.get(&format!("/v1/agents/{other}/sources")).await.expect(200);
    assert_eq!(page["data"], json!([]));
}

#[tokio::test]
async fn the_filters_show_those_alone() {
    let client = client();
    let agent = client.agent().await;
    let text = client.text(&agent, "The museum opens at nine.").await;
    let qa = client.source(&agent, "qa", &qa_content(&[("When?", "At nine.")])).await;
    client.trained(&qa).await;
    let pdf = id(&client.upload("a.pdf", "%PDF-1.7\ndamaged").await.expect(201));
    let pdf = client.source(&agent, "file", &pdf).await;
    client.failed(&pdf).await;
    let cases = [
        ("status=trained", vec![&qa, &text]),
        ("status=failed", vec![&pdf]),
        ("status=pending", vec![]),
        ("status=processing", vec![]),
        ("type=text", vec![&text]),
        ("type=qa", vec![&qa]),
        ("type=file", vec![&pdf]),
        ("type=website", vec![]),
        ("type=qa&status=trained", vec![&qa]),
        ("type=qa&status=failed", vec![]),
    ];
    for (query, expected) in cases {
        let page = client.get(&format!("/v1/agents/{agent}/sources?{query}")).await.expect(200);
        let found = ids(page["data"].as_array().unwrap());
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

#[tokio::test]
async fn a_filter_holds_across_pages() {
    let client = client();
    let agent = client.agent().await;
    let mut texts = Vec::new();
    for number in 0..3 {
        texts.insert(0, client.source(&agent, "text", &format!("Room {number}.")).await);
        client.source(&agent, "qa", &qa_content(&[("When?", "At nine.")])).await;
    }
    let found = client.list_all(&format!("/v1/agents/{agent}/sources?type=text"), 2).await;
    assert_eq!(ids(&found), texts);
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let agent = client().agent().await;
    let bad = [
        ("page_size", "0"),
        ("page_size", "101"),
        ("page_size", "x"),
        ("status", "active"),
        ("status", "Trained"),
        ("type", "pdf"),
        ("type", ""),
        ("cursor", "x"),
    ];
    for (name, value) in bad {
        let path = format!("/v1/agents/{agent}/sources?{name}={value}");
        client().get(&path).await.refuses(400, "invalid_parameter", name);
    }
    for size in [1, 100] {
        let path = format!("/v1/agents/{agent}/sources?page_size={size}");
        client().get(&path).await.expect(200);
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let path = format!("/v1/agents/{NO_AGENT}/sources");
    client().get(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_bad_value_is_told_before_that_nothing_can_have_the_id() {
    for id in [NO_AGENT, "nobody"] {
        for list in ["sources", "conversations"] {
            let path = format!("/v1/agents/{id}/{list}");
            let answer = client().get(&format!("{path}?page_size=0")).await;
            answer.refuses(400, "invalid_parameter", "page_size");
            client().get(&path).await.refused(404, "resource_not_found");
        }
    }
}
