//! `GET /v1/sources/{source_id}`.

use serde_json::Value;

use crate::coverage::Covers;
use crate::world::{NO_SOURCE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/sources/{source_id}",
    cases: &[
        ("200", a_trained_source_shows_what_was_extracted),
        ("404 resource_not_found", an_unknown_source_is_not_found),
    ],
};

#[tokio::test]
async fn a_trained_source_shows_what_was_extracted() {
    let client = client();
    let agent = client.agent().await;
    let text = "Öffnungszeiten\n\nDas Museum öffnet um neun. 🦀";
    let source = client.text(&agent, text).await;
    let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
    assert_eq!(found["id"], source.as_str());
    assert_eq!(found["agent_id"], agent.as_str());
    assert_eq!(found["type"], "text");
    assert_eq!(found["content"], text);
    assert_eq!(found["status"], "trained");
    assert_eq!(found["character_count"], text.chars().count());
    assert_eq!(found["title"], "Öffnungszeiten");
    assert_eq!(found["error_message"], Value::Null);
    assert_eq!(found["progress"], Value::Null);
}

#[tokio::test]
async fn the_title_of_a_text_is_its_first_line_cut_at_80_characters() {
    let client = client();
    let agent = client.agent().await;
    let line = "Ünglaublich lange Überschriften ".repeat(5);
    let source = client.text(&agent, &format!("\n  \n{line}\nDas Museum öffnet um neun.")).await;
    let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
    let title = found["title"].as_str().unwrap();
    assert!(title.chars().count() <= 80, "{title}");
    assert!(title.starts_with("Ünglaublich lange Überschriften"), "{title}");
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    client().get(&format!("/v1/sources/{NO_SOURCE}")).await.refused(404, "resource_not_found");
    client().get("/v1/sources/7").await.refused(404, "resource_not_found");
}
