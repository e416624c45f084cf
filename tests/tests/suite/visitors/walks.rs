//! Every refusal that strangers can meet on every route: each is provoked on each route of the contract that describes it.

use cicerone_tests::client::Request;
use cicerone_tests::postgres::Cluster;
use cicerone_tests::{Answer, Server};
use serde_json::{Value, json};

use super::{Chat, server, server_with};
use crate::walks::rename_tables;
use crate::world::a_second_later;

/// A route with a valid request.
struct Route {
    method: &'static str,
    /// Its path after the token, as in the contract.
    path: &'static str,
    body: Option<Value>,
}

const RATING: &str = "/conversations/{conversation_id}/messages/{n}/rating";

fn routes() -> [Route; 9] {
    let route = |method, path, body| Route { method, path, body };
    let email = json!({ "email": "zoe@museum.example" });
    [
        route("GET", "", None),
        route("POST", "/visitors", None),
        route("POST", "/messages", Some(json!({ "message": "Hello there" }))),
        route("GET", "/conversations", None),
        route("GET", "/conversations/{conversation_id}", None),
        route("PUT", RATING, Some(json!({ "value": "up" }))),
        route("PUT", "/conversations/{conversation_id}/handoff", Some(json!({}))),
        route("PUT", "/conversations/{conversation_id}/lead", Some(email)),
        route("DELETE", "/conversations/{conversation_id}", None),
    ]
}

/// A widget with a visitor who has a conversation.
struct Place {
    chat: Chat,
    credential: String,
    conversation: String,
}

impl Place {
    async fn on(server: &Server) -> Self {
        let fields = json!({ "handoff": true, "lead": true, "identity": "optional" });
        let chat = Chat::new(&server.client(), fields).await;
        let credential = chat.visitor().await;
        let reply = chat.ask(&credential).await;
        let conversation = reply["conversation_id"].as_str().unwrap().to_owned();
        Self { chat, credential, conversation }
    }

    /// The method, the path, and whether a credential is sent.
    fn path(&self, route: &Route) -> String {
        route.path.replace("{conversation_id}", &self.conversation).replace("{n}", "2")
    }

    /// A valid request, without its body.
    fn head(&self, route: &Route) -> Request {
        self.chat.of_visitor(&self.credential, route.method, &self.path(route))
    }

    async fn call(&self, route: &Route) -> Answer {
        with_body(self.head(route), route).send().await
    }
}

fn with_body(request: Request, route: &Route) -> Request {
    match &route.body {
        Some(body) => request.json(body),
        None => request,
    }
}

/// The routes that describe this status.
async fn describing(status: &str) -> Vec<Route> {
    let document = server().client().get("/v1/openapi.json").await.expect(200);
    let describes = |route: &Route| {
        let path = format!("/w/{{token}}{}", route.path);
        let operation = &document["paths"][&path][route.method.to_lowercase()];
        assert!(operation.is_object(), "{} {path}", route.method);
        operation["responses"].get(status).is_some()
    };
    let all = routes().into_iter().filter(describes).collect::<Vec<_>>();
    assert!(!all.is_empty(), "{status}");
    all
}

#[tokio::test]
async fn every_public_route_of_the_contract_is_walked_and_answers() {
    let document = server().client().get("/v1/openapi.json").await.expect(200);
    let paths = document["paths"].as_object().unwrap().iter();
    let of_widgets = paths.filter(|(path, _)| path.starts_with("/w/"));
    let methods: usize = of_widgets.map(|(_, item)| item.as_object().unwrap().len()).sum();
    assert_eq!(methods, routes().len());
    let place = Place::on(server()).await;
    for route in routes() {
        let answer = place.call(&route).await;
        assert!(answer.status < 300, "{} {}: {}", route.method, route.path, answer.text());
        assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
    }
}

#[tokio::test]
pub(super) async fn without_a_credential_nothing_is_told() {
    let place = Place::on(server()).await;
    let required = Chat::new(&place.chat.owner, json!({ "identity": "required" })).await;
    for route in describing("401").await {
        let path = place.path(&route);
        if route.path == "/visitors" {
            required.request(route.method, &path).send().await.refused(401, "unauthorized");
            continue;
        }
        let mut told = std::collections::BTreeSet::new();
        for id in [place.conversation.clone(), "conv_0000000000".to_owned()] {
            let path = path.replace(&place.conversation, &id);
            let without = with_body(place.chat.request(route.method, &path), &route).send().await;
            without.refused(401, "unauthorized");
            told.insert(without.without_request_id());
        }
        assert_eq!(
            told.len(),
            1,
            "an unknown conversation is distinguishable from an existing one: {told:?}"
        );
        for header in ["Bearer", "Bearer ", "Basic dTpw", "bearer x.y.z", "Bearer ck_12345"] {
            let request = place.chat.request(route.method, &path).header("Authorization", header);
            let answer = with_body(request, &route).send().await;
            answer.refused(401, "unauthorized");
            assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
        }
        // A key of the owner is not a visitor's credential.
        let key = place.chat.owner.key().unwrap();
        let request = place.chat.of_visitor(key, route.method, &path);
        with_body(request, &route).send().await.refused(401, "unauthorized");
    }
}

#[tokio::test]
pub(super) async fn pages_of_other_origins_are_refused_and_may_not_read_why() {
    let place = Place::on(server()).await;
    for route in describing("403").await {
        let request = place.chat.bare(route.method, &place.path(&route));
        let request = request.header("Authorization", &format!("Bearer {}", place.credential));
        let request = request.header("Origin", "https://evil.example");
        let answer = with_body(request, &route).send().await;
        let error = answer.refused(403, "forbidden");
        assert!(error["message"].as_str().unwrap().contains("https://evil.example"), "{error}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{}", route.path);
        assert_eq!(answer.header("vary"), Some("Origin"));
    }
}

