//! Feedback from visitors: rating, handoff and lead.

use serde_json::{Value, json};

use super::{Chat, both, conversation_of, server};
use crate::coverage::Covers;
use crate::world::CRAB;

/// What is tested here.
pub(crate) const RATE: Covers = Covers {
    route: "PUT /w/{token}/conversations/{conversation_id}/messages/{n}/rating",
    cases: &[
        ("200", a_visitor_rates_a_reply),
        ("400 missing_required_field", bad_ratings_are_refused),
        ("400 invalid_parameter", bad_ratings_are_refused),
        ("400 invalid_operation", bad_ratings_are_refused),
    ],
};
/// The statuses of the second route that are tested here.
pub(crate) const HANDOFF: Covers = Covers {
    route: "PUT /w/{token}/conversations/{conversation_id}/handoff",
    cases: &[
        ("204", a_visitor_asks_for_a_person_once),
        ("400 invalid_parameter", bad_wishes_are_refused),
        ("409 conflict", a_widget_without_them_takes_neither),
    ],
};
/// The statuses of the third route that are tested here.
pub(crate) const LEAD: Covers = Covers {
    route: "PUT /w/{token}/conversations/{conversation_id}/lead",
    cases: &[
        ("204", a_visitor_leaves_an_address),
        ("400 missing_required_field", bad_wishes_are_refused),
        ("400 invalid_parameter", bad_wishes_are_refused),
        ("409 conflict", a_widget_without_them_takes_neither),
    ],
};

/// The conversation of a reply, as its owner sees it.
async fn seen(chat: &Chat, reply: &Value) -> Value {
    chat.owner.get(&format!("/v1{}", conversation_of(reply))).await.expect(200)
}

#[tokio::test]
async fn a_visitor_rates_a_reply() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({})).await;
        let credential = chat.visitor().await;
        let reply = chat.ask(&credential).await;
        let path = format!("{}/messages/2/rating", conversation_of(&reply));
        let body = json!({ "value": "down", "comment": "Too early. 🦀" });
        let rated = chat.of_visitor(&credential, "PUT", &path).json(&body).send().await.expect(200);
        assert_eq!((&rated["value"], &rated["comment"]), (&body["value"], &body["comment"]));
        let shown = chat.of_visitor(&credential, "GET", &conversation_of(&reply)).send().await;
        assert_eq!(shown.expect(200)["messages"][1]["rating"], json!({ "value": "down" }));
        assert_eq!(seen(&chat, &reply).await["ratings"], json!({ "up": 0, "down": 1 }));
        let body = json!({ "value": "up" });
        chat.of_visitor(&credential, "PUT", &path).json(&body).send().await.expect(200);
        assert_eq!(seen(&chat, &reply).await["ratings"], json!({ "up": 1, "down": 0 }));
    }
}

#[tokio::test]
async fn what_the_owners_people_say_of_a_reply_is_not_told_to_the_visitor() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    let path = conversation_of(&chat.ask(&credential).await);
    let body = json!({ "value": "down", "comment": "A notorious visitor." });
    chat.owner.put(&format!("/v1{path}/messages/2/rating"), body).await.expect(200);
    let shown = chat.of_visitor(&credential, "GET", &path).send().await;
    assert!(!shown.text().contains("notorious"), "{}", shown.text());
    assert_eq!(shown.expect(200)["messages"][1]["rating"], json!({ "value": "down" }));
}

