//! `GET /w/{token}/conversations`, and `GET` and `DELETE` of one of them.

use cicerone_tests::answer::is_timestamp;
use serde_json::{Value, json};

use super::{Chat, QUESTION, both, conversation_of, server};
use crate::coverage::Covers;

/// What is tested here.
pub(crate) const LIST: Covers = Covers {
    route: "GET /w/{token}/conversations",
    cases: &[("200", a_visitor_sees_the_own_conversations)],
};
/// The statuses of the second route that are tested here.
pub(crate) const GET: Covers = Covers {
    route: "GET /w/{token}/conversations/{conversation_id}",
    cases: &[("200", a_visitor_sees_the_own_conversations)],
};
/// The statuses of the third route that are tested here.
pub(crate) const DELETE: Covers = Covers {
    route: "DELETE /w/{token}/conversations/{conversation_id}",
    cases: &[("204", a_visitor_deletes_a_conversation)],
};

#[tokio::test]
async fn a_visitor_sees_the_own_conversations() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({})).await;
        let credential = chat.visitor().await;
        let first = chat.ask(&credential).await;
        let long = format!("Where is it? {}", "é".repeat(200));
        let second = chat.send(&credential, json!({ "message": long })).await.expect(200);
        let listed = chat.of_visitor(&credential, "GET", "/conversations").send().await.expect(200);
        let [newer, older] = listed["data"].as_array().unwrap().as_slice() else {
            panic!("{listed}")
        };
        assert_eq!(newer["id"], second["conversation_id"]);
        assert_eq!(older["id"], first["conversation_id"]);
        assert_eq!((&older["title"], &older["messages"]), (&json!(QUESTION), &json!(2)));
        assert!(newer["title"].as_str().unwrap().chars().count() <= 80, "{newer}");
        assert!(is_timestamp(older["updated_at"].as_str().unwrap()), "{older}");
        assert_eq!(older.as_object().unwrap().len(), 4, "{older}");
        let shown = chat.of_visitor(&credential, "GET", &conversation_of(&first)).send().await;
        let shown = shown.expect(200);
        assert_eq!((&shown["id"], &shown["handoff_requested"]), (&older["id"], &json!(false)));
        let [question, reply] = shown["messages"].as_array().unwrap().as_slice() else {
            panic!("{shown}")
        };
        assert_eq!((&question["n"], &question["role"]), (&json!(1), &json!("user")));
        assert_eq!((&question["content"], &question["sources"]), (&json!(QUESTION), &json!([])));
        assert_eq!((&reply["content"], &reply["sources"]), (&first["reply"], &first["sources"]));
        assert_eq!((&reply["rating"], &question["rating"]), (&Value::Null, &Value::Null));
        // Conversations of the owner's own programs are not those of any visitor.
        chat.owner.ask(&chat.agent, QUESTION).await;
        assert_eq!(chat.conversations(&credential).await.len(), 2);
    }
}

#[tokio::test]
async fn the_newest_twenty_conversations_and_hundred_messages_are_shown() {
    let limits =
        json!({ "messages_per_address_per_minute": 1_000, "messages_per_visitor_per_hour": 1_000 });
    let chat = Chat::new(&server().client(), json!({ "limits": limits })).await;
    let credential = chat.visitor().await;
    let first = chat.ask(&credential).await;
    for _ in 0..20 {
        chat.ask(&credential).await;
    }
    let listed = chat.conversations(&credential).await;
    assert_eq!(listed.len(), 20);
    assert!(!listed.contains(&first["conversation_id"].as_str().unwrap().to_owned()));
    for _ in 0..50 {
        let body = json!({ "message": "Hello", "conversation_id": first["conversation_id"] });
        chat.send(&credential, body).await.expect(200);
    }
    let shown =
        chat.of_visitor(&credential, "GET", &conversation_of(&first)).send().await.expect(200);
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(
        (messages.len(), &messages[0]["n"], &messages[99]["n"]),
        (100, &json!(3), &json!(102))
    );
    // Long messages fill the answer before.
    for _ in 0..18 {
        let body =
            json!({ "message": "🦀".repeat(4_000), "conversation_id": first["conversation_id"] });
        chat.send(&credential, body).await.expect(200);
    }
    let body = json!({ "message": "The last one", "conversation_id": first["conversation_id"] });
    chat.send(&credential, body).await.expect(200);
    let answer = chat.of_visitor(&credential, "GET", &conversation_of(&first)).send().await;
    let messages = answer.expect(200)["messages"].as_array().unwrap().clone();
    assert!(messages.len() < 100, "{}", messages.len());
    assert_eq!(messages[messages.len() - 2]["content"], "The last one");
    let bytes: usize =
        messages.iter().map(|message| message["content"].as_str().unwrap().len()).sum();
    assert!(bytes <= 256 * 1_024, "{bytes}");
}

#[tokio::test]
async fn a_visitor_deletes_a_conversation() {
    for server in both() {
        let chat = Chat::new(&server.client(), json!({})).await;
        let credential = chat.visitor().await;
        let (gone, kept) = (chat.ask(&credential).await, chat.ask(&credential).await);
        let path = conversation_of(&gone);
        chat.of_visitor(&credential, "DELETE", &path).send().await.expect_nothing();
        for method in ["GET", "DELETE"] {
            let answer = chat.of_visitor(&credential, method, &path).send().await;
            answer.refused(404, "resource_not_found");
        }
        let body = json!({ "message": QUESTION, "conversation_id": gone["conversation_id"] });
        chat.send(&credential, body).await.refused(404, "resource_not_found");
        assert_eq!(
            chat.conversations(&credential).await,
            [kept["conversation_id"].as_str().unwrap()]
        );
        let path = format!("/v1{path}");
        chat.owner.get(&path).await.refused(404, "resource_not_found");
    }
}
