//! Nothing crosses accounts: what belongs to another answers like what does not exist.

use serde_json::json;

use crate::routes::{Names, ROUTES};
use crate::world::account;

#[tokio::test]
async fn on_every_route_what_is_foreign_answers_exactly_like_what_is_unknown() {
    let (owner, stranger) = (account(), account());
    let foreign = Names::of_new(&owner).await;
    let nothing = Names::of_nothing();
    for route in ROUTES.iter().filter(|route| route.names_something()) {
        let answer = route.call(&stranger, &foreign).await;
        let unknown = route.call(&stranger, &nothing).await;
        assert_eq!(answer.status, 404, "{}: {}", route.name(), answer.text());
        answer.refused(404, "resource_not_found");
        assert_eq!(
            foreign.hide(&answer.without_request_id()),
            nothing.hide(&unknown.without_request_id()),
            "{}",
            route.name()
        );
        let mut names: Vec<_> = answer.headers.keys().map(ToString::to_string).collect();
        let mut unknown: Vec<_> = unknown.headers.keys().map(ToString::to_string).collect();
        names.sort();
        unknown.sort();
        assert_eq!(names, unknown, "{}", route.name());
    }
    // And none of it did anything.
    for route in ROUTES.iter().filter(|r| r.method == "GET" && r.names_something()) {
        assert_eq!(route.call(&owner, &foreign).await.status, 200, "{}", route.name());
    }
}

#[tokio::test]
async fn lists_hold_what_is_ones_own() {
    let (owner, stranger) = (account(), account());
    owner.agent().await;
    let page = stranger.get("/v1/agents").await.expect(200);
    assert_eq!(page["data"], json!([]));
}

#[tokio::test]
async fn a_foreign_file_cannot_become_a_source() {
    let (owner, stranger) = (account(), account());
    let file = owner.upload("hours.txt", "The museum opens at nine.").await.expect(201);
    let agent = stranger.agent().await;
    let path = format!("/v1/agents/{agent}/sources");
    let body = json!({ "type": "file", "content": file["id"] });
    let foreign = stranger.post(&path, body).await;
    foreign.refuses(400, "invalid_parameter", "content");
    let body = json!({ "type": "file", "content": crate::world::NO_FILE });
    let unknown = stranger.post(&path, body).await;
    let id = file["id"].as_str().unwrap();
    assert_eq!(
        foreign.without_request_id().replace(id, ""),
        unknown.without_request_id().replace(crate::world::NO_FILE, "")
    );
}

#[tokio::test]
async fn a_foreign_conversation_cannot_be_continued() {
    let (owner, stranger) = (account(), account());
    let agent = owner.agent().await;
    let conversation = owner.ask(&agent, "Hello there").await["id"].clone();
    let own = stranger.agent().await;
    let body = json!({ "agent_id": own, "conversation_id": conversation, "message": "Hello" });
    // Not a conflict, which would say that it exists.
    stranger.post("/v1/conversations", body).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn idempotency_keys_of_two_accounts_are_two_keys() {
    let (one, other) = (account(), account());
    let body = json!({ "name": "Guide" });
    let send = |client: cicerone_tests::Client| {
        let body = body.clone();
        async move { client.request("POST", "/v1/agents").json(&body).idempotent("same").send().await }
    };
    let first = send(one).await.expect(201);
    let second = send(other).await;
    assert_eq!(second.header("idempotent-replayed"), None);
    assert_ne!(second.expect(201)["id"], first["id"]);
}

#[tokio::test]
async fn words_of_one_account_are_found_by_no_other() {
    let (owner, stranger) = (account(), account());
    let agent = owner.agent().await;
    owner.text(&agent, "The museum opens at nine o'clock.").await;
    let own = stranger.agent().await;
    let path = format!("/v1/agents/{own}/search");
    let found = stranger.post(&path, json!({ "query": "museum" })).await.expect(200);
    assert_eq!(found["data"], json!([]));
    let reply = stranger.ask(&own, "When does the museum open?").await;
    assert_eq!(reply["sources_used"], json!([]));
    assert!(!reply["reply"].as_str().unwrap().contains("nine"), "{reply}");
}