#[tokio::test]
async fn bad_ratings_are_refused() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    let reply = chat.ask(&credential).await;
    let rate = async |n: &str, body: Value| {
        let path = format!("{}/messages/{n}/rating", conversation_of(&reply));
        chat.of_visitor(&credential, "PUT", &path).json(&body).send().await
    };
    rate("2", json!({})).await.refuses(400, "missing_required_field", "value");
    rate("2", json!({ "value": "five" })).await.refuses(400, "invalid_parameter", "value");
    let long = json!({ "value": "up", "comment": CRAB.repeat(1_001) });
    rate("2", long).await.refuses(400, "invalid_parameter", "comment");
    rate("1", json!({ "value": "up" })).await.refused(400, "invalid_operation");
    for n in ["0", "3", "-2", "x", "99999999999999999999"] {
        rate(n, json!({ "value": "up" })).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_visitor_asks_for_a_person_once() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({ "handoff": true })).await;
        let credential = chat.visitor().await;
        let reply = chat.ask(&credential).await;
        let path = format!("{}/handoff", conversation_of(&reply));
        let body = json!({ "message": "Please call. 🦀" });
        chat.of_visitor(&credential, "PUT", &path).json(&body).send().await.expect_nothing();
        let requested = seen(&chat, &reply).await["handoff_requested_at"].clone();
        assert!(requested.is_string(), "{requested}");
        chat.of_visitor(&credential, "PUT", &path).json(&json!({})).send().await.expect_nothing();
        assert_eq!(seen(&chat, &reply).await["handoff_requested_at"], requested);
        let shown = chat.of_visitor(&credential, "GET", &conversation_of(&reply)).send().await;
        assert_eq!(shown.expect(200)["handoff_requested"], true);
    }
}

#[tokio::test]
async fn a_visitor_leaves_an_address() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({ "lead": true })).await;
        let credential = chat.visitor().await;
        let reply = chat.ask(&credential).await;
        let path = format!("{}/lead", conversation_of(&reply));
        let whole = json!({
            "email": "zoe@museum.example", "name": "Zoë", "phone": "+49 30 1", "message": "Prices?",
        });
        chat.of_visitor(&credential, "PUT", &path).json(&whole).send().await.expect_nothing();
        assert_eq!(seen(&chat, &reply).await["lead"], whole);
        let body = json!({ "email": "ann@museum.example" });
        chat.of_visitor(&credential, "PUT", &path).json(&body).send().await.expect_nothing();
        let lead = seen(&chat, &reply).await["lead"].clone();
        assert_eq!((&lead["email"], &lead["name"]), (&body["email"], &Value::Null));
    }
}

#[tokio::test]
async fn bad_wishes_are_refused() {
    let chat = Chat::new(&server().client(), json!({ "handoff": true, "lead": true })).await;
    let credential = chat.visitor().await;
    let reply = chat.ask(&credential).await;
    let put = async |what: &str, body: Value| {
        let path = format!("{}/{what}", conversation_of(&reply));
        chat.of_visitor(&credential, "PUT", &path).json(&body).send().await
    };
    let long = json!({ "message": CRAB.repeat(1_001) });
    put("handoff", long).await.refuses(400, "invalid_parameter", "message");
    put("lead", json!({})).await.refuses(400, "missing_required_field", "email");
    for email in ["", "zoe", "@", "a@b@c", &format!("{}@b.c", "a".repeat(251))] {
        let answer = put("lead", json!({ "email": email })).await;
        answer.refuses(400, "invalid_parameter", "email");
    }
    for (field, most) in [("name", 100), ("phone", 40), ("message", 1_000)] {
        let mut body = json!({ "email": "zoe@museum.example" });
        body[field] = json!(CRAB.repeat(most));
        put("lead", body.clone()).await.expect_nothing();
        body[field] = json!(CRAB.repeat(most + 1));
        put("lead", body).await.refuses(400, "invalid_parameter", field);
    }
}

#[tokio::test]
async fn a_widget_without_them_takes_neither() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    let reply = chat.ask(&credential).await;
    for (what, body) in [("handoff", json!({})), ("lead", json!({ "email": "a@b.example" }))] {
        let path = format!("{}/{what}", conversation_of(&reply));
        let answer = chat.of_visitor(&credential, "PUT", &path).json(&body).send().await;
        answer.refused(409, "conflict");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}
