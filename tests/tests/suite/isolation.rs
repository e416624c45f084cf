//! Accounts are isolated: an object of another account is answered like one that does not exist.

use serde_json::json;

use crate::routes::{Names, ROUTES};
use crate::world::{NO_AGENT, NO_CONVERSATION, NO_DELIVERY, NO_FILE, account};

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
    // And none of the requests had any effect.
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
    // Not a conflict, which would reveal that it exists.
    stranger.post("/v1/conversations", body).await.refused(404, "resource_not_found");
}

/// Sends the same request with a foreign id and with an unknown one, and compares the answers
/// without the ids and request ids.
async fn alike(
    stranger: &cicerone_tests::Client,
    (method, path): (&str, &str),
    body: Option<&serde_json::Value>,
    (foreign, unknown): (&str, &str),
) {
    let send = async |id: &str| {
        let request = stranger.request(method, &path.replace("{id}", id));
        let request = match body {
            Some(body) => {
                let body = body.to_string().replace("{id}", id);
                request.raw("application/json", body)
            }
            None => request,
        };
        let answer = request.send().await;
        (answer.status, answer.without_request_id().replace(id, "{id}"))
    };
    assert_eq!(send(foreign).await, send(unknown).await, "{method} {path} {body:?}");
}

#[tokio::test]
async fn ids_in_bodies_and_queries_that_are_foreign_answer_like_unknown_ones() {
    let (owner, stranger) = (account(), account());
    let theirs = Names::of_new(&owner).await;
    let own = Names::of_new(&stranger).await;
    let sources = format!("/v1/agents/{}/sources", own.agent);
    let source = json!({ "type": "file", "content": "{id}" });
    let message = json!({ "agent_id": "{id}", "message": "Hello" });
    let next = json!({ "agent_id": own.agent, "conversation_id": "{id}", "message": "Hello" });
    let streamed = json!({ "agent_id": "{id}", "message": "Hello", "stream": true });
    let key = json!({ "name": "Key", "permissions": ["*"], "agent_ids": ["{id}"] });
    let change = json!({ "agent_ids": ["{id}"] });
    let own_key = format!("/v1/api_keys/{}", own.key);
    let ask = "/v1/conversations";
    let (agent, conversation) = (&*theirs.agent, &*theirs.conversation);
    for (route, body, ids) in [
        (("POST", &*sources), Some(&source), (&*theirs.file, NO_FILE)),
        (("POST", ask), Some(&message), (agent, NO_AGENT)),
        (("POST", ask), Some(&streamed), (agent, NO_AGENT)),
        (("POST", ask), Some(&next), (conversation, NO_CONVERSATION)),
        (("POST", "/v1/api_keys"), Some(&key), (agent, NO_AGENT)),
        (("PATCH", &*own_key), Some(&change), (agent, NO_AGENT)),
        (("GET", "/v1/usage?agent_id={id}"), None, (agent, NO_AGENT)),
    ] {
        alike(&stranger, route, body, ids).await;
    }
    // A delivery of another account, under an endpoint of the account itself.
    let again = format!("/v1/webhook_endpoints/{}/deliveries/{{id}}/redeliver", own.endpoint);
    alike(&stranger, ("POST", &again), None, (&theirs.delivery, NO_DELIVERY)).await;
}

#[tokio::test]
async fn a_cursor_of_another_account_answers_like_no_cursor_at_all() {
    let (owner, stranger) = (account(), account());
    let (theirs, own) = (Names::of_new(&owner).await, Names::of_new(&stranger).await);
    let fill = |names: &Names, path: &str| names.fill(path);
    for _ in 0..2 {
        owner.ask(&theirs.agent, "Hello there").await;
        owner.post_nothing(&fill(&theirs, "/v1/webhook_endpoints/{endpoint_id}/test")).await;
        owner.post("/v1/webhook_endpoints", json!({ "url": crate::world::NOWHERE })).await;
        let other = owner.agent().await;
        owner.ask(&other, "Hello there").await;
    }
    for _ in 0..2 {
        owner.text(&theirs.agent, "The museum opens at nine.").await;
    }
    let mut walked = 0;
    for path in [
        "/v1/agents",
        "/v1/agents/{agent_id}/sources",
        "/v1/agents/{agent_id}/conversations",
        "/v1/webhook_endpoints",
        "/v1/webhook_endpoints/{endpoint_id}/deliveries",
        "/v1/api_keys",
        "/v1/audit_log",
        "/v1/usage",
    ] {
        let page = owner.get(&format!("{}?page_size=1", fill(&theirs, path))).await.expect(200);
        let cursor = page["next_cursor"].as_str().unwrap_or_else(|| panic!("{path}: {page}"));
        let with = |cursor: &str| format!("{}?cursor={cursor}", fill(&own, path));
        let foreign = stranger.get(&with(cursor)).await;
        foreign.refuses(400, "invalid_parameter", "cursor");
        let made_up = stranger.get(&with(&"A".repeat(cursor.len()))).await;
        assert_eq!(foreign.without_request_id(), made_up.without_request_id(), "{path}");
        walked += 1;
    }
    assert_eq!(walked, 8);
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
