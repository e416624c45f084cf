//! Refusals before a route looks at its object: for the key, the rate, and the size and type of the
//! body.

use cicerone_tests::Server;

use super::Report;
use crate::routes::{Names, ROUTES};
use crate::world::{account, client, program, server};

/// More than any route accepts.
const LARGE_BYTES: usize = 11 * 1_024 * 1_024;

/// On every route.
pub(super) async fn without_a_key(mut report: Report) -> Option<Report> {
    let names = Names::of_new(&account()).await;
    for route in ROUTES {
        report.refused(route, &route.call(&client().anonymous(), &names).await);
    }
    Some(report)
}

/// On every route that needs a permission, with a key that has all others.
pub(super) async fn without_the_permission(mut report: Report) -> Option<Report> {
    let names = Names::of_new(&account()).await;
    let guarded = || ROUTES.iter().filter(|route| route.needs_permission());
    for route in guarded() {
        let others = guarded().map(|other| other.permission);
        let others: Vec<_> = others.filter(|other| *other != route.permission).collect();
        let answer = route.call(&server().client_with(&others), &names).await;
        report.refused(route, &answer);
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains(route.permission), "{}: {message}", route.name());
    }
    Some(report)
}

/// On every route, after the one request that the limit allows.
pub(super) async fn beyond_the_limit(mut report: Report) -> Option<Report> {
    let server = Server::of(&program()).env("CICERONE_RATE_LIMIT_PER_MINUTE", "1").start();
    let client = server.client();
    client.get("/v1/agents").await.expect(200);
    for route in ROUTES {
        report.refused(route, &route.call(&client, &Names::of_nothing()).await);
    }
    Some(report)
}

/// On every route that accepts a body or an idempotency key. A file that is too large is refused
/// with 422, so another part of the body is too large here.
pub(super) async fn with_large_bodies(mut report: Report) -> Option<Report> {
    let client = account();
    let names = Names::of_new(&client).await;
    let text = "x".repeat(LARGE_BYTES);
    for route in ROUTES.iter().filter(|route| route.writes() || route.takes_json()) {
        let path = names.fill(route.path);
        let request = client.request(route.method, &path);
        let request = match route.takes_json() {
            true => request.raw("application/json", format!("{{\"name\": \"{text}\"}}")),
            false => request.part("other", "large.txt", text.clone().into_bytes()),
        };
        // Without an idempotency key, a route without a body does not read it.
        let key = route.name().replace(' ', "-");
        report.refused(route, &request.idempotent(&key).send().await);
    }
    Some(report)
}

/// On every route that accepts JSON.
pub(super) async fn of_another_type(mut report: Report) -> Option<Report> {
    let client = account();
    let names = Names::of_new(&client).await;
    for route in ROUTES.iter().filter(|route| route.takes_json()) {
        let request = client.request(route.method, &names.fill(route.path));
        report.refused(route, &request.raw("text/plain", "{}").send().await);
    }
    Some(report)
}
