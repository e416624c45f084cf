//! That nothing of the contract is without a test: the served document is walked, and every answer
//! that it describes must be one that a test provokes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::routes::{ROUTES, Route};
use crate::world::client;
use crate::{agents, audit_log, conversations, files, keys, me, sources, usage, webhooks};

/// Which answers of a route are tested, and by what.
pub(crate) struct Covers {
    /// Method and path, as the document writes it.
    pub(crate) route: &'static str,
    /// Status and code, and the test that provokes it.
    pub(crate) cases: &'static [(&'static str, fn())],
}

/// What each endpoint's file covers.
const ENDPOINTS: [&Covers; 39] = [
    &agents::create::COVERS,
    &agents::list::COVERS,
    &agents::get::COVERS,
    &agents::update::COVERS,
    &agents::delete::COVERS,
    &files::upload::COVERS,
    &files::get::COVERS,
    &files::delete::COVERS,
    &sources::create::COVERS,
    &sources::list::COVERS,
    &sources::search::COVERS,
    &sources::get::COVERS,
    &sources::delete::COVERS,
    &sources::refresh::COVERS,
    &sources::pages::COVERS,
    &sources::documents::COVERS,
    &sources::passages::COVERS,
    &conversations::send::COVERS,
    &conversations::list::COVERS,
    &conversations::get::COVERS,
    &conversations::messages::COVERS,
    &conversations::delete::COVERS,
    &webhooks::create::COVERS,
    &webhooks::list::COVERS,
    &webhooks::get::COVERS,
    &webhooks::update::COVERS,
    &webhooks::delete::COVERS,
    &webhooks::rotate_secret::COVERS,
    &webhooks::test::COVERS,
    &webhooks::deliveries::COVERS,
    &webhooks::redeliver::COVERS,
    &keys::create::COVERS,
    &keys::list::COVERS,
    &keys::get::COVERS,
    &keys::update::COVERS,
    &keys::delete::COVERS,
    &me::COVERS,
    &audit_log::COVERS,
    &usage::COVERS,
];

/// Answers that tests provoke on every route alike, by walking [`ROUTES`]: `authentication`,
/// `permissions`, `isolation` and `idempotency`; and those of the layers before any route: body
/// sizes and types in `protocol`, `rate_limits`, an unreachable database in `on_postgres`. A fault
/// of the service itself (500) is not to be had from outside.
fn is_covered_everywhere(route: &Route, status: &str) -> bool {
    match status {
        "401" | "403" | "413" | "415" | "429" | "500" | "503" => true,
        // While the first of two identical requests runs, and for a key that was used otherwise.
        "409" | "422" => route.writes(),
        // A malformed query, path, body or idempotency key.
        "400" => true,
        // A replay of what was deleted since.
        "404" => route.writes(),
        _ => false,
    }
}

async fn operations() -> Vec<(String, Value)> {
    let document = client().get("/v1/openapi.json").await.expect(200);
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if ["get", "post", "patch", "delete", "put", "head", "options"].contains(&&**method) {
                operations.push((format!("{} {path}", method.to_uppercase()), operation.clone()));
            }
        }
    }
    operations
}

fn needs_key(operation: &Value) -> bool {
    operation["responses"].get("401").is_some()
}

#[tokio::test]
async fn every_route_of_the_document_is_walked_and_every_walked_route_is_in_it() {
    let documented: BTreeSet<String> = operations()
        .await
        .into_iter()
        .filter(|(_, operation)| needs_key(operation))
        .map(|(name, _)| name)
        .collect();
    let walked: BTreeSet<String> = ROUTES.iter().map(Route::name).collect();
    assert_eq!(documented, walked);
    let tested: BTreeSet<String> = ENDPOINTS.iter().map(|covers| covers.route.to_owned()).collect();
    assert_eq!(tested, walked);
}

#[tokio::test]
async fn every_answer_that_the_document_describes_is_provoked_by_a_test() {
    for (name, operation) in operations().await.into_iter().filter(|(_, o)| needs_key(o)) {
        let route = ROUTES.iter().find(|route| route.name() == name).unwrap();
        let covers = ENDPOINTS.iter().find(|covers| covers.route == name).unwrap();
        for status in operation["responses"].as_object().unwrap().keys() {
            let tested = covers.cases.iter().any(|(case, _)| case.starts_with(status.as_str()));
            assert!(
                tested || is_covered_everywhere(route, status),
                "`{name}` answers {status}, and no test provokes it"
            );
        }
    }
}

#[tokio::test]
async fn every_answer_that_a_test_provokes_is_in_the_document() {
    let operations = operations().await;
    for covers in ENDPOINTS {
        let (_, operation) = operations.iter().find(|(name, _)| name == covers.route).unwrap();
        let responses = operation["responses"].as_object().unwrap();
        for (case, _) in covers.cases {
            let status = case.split(' ').next().unwrap();
            assert!(responses.contains_key(status), "`{}` does not describe {case}", covers.route);
        }
        let route = ROUTES.iter().find(|route| route.name() == covers.route).unwrap();
        assert_eq!(responses.contains_key("403"), route.needs_permission(), "{}", covers.route);
        for status in ["401", "429", "500", "503"] {
            assert!(
                responses.contains_key(status),
                "`{}` does not describe {status}",
                covers.route
            );
        }
    }
}

#[tokio::test]
async fn every_route_says_which_permission_it_needs() {
    for (name, operation) in operations().await.into_iter().filter(|(_, o)| needs_key(o)) {
        let route = ROUTES.iter().find(|route| route.name() == name).unwrap();
        assert!(operation.to_string().contains(route.permission), "{name}: {operation}");
    }
}

#[tokio::test]
async fn the_document_states_the_limits() {
    let text = client().get("/v1/openapi.json").await.expect(200).to_string();
    for limit in ["4000", "4096", "100000", "500", "10485760"] {
        let grouped = match limit {
            "100000" => "100,000",
            "10485760" => "10,485,760",
            other => other,
        };
        assert!(text.contains(limit) || text.contains(grouped), "{limit}");
    }
}
