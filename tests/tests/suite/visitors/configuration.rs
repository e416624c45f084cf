//! `GET /w/{token}` and `POST /w/{token}/visitors`.

use cicerone_tests::answer::is_id;
use serde_json::{Value, json};

use super::{Chat, server};
use crate::coverage::Covers;
use crate::world::a_second_later;

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /w/{token}",
    cases: &[("200", a_page_gets_what_it_shows_and_nothing_else)],
};

/// The statuses of the second route that are tested here.
pub(crate) const BEGIN: Covers = Covers {
    route: "POST /w/{token}/visitors",
    cases: &[("200", a_visitor_gets_a_credential_and_nothing_is_stored)],
};

#[tokio::test]
async fn a_page_gets_what_it_shows_and_nothing_else() {
    let fields = json!({
        "title": "Fragen? 🦀", "greeting": "Hallo.", "starters": ["Wann?"], "language": "de",
        "texts": { "send": "Los" }, "handoff": true,
    });
    let chat = Chat::new(&server().client(), fields).await;
    let answer = chat.request("GET", "").send().await;
    let shown = answer.expect(200);
    assert_eq!(answer.header("cache-control"), Some("private, max-age=60"));
    assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
    assert!(answer.headers.get_all("vary").iter().any(|value| value == "Origin"));
    let names: Vec<_> = shown.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "appearance",
        "greeting",
        "handoff",
        "identity",
        "language",
        "lead",
        "show_sources",
        "starters",
        "texts",
        "title",
    ];
    assert_eq!(names.len(), expected.len(), "{shown}");
    assert!(expected.iter().all(|name| names.contains(name)), "{shown}");
    assert_eq!(shown["title"], "Fragen? 🦀");
    assert_eq!(shown["texts"], json!({ "send": "Los" }));
    assert_eq!((&shown["handoff"], &shown["lead"]), (&json!(true), &json!(false)));
    assert_eq!(shown["appearance"]["accent"], "#2f5bd7");
    // Without a title, the agent's name is shown; a change is visible within a second.
    chat.change(json!({ "title": null, "show_sources": false })).await;
    let shown = chat.request("GET", "").send().await.expect(200);
    assert_eq!((&shown["title"], &shown["show_sources"]), (&json!("Guide"), &json!(false)));
    let head = chat.request("HEAD", "").send().await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[tokio::test]
async fn a_visitor_gets_a_credential_and_nothing_is_stored() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let answer = chat.request("POST", "/visitors").send().await;
    let made = answer.expect(200);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let (id, credential) =
        (made["visitor_id"].as_str().unwrap(), made["credential"].as_str().unwrap());
    assert!(is_id(id, "vis_"), "{made}");
    assert_eq!(credential.len(), 37, "{made}");
    assert!(credential.starts_with(&id.replace("vis_", "vst_")), "{made}");
    assert!(chat.conversations(credential).await.is_empty());
    assert_ne!(chat.visitor().await, credential);
}

#[tokio::test]
async fn a_token_that_was_rotated_works_for_as_long_as_its_owner_says() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    chat.ask(&credential).await;
    let path = format!("/v1/widgets/{}/rotate_token", chat.id);
    let rotated = chat.owner.post(&path, json!({ "keep_seconds": 60 })).await.expect(200);
    a_second_later().await;
    assert_ne!(rotated["token"], chat.token.as_str());
    assert_eq!(rotated.get("identity_secret"), None);
    // The same conversations are seen by both, because they are those of the agent's visitor.
    assert_eq!(chat.conversations(&credential).await.len(), 1);
    let token = rotated["token"].as_str().unwrap().to_owned();
    // Who has the old token only does not learn the new one.
    let page = chat.owner.anonymous().get(&format!("/chat/{}", chat.token)).await;
    assert!(page.text().contains(&chat.token) && !page.text().contains(&token), "{}", page.text());
    let shown = chat.request("GET", "").send().await;
    assert!(!shown.text().contains(&token), "{}", shown.text());
    let renewed = Chat { token, ..chat };
    assert_eq!(renewed.conversations(&credential).await.len(), 1);
    assert_eq!(renewed.request("GET", "").send().await.expect(200)["title"], json!("Guide"));
    assert_ne!(Value::Null, rotated["id"]);
}
