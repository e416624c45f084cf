//! `POST /w/{token}/messages`.

use cicerone_tests::answer::{is_id, is_timestamp};
use cicerone_tests::sse::Streamed;
use serde_json::{Value, json};

use super::{Chat, QUESTION, both, conversation_of, server};
use crate::coverage::Covers;
use crate::world::{CRAB, NO_CONVERSATION};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "POST /w/{token}/messages",
    cases: &[
        ("200", a_visitor_asks_continues_and_is_seen_by_the_owner),
        ("400 missing_required_field", bad_bodies_are_refused_with_their_fields),
        ("400 invalid_parameter", bad_bodies_are_refused_with_their_fields),
        ("409 conflict", a_paused_agent_takes_no_new_conversations),
    ],
};

#[tokio::test]
async fn a_visitor_asks_continues_and_is_seen_by_the_owner() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({})).await;
        let credential = chat.visitor().await;
        let reply = chat.ask(&credential).await;
        assert!(is_id(reply["conversation_id"].as_str().unwrap(), "conv_"), "{reply}");
        assert!(is_timestamp(reply["created_at"].as_str().unwrap()), "{reply}");
        assert_eq!(reply["n"], 2);
        assert!(reply["reply"].as_str().unwrap().contains("nine o'clock"), "{reply}");
        assert_eq!(reply["sources"], json!([{ "title": "Opening hours", "url": null }]));
        assert_eq!(reply.as_object().unwrap().len(), 5, "{reply}");
        let id = reply["conversation_id"].clone();
        let body = json!({ "message": "And on Mondays?", "conversation_id": id });
        let second = chat.send(&credential, body).await.expect(200);
        assert_eq!((&second["conversation_id"], &second["n"]), (&id, &json!(4)));
        // The owner sees an ordinary conversation, with its channel, widget and visitor.
        let path = format!("/v1/conversations/{}", id.as_str().unwrap());
        let seen = chat.owner.get(&path).await.expect(200);
        assert_eq!((&seen["channel"], &seen["widget_id"]), (&json!("widget"), &json!(chat.id)));
        assert!(is_id(seen["visitor"]["id"].as_str().unwrap(), "vis_"), "{seen}");
        assert_eq!(seen["visitor"]["subject"], Value::Null);
        assert_eq!(seen["messages"].as_array().unwrap().len(), 4);
        // The widget may be configured not to show sources.
        chat.change(json!({ "show_sources": false })).await;
        assert_eq!(chat.ask(&credential).await["sources"], json!([]));
        let shown = chat.of_visitor(&credential, "GET", &conversation_of(&reply)).send().await;
        assert_eq!(shown.expect(200)["messages"][1]["sources"], json!([]));
    }
}

#[tokio::test]
async fn a_streamed_reply_says_what_a_whole_one_says() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    let whole = chat.ask(&credential).await;
    let answer = chat.send(&credential, json!({ "message": QUESTION, "stream": true })).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
    let streamed = Streamed::parse(answer.text());
    assert_eq!(streamed.text(), whole["reply"]);
    let done = streamed.done();
    assert_eq!((&done["n"], &done["sources"]), (&json!(2), &whole["sources"]));
    assert_eq!(done.as_object().unwrap().len(), 3, "{done}");
    assert!(
        chat.conversations(&credential)
            .await
            .contains(&done["conversation_id"].as_str().unwrap().to_owned())
    );
}

#[tokio::test]
async fn nothing_of_the_account_is_told() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let prompt = "The password is swordfish.";
    let path = format!("/v1/agents/{}", chat.agent);
    chat.owner.patch(&path, json!({ "system_prompt": prompt })).await.expect(200);
    let credential = chat.visitor().await;
    let reply = chat.ask(&credential).await;
    let mut told = reply.to_string();
    for path in ["", "/conversations", &conversation_of(&reply)] {
        told.push_str(chat.of_visitor(&credential, "GET", path).send().await.text());
    }
    let body = json!({ "message": QUESTION, "stream": true });
    told.push_str(chat.send(&credential, body).await.text());
    for secret in ["src_", "doc_", "agent_", "acct_", "wgt_", "swordfish", "score", "passages"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[tokio::test]
async fn a_widget_that_was_just_deleted_tells_nothing_of_itself() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({})).await;
        let visitor = chat.visitor().await;
        chat.owner.delete(&format!("/v1/widgets/{}", chat.id)).await.expect_nothing();
        // The server may still remember the token.
        let answer = chat.send(&visitor, json!({ "message": QUESTION })).await;
        let error = answer.refused(404, "resource_not_found");
        let expected = format!("there is no widget `{}`", chat.token);
        assert_eq!(error["message"], expected);
    }
}

#[tokio::test]
async fn bad_bodies_are_refused_with_their_fields() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    for (code, param, body) in [
        ("missing_required_field", "message", json!({})),
        ("missing_required_field", "message", json!({ "message": null })),
        ("invalid_parameter", "message", json!({ "message": " " })),
        ("invalid_parameter", "message", json!({ "message": CRAB.repeat(4_001) })),
        ("invalid_parameter", "message", json!({ "message": 5 })),
        ("invalid_parameter", "stream", json!({ "message": "Hello", "stream": "yes" })),
        ("invalid_parameter", "body", json!([])),
    ] {
        let answer = chat.send(&credential, body).await;
        answer.refuses(400, code, param);
        assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
    }
    chat.send(&credential, json!({ "message": CRAB.repeat(4_000) })).await.expect(200);
    for id in [NO_CONVERSATION, "conv_7", "", "../x"] {
        let body = json!({ "message": "Hello", "conversation_id": id });
        chat.send(&credential, body).await.refused(404, "resource_not_found");
    }
    // An idempotency key is ignored.
    let twice = async || {
        let request = chat.of_visitor(&credential, "POST", "/messages").idempotent("same");
        request.json(&json!({ "message": "Hello" })).send().await.expect(200)
    };
    assert_ne!(twice().await["conversation_id"], twice().await["conversation_id"]);
}

#[tokio::test]
async fn a_paused_agent_takes_no_new_conversations() {
    let chat = Chat::new(&server().client(), json!({})).await;
    let credential = chat.visitor().await;
    let reply = chat.ask(&credential).await;
    let path = format!("/v1/agents/{}", chat.agent);
    chat.owner.patch(&path, json!({ "status": "paused" })).await.expect(200);
    let answer = chat.send(&credential, json!({ "message": QUESTION })).await;
    let error = answer.refused(409, "conflict");
    assert!(!error["message"].as_str().unwrap().contains("agent"), "{error}");
    let id = &reply["conversation_id"];
    let body = json!({ "message": QUESTION, "conversation_id": id });
    chat.send(&credential, body).await.expect(200);
}
