//! The permissions of keys: every route with all permissions except its own, and keys that are restricted to agents.

use std::time::Duration;

use cicerone_domain::clock::{Clock as _, SystemClock};
use serde_json::json;

use crate::routes::{Names, ROUTES, Route};
use crate::world::{account, own_server, server};

const PERMISSIONS: [&str; 11] = [
    "agents:read",
    "agents:write",
    "sources:read",
    "sources:write",
    "conversations:read",
    "conversations:write",
    "conversations:export",
    "webhooks:read",
    "webhooks:write",
    "keys:read",
    "keys:write",
];

#[tokio::test]
async fn a_key_with_every_permission_but_the_one_is_refused_with_its_name() {
    let names = Names::of_new(&account()).await;
    for permission in PERMISSIONS {
        let routes: Vec<_> = ROUTES.iter().filter(|r| r.permission == permission).collect();
        assert!(!routes.is_empty(), "no route needs {permission}");
        let others: Vec<_> = PERMISSIONS.into_iter().filter(|other| *other != permission).collect();
        let refused = server().client_with(&others);
        for route in routes {
            let answer = route.call(&refused, &names).await;
            assert_eq!(answer.status, 403, "{}: {}", route.name(), answer.text());
            let error = answer.refused(403, "forbidden");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(permission), "{}: {message}", route.name());
        }
    }
}

#[tokio::test]
async fn a_key_with_the_one_permission_is_let_through() {
    let owner = account();
    for permission in PERMISSIONS {
        let routes: Vec<_> = ROUTES.iter().filter(|r| r.permission == permission).collect();
        assert!(!routes.is_empty(), "no route needs {permission}");
        let key = json!({ "name": "Key", "permissions": [permission] });
        let key = owner.post("/v1/api_keys", key).await.expect(201);
        let allowed = owner.with_key(key["key"].as_str().unwrap());
        for route in routes {
            let names = Names::of_new(&owner).await;
            let answer = route.call(&allowed, &names).await;
            let fine =
                answer.status < 300 || (answer.status == 400 && route.path.ends_with("/pages"));
            assert!(fine, "{}: {}", route.name(), answer.text());
        }
    }
}

#[tokio::test]
async fn a_permission_is_asked_for_before_the_body_is_read() {
    let reader = server().client_with(&["agents:read"]);
    let request = reader.request("POST", "/v1/agents").raw("application/json", "not json");
    request.send().await.refused(403, "forbidden");
    let request = reader.request("POST", "/v1/agents").raw("text/plain", "not json");
    request.send().await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_permission_is_asked_for_before_existence() {
    let reader = server().client_with(&["agents:read"]);
    for route in ROUTES.iter().filter(|route| route.needs_permission()) {
        if route.permission == "agents:read" {
            continue;
        }
        route.call(&reader, &Names::of_nothing()).await.refused(403, "forbidden");
    }
}

#[tokio::test]
async fn for_a_key_within_agents_the_others_do_not_exist() {
    let server = own_server();
    let client = server.client();
    let inside = Names::of_new(&client).await;
    let outside = Names::of_new(&client).await;
    let arguments = ["--account", "default", "--permission", "*", "--agent", &inside.agent];
    let restricted = client.with_key(&server.create_key(&arguments).secret);

    let listed = restricted.get("/v1/agents").await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed["data"][0]["id"], inside.agent.as_str());

    let nothing = Names::of_nothing();
    for route in ROUTES.iter().filter(|r| r.names_something() && !r.path.starts_with("/v1/files")) {
        let foreign = route.call(&restricted, &outside).await;
        let unknown = route.call(&restricted, &nothing).await;
        foreign.refused(404, "resource_not_found");
        assert_eq!(
            outside.hide(&foreign.without_request_id()),
            nothing.hide(&unknown.without_request_id()),
            "{}",
            route.name()
        );
    }
    // Webhook endpoints belong to the account.
    let is_within = |route: &&Route| !route.path.contains("webhook_endpoints");
    let reads = ROUTES.iter().filter(|r| r.method == "GET" && r.names_something());
    for route in reads.filter(is_within) {
        let answer = route.call(&restricted, &inside).await;
        assert_eq!(answer.status, 200, "{}: {}", route.name(), answer.text());
    }
}

#[tokio::test]
async fn for_a_key_within_agents_the_files_of_the_others_do_not_exist() {
    let server = own_server();
    let client = server.client();
    let (inside, outside) = (client.agent().await, client.agent().await);
    let arguments = ["--account", "default", "--permission", "*", "--agent", &inside];
    let restricted = client.with_key(&server.create_key(&arguments).secret);
    let file = client.upload("hours.txt", "The museum opens at nine.").await.expect(201);
    let file = file["id"].as_str().unwrap();
    let path = format!("/v1/files/{file}");
    restricted.get(&path).await.expect(200);
    let source = client.source(&outside, "file", file).await;
    client.trained(&source).await;
    restricted.get(&path).await.refused(404, "resource_not_found");
    restricted.delete(&path).await.refused(404, "resource_not_found");
    let body = serde_json::json!({ "type": "file", "content": file });
    let answer = restricted.post(&format!("/v1/agents/{inside}/sources"), body).await;
    answer.refuses(400, "invalid_parameter", "content");
    // The file is visible to the key after one of the key's agents uses it too.
    client.trained(&client.source(&inside, "file", file).await).await;
    restricted.get(&path).await.expect(200);
}

#[tokio::test]
async fn a_key_within_agents_can_create_none() {
    let server = own_server();
    let agent = server.client().agent().await;
    let arguments = ["--account", "default", "--permission", "*", "--agent", &agent];
    let restricted = server.client().with_key(&server.create_key(&arguments).secret);
    let body = serde_json::json!({ "name": "Another" });
    restricted.post("/v1/agents", body).await.refused(400, "invalid_operation");
}

#[tokio::test]
async fn a_key_works_until_its_end() {
    let server = own_server();
    // The end must come after the first request, however busy the machine is.
    let (holder, end) = 'ends: {
        for seconds in [3, 15, 60] {
            let end = SystemClock.now().after(Duration::from_secs(seconds));
            let expires_at = end.to_string();
            let arguments = ["--account", "default", "--permission", "*", "--expires-at"];
            let arguments = [&arguments[..], &[&expires_at]].concat();
            let holder = server.client().with_key(&server.create_key(&arguments).secret);
            if holder.get("/v1/agents").await.status == 200 {
                break 'ends (holder, end);
            }
            assert!(SystemClock.now() > end, "the key does not work before its end");
        }
        panic!("no key could be used within a minute");
    };
    while SystemClock.now() <= end {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    holder.get("/v1/agents").await.refused(401, "unauthorized");
}
