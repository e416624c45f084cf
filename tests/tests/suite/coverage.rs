//! Checks that the whole contract is tested: walks the served document, and every answer in it must
//! be provoked by a test.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::routes::{ROUTES, Route};
use crate::walks::WALKS;
use crate::world::client;
use crate::{
    agents, audit_log, checks, conversations, files, gaps, keys, mcp, me, openai, sources, usage,
    visitors, webhooks, widgets, without_key,
};

/// Which answers of a route are tested, and by which tests.
pub(crate) struct Covers {
    /// Method and path, as in the document.
    pub(crate) route: &'static str,
    /// Status and code, and the test that provokes it.
    pub(crate) cases: &'static [(&'static str, fn())],
}

/// The tested answers of each endpoint's file.
pub(crate) const ENDPOINTS: &[&Covers] = &[
    &agents::create::COVERS,
    &agents::list::COVERS,
    &agents::get::COVERS,
    &agents::update::COVERS,
    &agents::delete::COVERS,
    &agents::statistics::COVERS,
    &gaps::list::COVERS,
    &gaps::update::COVERS,
    &gaps::answer::COVERS,
    &checks::replace::COVERS,
    &checks::get::COVERS,
    &checks::run::COVERS,
    &checks::runs::COVERS,
    &files::upload::COVERS,
    &files::get::COVERS,
    &files::content::COVERS,
    &files::delete::COVERS,
    &sources::create::COVERS,
    &sources::list::COVERS,
    &sources::preview::COVERS,
    &sources::search::COVERS,
    &sources::get::COVERS,
    &sources::update::COVERS,
    &sources::delete::COVERS,
    &sources::refresh::COVERS,
    &sources::pairs::COVERS,
    &sources::pages::COVERS,
    &sources::documents::COVERS,
    &sources::passages::COVERS,
    &sources::document::COVERS,
    &conversations::send::COVERS,
    &conversations::list::COVERS,
    &conversations::export::COVERS,
    &conversations::get::COVERS,
    &conversations::messages::COVERS,
    &conversations::delete::COVERS,
    &conversations::rate::COVERS,
    &conversations::unrate::COVERS,
    &conversations::receipt::COVERS,
    &openai::models::LIST,
    &openai::models::GET,
    &openai::chat::COVERS,
    &openai::responses::COVERS,
    &mcp::COVERS,
    &webhooks::create::COVERS,
    &webhooks::list::COVERS,
    &webhooks::get::COVERS,
    &webhooks::update::COVERS,
    &webhooks::delete::COVERS,
    &webhooks::rotate_secret::COVERS,
    &webhooks::test::COVERS,
    &webhooks::deliveries::COVERS,
    &webhooks::redeliver::COVERS,
    &widgets::CREATE,
    &widgets::LIST,
    &widgets::GET,
    &widgets::UPDATE,
    &widgets::DELETE,
    &widgets::ROTATE_TOKEN,
    &widgets::ROTATE_SECRET,
    &keys::create::COVERS,
    &keys::list::COVERS,
    &keys::get::COVERS,
    &keys::update::COVERS,
    &keys::delete::COVERS,
    &me::COVERS,
    &audit_log::COVERS,
    &usage::COVERS,
];