#[tokio::test]
pub(super) async fn tokens_that_lead_nowhere_are_all_alike() {
    let owner = server().client();
    let mut tokens = vec!["pub_000000000000000000000000".to_owned(), "pub_".to_owned()];
    tokens.extend(
        ["x", "..%2F..", "%00", "%F0%9F%A6%80", "pub_00000000000000000000000%C3%A9"]
            .map(str::to_owned),
    );
    tokens.push("a".repeat(7_000));
    let inactive = Place::on(server()).await;
    inactive.chat.change(json!({ "is_active": false })).await;
    let deleted = Place::on(server()).await;
    owner.delete(&format!("/v1/widgets/{}", deleted.chat.id)).await.expect_nothing();
    let orphan = Place::on(server()).await;
    owner.delete(&format!("/v1/agents/{}", orphan.chat.agent)).await.expect_nothing();
    let rotated = Place::on(server()).await;
    let path = format!("/v1/widgets/{}/rotate_token", rotated.chat.id);
    owner.post(&path, json!({})).await.expect(200);
    a_second_later().await;
    for route in describing("404").await {
        for place in [&inactive, &deleted, &orphan, &rotated] {
            let token = &place.chat.token;
            assert_absent(&place.call(&route).await, token);
        }
        for token in &tokens {
            let path = format!("/w/{token}{}", inactive.path(&route));
            let request = owner.anonymous().request(route.method, &path);
            let request =
                request.header("Authorization", &format!("Bearer {}", inactive.credential));
            let answer = with_body(request, &route).send().await;
            answer.refused(404, "resource_not_found");
            assert!(answer.body.len() < 1_000, "{}", answer.text());
        }
    }
}

/// The response to a token that does not work, whatever the reason.
#[track_caller]
fn assert_absent(answer: &Answer, token: &str) {
    let error = answer.refused(404, "resource_not_found");
    assert_eq!(error["message"], format!("there is no widget `{token}`"), "{error}");
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[tokio::test]
pub(super) async fn large_and_foreign_bodies_are_refused() {
    let place = Place::on(server()).await;
    for route in describing("413").await {
        let padding = |bytes: usize| {
            format!(
                "{{\"message\": \"Hi\", \"value\": \"up\", \"email\": \"a@b.c\", \"x\": \"{}\"}}",
                "x".repeat(bytes)
            )
        };
        let full = padding(0).len();
        let fits = padding(32 * 1_024 - full);
        assert_eq!(fits.len(), 32 * 1_024);
        let answer = place.head(&route).raw("application/json", fits).send().await;
        assert!(answer.status < 300, "{}: {}", route.path, answer.text());
        let answer = place.head(&route).raw("application/json", padding(32 * 1_024 - full + 1));
        let answer = answer.send().await;
        answer.refused(413, "payload_too_large");
        assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
    }
    for route in describing("415").await {
        // A page of another origin can send these without asking before.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let answer = place.head(&route).raw(kind, "{\"message\": \"Hi\"}").send().await;
            answer.refused(415, "unsupported_media_type");
        }
        let zipped = place.head(&route).header("Content-Encoding", "gzip");
        zipped.raw("application/json", "{}").send().await.refused(415, "unsupported_media_type");
    }
}

#[tokio::test]
pub(super) async fn requests_of_an_address_are_limited_on_every_route() {
    for route in describing("429").await {
        // As many as the place below needs.
        let server = server_with("public_requests_per_minute = 3\n", &[]);
        let place = Place::on(&server).await;
        let first = place.call(&route).await;
        assert!(first.status < 300, "{}", first.text());
        let answer = place.call(&route).await;
        answer.refused(429, "rate_limit_exceeded");
        // The page can read the error, so that it can show it.
        assert_eq!(answer.header("access-control-allow-origin"), Some(super::SITE));
        let expose = answer.header("access-control-expose-headers");
        assert_eq!(expose, Some("Retry-After, X-Request-Id"));
        // Another network is served, and so is the owner.
        let elsewhere = with_body(place.head(&route), &route);
        let answer = elsewhere.header("X-Forwarded-For", "203.0.113.9").send().await;
        assert_ne!(answer.status, 429, "{}", answer.text());
        place.chat.owner.get("/v1/agents").await.expect(200);
    }
}

#[tokio::test]
pub(super) async fn faults_of_the_server_are_told_without_their_causes() {
    let server = server_with("", &[]);
    let place = Place::on(&server).await;
    rename_tables(&server);
    a_second_later().await;
    for route in describing("500").await {
        let answer = place.call(&route).await;
        answer.refused(500, "internal_error");
        let text = answer.words();
        assert!(!["table", "sql", "lost"].iter().any(|word| text.contains(word)), "{text}");
    }
}

#[tokio::test]
pub(super) async fn without_a_database_visitors_are_told_to_come_back() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.empty_database();
    let server = server_with("", &[("CICERONE_DATABASE_URL", &url.to_string())]);
    let place = Place::on(&server).await;
    cluster.close(&url);
    a_second_later().await;
    for route in describing("503").await {
        let answer = place.call(&route).await;
        answer.refused(503, "service_unavailable");
        assert!(answer.header("retry-after").is_some(), "{}", route.path);
    }
}
