//! `GET /v1/sources/{source_id}/passages`.

use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_SOURCE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/sources/{source_id}/passages",
    cases: &[
        ("200", a_short_text_is_one_passage),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_source_is_not_found),
    ],
};

fn long_text() -> String {
    let rooms = (0..200).map(|n| format!("Room {n} shows the art of the year {}. ", 1_700 + n));
    rooms.collect()
}

#[tokio::test]
async fn a_short_text_is_one_passage() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    let page = client.get(&format!("/v1/sources/{source}/passages")).await.expect(200);
    let expected = json!([{
        "document_id": page["data"][0]["document_id"], "position": 0, "title": "The museum opens at nine.", "url": null, "page": null,
        "text": "The museum opens at nine.",
    }]);
    assert_eq!(page["data"], expected);
}

#[tokio::test]
async fn a_long_text_is_several_passages_that_hold_all_of_it() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, &long_text()).await;
    let path = format!("/v1/sources/{source}/passages");
    let passages = client.list_all(&path, 2).await;
    assert!(passages.len() > 2, "{} passages", passages.len());
    let positions: Vec<u64> = passages.iter().map(|p| p["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, (0..u64::try_from(passages.len()).unwrap()).collect::<Vec<_>>());
    for room in 0..200 {
        let sentence = format!("Room {room} shows the art of the year {}.", 1_700 + room);
        let found = passages.iter().any(|p| p["text"].as_str().unwrap().contains(&sentence));
        assert!(found, "`{sentence}` was split");
    }
}

#[tokio::test]
async fn pages_have_neither_gap_nor_repeat() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, &long_text()).await;
    let path = format!("/v1/sources/{source}/passages");
    let whole = client.list_all(&path, 100).await;
    for size in [1, 3] {
        assert_eq!(client.list_all(&path, size).await, whole, "page_size {size}");
    }
}

#[tokio::test]
async fn each_pair_is_a_passage_with_its_question_as_title() {
    let client = client();
    let agent = client.agent().await;
    let source = client.qa(&agent, &[("When does it open?", "At nine.")]).await;
    let page = client.get(&format!("/v1/sources/{source}/passages")).await.expect(200);
    assert_eq!(page["data"][0]["title"], "When does it open?");
    assert!(page["data"][0]["text"].as_str().unwrap().contains("At nine."), "{page}");
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum.").await;
    for (name, value) in [("page_size", "0"), ("page_size", "101"), ("cursor", "x")] {
        let answer = client.get(&format!("/v1/sources/{source}/passages?{name}={value}")).await;
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let answer = client().get(&format!("/v1/sources/{NO_SOURCE}/passages")).await;
    let error = answer.refused(404, "resource_not_found");
    assert_eq!(error.get("errors"), None::<&Value>);
}