pub(crate) async fn operations() -> Vec<(String, Value)> {
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
    operation["security"][0].get("bearer").is_some()
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
        let covers = ENDPOINTS.iter().find(|covers| covers.route == name).unwrap();
        for status in operation["responses"].as_object().unwrap().keys() {
            let tested = covers.cases.iter().any(|(case, _)| case.starts_with(status.as_str()));
            if tested {
                continue;
            }
            let walk = WALKS.iter().find(|walk| walk.status.to_string() == *status);
            let walk = walk.unwrap_or_else(|| panic!("no test provokes {status} of `{name}`"));
            let seen = walk.saw(&name).await;
            assert!(
                seen,
                "neither a test nor the walk `{}` provokes {status} of `{name}`",
                walk.name
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
        // The hosts of the MCP interface are checked too.
        let is_guarded = route.needs_permission() || route.path.starts_with("/mcp/");
        assert_eq!(responses.contains_key("403"), is_guarded, "{}", covers.route);
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
async fn every_answer_of_a_route_of_widgets_is_provoked_by_a_test() {
    let operations = operations().await;
    let of_widgets = operations.iter().filter(|(name, _)| name.contains(" /w/"));
    let documented: BTreeSet<&str> = of_widgets.map(|(name, _)| name.as_str()).collect();
    let tested: BTreeSet<&str> = visitors::COVERS.iter().map(|covers| covers.route).collect();
    assert_eq!(documented, tested);
    for covers in visitors::COVERS {
        let (name, operation) = operations.iter().find(|(name, _)| name == covers.route).unwrap();
        let responses = operation["responses"].as_object().unwrap();
        for status in responses.keys() {
            let is_tested = covers.cases.iter().any(|(case, _)| case.starts_with(status.as_str()));
            let is_walked = visitors::WALKED.iter().any(|(walked, _)| walked == status);
            assert!(is_tested || is_walked, "no test provokes {status} of `{name}`");
        }
        for (case, _) in covers.cases {
            let status = case.split(' ').next().unwrap();
            assert!(responses.contains_key(status), "`{name}` does not describe {case}");
        }
    }
}

#[tokio::test]
async fn every_answer_of_an_operation_without_a_key_is_provoked_by_a_test() {
    let operations = operations().await;
    let open = operations
        .iter()
        .filter(|(name, operation)| !needs_key(operation) && !name.contains(" /w/"));
    let documented: BTreeSet<&str> = open.map(|(name, _)| name.as_str()).collect();
    let tested: BTreeSet<&str> = without_key::COVERS.iter().map(|covers| covers.route).collect();
    assert_eq!(documented, tested);
    for covers in without_key::COVERS {
        let (name, operation) = operations.iter().find(|(name, _)| name == covers.route).unwrap();
        let responses = operation["responses"].as_object().unwrap();
        let documented: BTreeSet<&str> = responses.keys().map(String::as_str).collect();
        let mut tested: BTreeSet<&str> = covers.cases.iter().map(|(status, _)| *status).collect();
        if without_key::INFALLIBLE.contains(&name.as_str()) {
            tested.insert("500");
        }
        assert_eq!(documented, tested, "{name}");
    }
}

#[tokio::test]
async fn every_route_says_which_permission_it_needs() {
    for (name, operation) in operations().await.into_iter().filter(|(_, o)| needs_key(o)) {
        let route = ROUTES.iter().find(|route| route.name() == name).unwrap();
        let stated = operation["x-permission"].as_str().unwrap_or_default();
        assert_eq!(stated, route.permission, "{name}");
        let line = match route.permission {
            "" => "Permission: none; any valid key is accepted.".to_owned(),
            permission => format!("Permission: `{permission}`."),
        };
        let description = operation["description"].as_str().unwrap();
        assert!(description.lines().any(|other| other == line), "{name}: {description}");
    }
}

#[tokio::test]
async fn the_document_states_the_limits() {
    let document = client().get("/v1/openapi.json").await.expect(200);
    for (property, limit, value) in [
        ("system_prompt", "maxLength", 4_000),
        ("max_tokens", "maximum", 4_096),
        ("message", "maxLength", 4_000),
        ("query", "maxLength", 4_000),
        ("content", "maxLength", 100_000),
        ("description", "maxLength", 500),
        ("bytes", "maximum", 10_485_760),
    ] {
        let stated = limits(&document, property, limit);
        assert!(stated.contains(&value), "`{limit}` of `{property}` is {stated:?}, not {value}");
    }
}

/// The values of this keyword in the schemas of all properties with this name.
fn limits(schema: &Value, property: &str, keyword: &str) -> Vec<u64> {
    let own = schema["properties"][property][keyword].as_u64();
    let inner: Vec<&Value> = match schema {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own.into_iter()
        .chain(inner.iter().flat_map(|schema| limits(schema, property, keyword)))
        .collect()
}
