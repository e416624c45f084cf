//! Replayed answers: only keys that can see everything in a stored answer receive it again.

use cicerone_tests::scenario::id;
use cicerone_tests::{Answer, Client};
use serde_json::json;

use crate::routes::{Names, ROUTES, Route};
use crate::world::{NOWHERE, account};

/// The routes whose answers name only the agent of the request. The answers of the other routes
/// concern the whole account, or are empty.
const ABOUT_ONE_AGENT: [&str; 16] = [
    "PATCH /v1/agents/{agent_id}",
    "POST /v1/agents/{agent_id}/checks/run",
    "POST /v1/agents/{agent_id}/sources",
    "PATCH /v1/sources/{source_id}",
    "POST /v1/sources/{source_id}/refresh",
    "POST /v1/sources/{source_id}/pairs",
    "PATCH /v1/agents/{agent_id}/gaps/{gap_id}",
    "POST /v1/agents/{agent_id}/gaps/{gap_id}/answer",
    "POST /v1/agents/{agent_id}/widgets",
    "PATCH /v1/widgets/{widget_id}",
    "POST /v1/widgets/{widget_id}/rotate_token",
    "POST /v1/widgets/{widget_id}/rotate_secret",
    "POST /v1/conversations",
    "POST /v1/chat/completions",
    "POST /v1/responses",
    "PATCH /v1/api_keys/{key_id}",
];

/// A key with every permission, restricted to these agents.
async fn within(owner: &Client, agents: &[&str]) -> Client {
    let body = json!({ "name": "Within", "permissions": ["*"], "agent_ids": agents });
    let key = owner.post("/v1/api_keys", body).await.expect(201);
    owner.with_key(key["key"].as_str().unwrap())
}

fn is_replay(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

async fn keyed(client: &Client, route: &Route, names: &Names) -> Answer {
    let key = route.name().replace(' ', "-");
    route.request(client, names).idempotent(&key).send().await
}

#[tokio::test]
async fn a_success_goes_to_keys_that_see_every_agent_that_it_names() {
    let owner = account();
    let other = owner.agent().await;
    let mut within_one = 0;
    for route in ROUTES.iter().filter(|route| route.writes()) {
        let names = Names::of_new(&owner).await;
        let (inside, outside) =
            (within(&owner, &[&names.agent]).await, within(&owner, &[&other]).await);
        let first = keyed(&owner, route, &names).await;
        assert!(first.status < 300 && !is_replay(&first), "{}: {}", route.name(), first.text());
        let refused = keyed(&outside, route, &names).await;
        assert_eq!(refused.status, 422, "{}: {}", route.name(), refused.text());
        refused.refused(422, "idempotency_key_reused");
        let again = keyed(&inside, route, &names).await;
        if ABOUT_ONE_AGENT.contains(&route.name().as_str()) {
            within_one += 1;
            assert!(is_replay(&again), "{}: {}", route.name(), again.text());
            assert_eq!(again.body, first.body, "{}", route.name());
        } else {
            assert_eq!(again.status, 422, "{}: {}", route.name(), again.text());
        }
        assert!(is_replay(&keyed(&owner, route, &names).await), "{}", route.name());
    }
    assert_eq!(within_one, ABOUT_ONE_AGENT.len());
}

#[tokio::test]
async fn a_refusal_goes_to_keys_that_see_the_same_agents() {
    let owner = account();
    let other = owner.agent().await;
    let (outside, alike) = (within(&owner, &[&other]).await, within(&owner, &[&other]).await);
    let wider = owner.agent().await;
    let wider = within(&owner, &[&other, &wider]).await;
    for route in ROUTES.iter().filter(|r| r.writes() && r.names_something()) {
        // Files that no source uses are visible to every key.
        if route.path.starts_with("/v1/files") {
            continue;
        }
        let names = Names::of_new(&owner).await;
        let first = keyed(&outside, route, &names).await;
        assert_eq!(first.status, 404, "{}: {}", route.name(), first.text());
        for client in [&owner, &wider] {
            let answer = keyed(client, route, &names).await;
            assert_eq!(answer.status, 422, "{}: {}", route.name(), answer.text());
            answer.refused(422, "idempotency_key_reused");
        }
        for client in [&outside, &alike] {
            let again = keyed(client, route, &names).await;
            assert_eq!((again.status, is_replay(&again)), (404, true), "{}", route.name());
        }
    }
}

#[tokio::test]
async fn an_answer_about_a_key_of_two_agents_goes_to_keys_that_see_both() {
    let owner = account();
    let (one, other) = (owner.agent().await, owner.agent().await);
    let body = json!({ "name": "Both", "permissions": ["agents:read"], "agent_ids": [one, other] });
    let send = |client: &Client| {
        client.request("POST", "/v1/api_keys").json(&body).idempotent("both").send()
    };
    send(&owner).await.expect(201);
    for agent in [&one, &other] {
        send(&within(&owner, &[agent]).await).await.refused(422, "idempotency_key_reused");
    }
    assert!(is_replay(&send(&within(&owner, &[&other, &one]).await).await));
    // The deletion of one of its agents does not change the key.
    owner.delete(&format!("/v1/agents/{one}")).await.expect_nothing();
    assert!(is_replay(&send(&owner).await));
}

#[tokio::test]
async fn a_key_without_the_permission_is_given_no_answer_of_before() {
    let owner = account();
    for route in ROUTES.iter().filter(|route| route.writes()) {
        let names = Names::of_new(&owner).await;
        let answer = keyed(&owner, route, &names).await;
        assert!(answer.status < 300, "{}: {}", route.name(), answer.text());
        let guarded = ROUTES.iter().filter(|other| other.needs_permission());
        let all = guarded.map(|other| other.permission);
        let others: Vec<_> = all.filter(|permission| *permission != route.permission).collect();
        let body = json!({ "name": "Others", "permissions": others });
        let key = owner.post("/v1/api_keys", body).await.expect(201);
        let without = owner.with_key(key["key"].as_str().unwrap());
        keyed(&without, route, &names).await.refused(403, "forbidden");
    }
}

#[tokio::test]
async fn a_secret_is_not_given_again_after_its_rotation_or_deletion() {
    let client = account();
    let body = json!({ "url": NOWHERE });
    let create =
        || client.request("POST", "/v1/webhook_endpoints").json(&body).idempotent("create").send();
    let created = create().await.expect(201);
    assert_eq!(create().await.expect(201), created);
    let path = format!("/v1/webhook_endpoints/{}", id(&created));
    let change = json!({ "description": "Ours" });
    let update = || client.request("PATCH", &path).json(&change).idempotent("update").send();
    update().await.expect(200);
    let rotating = format!("{path}/rotate_secret");
    let rotate = |key: &'static str| client.request("POST", &rotating).idempotent(key).send();
    let rotated = rotate("first").await.expect(200);
    assert_eq!(rotate("first").await.expect(200), rotated);
    create().await.refused(404, "resource_not_found");
    rotate("second").await.expect(200);
    rotate("first").await.refused(404, "resource_not_found");
    assert!(is_replay(&rotate("second").await));
    assert!(is_replay(&update().await), "an answer without a secret stays");

    // A key that could not see the answer gets the same refusal after the answer was erased.
    let agent = client.agent().await;
    let inside = within(&client, &[&agent]).await;
    let request = inside.request("POST", "/v1/webhook_endpoints").json(&body);
    request.idempotent("create").send().await.refused(422, "idempotency_key_reused");

    client.delete(&path).await.expect_nothing();
    rotate("second").await.refused(404, "resource_not_found");
    update().await.refused(404, "resource_not_found");
}
