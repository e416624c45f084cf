//! Accounts are isolated: an object of another account is answered like one that does not exist.

use cicerone_tests::Client;
use cicerone_tests::process::Server;
use cicerone_tests::scenario::id;
use cicerone_tests::site::Site;
use serde_json::{Value, json};

use crate::coverage::operations;
use crate::routes::{Names, ROUTES};
use crate::world::{
    NO_AGENT, NO_CONVERSATION, NO_DELIVERY, NO_FILE, NOWHERE, account, awaited, program,
};

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
    stranger: &Client,
    (method, path): (&str, &str),
    body: Option<&Value>,
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

/// The list that has one item for each day with messages, so no second page on the first day.
const OF_DAYS: &str = "/v1/agents/{agent_id}/statistics";

/// The paths of all lists that have cursors, by the document.
async fn lists() -> Vec<String> {
    let has_cursor = |operation: &Value| {
        let parameters = operation["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|one| one["name"] == "cursor"))
    };
    let lists = operations().await.into_iter().filter(|(_, operation)| has_cursor(operation));
    lists.map(|(name, _)| name.strip_prefix("GET ").unwrap().to_owned()).collect()
}

/// Gives every list at least two items.
async fn fill_lists(owner: &Client, names: &mut Names, site: &Site) {
    site.page("/", "Museum", "The museum opens at nine in the morning, every day.", &["/shop"]);
    site.page("/shop", "Shop", "The shop sells postcards and books about the museum.", &["/"]);
    let agent = names.agent.clone();
    for number in 0..2 {
        owner.ask(&agent, "Hello there").await;
        owner.post_nothing(&names.fill("/v1/webhook_endpoints/{endpoint_id}/test")).await;
        owner.post("/v1/webhook_endpoints", json!({ "url": NOWHERE })).await.expect(201);
        let widgets = format!("/v1/agents/{agent}/widgets");
        owner.post(&widgets, json!({ "name": format!("Shop {number}") })).await.expect(201);
        let other = owner.agent().await;
        owner.ask(&other, "Hello there").await;
        let checks = format!("/v1/agents/{agent}/checks");
        owner.post_nothing(&format!("{checks}/run")).await.expect(202);
        awaited("the run has ended", async || {
            let run = owner.get(&checks).await.expect(200)["last_run"].clone();
            if run["finished_at"].is_null() { Err(run.to_string()) } else { Ok(()) }
        })
        .await;
    }
    let website = json!({ "type": "website", "content": site.url("/"), "crawl_subpages": true });
    let website = owner.post(&format!("/v1/agents/{agent}/sources"), website).await.expect(201);
    names.source = id(&website);
    owner.trained(&names.source).await;
}

#[tokio::test]
async fn a_cursor_of_another_account_answers_like_no_cursor_at_all() {
    let server = Server::of(&program()).env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8").start();
    let (owner, stranger) = (server.account("owner"), server.account("stranger"));
    let mut theirs = Names::of_new(&owner).await;
    let own = Names::of_new(&stranger).await;
    let site = Site::start().await;
    fill_lists(&owner, &mut theirs, &site).await;
    let lists = lists().await;
    assert!(lists.iter().any(|path| path == OF_DAYS), "{lists:?}");
    for path in lists.iter().filter(|path| *path != OF_DAYS) {
        let page = owner.get(&format!("{}?page_size=1", theirs.fill(path))).await.expect(200);
        let cursor = page["next_cursor"].as_str().unwrap_or_else(|| panic!("{path}: {page}"));
        let with = |cursor: &str| format!("{}?cursor={cursor}", own.fill(path));
        let foreign = stranger.get(&with(cursor)).await;
        foreign.refuses(400, "invalid_parameter", "cursor");
        let made_up = stranger.get(&with(&"A".repeat(cursor.len()))).await;
        assert_eq!(foreign.without_request_id(), made_up.without_request_id(), "{path}");
    }
}

#[tokio::test]
async fn idempotency_keys_of_two_accounts_are_two_keys() {
    let (one, other) = (account(), account());
    let body = json!({ "name": "Guide" });
    let send = |client: Client| {
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
