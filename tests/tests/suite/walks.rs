//! Walks over [`ROUTES`](crate::routes::ROUTES): each provokes one kind of refusal on every route
//! that can return it, and reports the routes that did. `coverage` accepts a documented answer
//! without a test of its own only if a walk has reported it.

mod broken;
mod idempotency;
mod requests;

use std::collections::BTreeSet;
use std::pin::Pin;

use cicerone_tests::Answer;
use tokio::sync::OnceCell;

use crate::routes::Route;

pub(crate) use broken::rename_tables;

/// One kind of refusal, and the walk that provokes it.
#[derive(Debug)]
pub(crate) struct Walk {
    /// The walk's name, for messages.
    pub(crate) name: &'static str,
    /// The status of the refusal.
    pub(crate) status: u16,
    code: &'static str,
    run: fn(Report) -> Running,
    /// The report: the walk runs once, however many tests need it.
    seen: OnceCell<Option<Report>>,
}

/// A walk in progress. Returns `None` if a program that it needs is not installed.
type Running = Pin<Box<dyn Future<Output = Option<Report>> + Send>>;

/// All walks.
pub(crate) static WALKS: [Walk; 11] = [
    walk("malformed idempotency keys", 400, "invalid_parameter", |report| {
        Box::pin(idempotency::malformed_keys(report))
    }),
    walk("no key", 401, "unauthorized", |report| Box::pin(requests::without_a_key(report))),
    walk("no permission", 403, "forbidden", |report| {
        Box::pin(requests::without_the_permission(report))
    }),
    walk("deleted since", 404, "resource_not_found", |report| {
        Box::pin(idempotency::deleted_since(report))
    }),
    walk("identical requests at once", 409, "conflict", |report| {
        Box::pin(idempotency::requests_at_once(report))
    }),
    walk("large bodies", 413, "payload_too_large", |report| {
        Box::pin(requests::with_large_bodies(report))
    }),
    walk("bodies of another type", 415, "unsupported_media_type", |report| {
        Box::pin(requests::of_another_type(report))
    }),
    walk("used idempotency keys", 422, "idempotency_key_reused", |report| {
        Box::pin(idempotency::used_keys(report))
    }),
    walk("too many requests", 429, "rate_limit_exceeded", |report| {
        Box::pin(requests::beyond_the_limit(report))
    }),
    walk("no tables", 500, "internal_error", |report| Box::pin(broken::without_tables(report))),
    walk("no database", 503, "service_unavailable", |report| {
        Box::pin(broken::without_a_database(report))
    }),
];

const fn walk(
    name: &'static str,
    status: u16,
    code: &'static str,
    run: fn(Report) -> Running,
) -> Walk {
    Walk { name, status, code, run, seen: OnceCell::const_new() }
}

impl Walk {
    /// Whether this route returned the refusal; true if a program that the walk needs is not
    /// installed.
    pub(crate) async fn saw(&self, route: &str) -> bool {
        let report = Report { status: self.status, code: self.code, routes: BTreeSet::new() };
        let seen = self.seen.get_or_init(|| (self.run)(report)).await;
        seen.as_ref().is_none_or(|report| report.routes.contains(route))
    }
}

/// The routes that a walk has reported so far.
#[derive(Debug)]
pub(crate) struct Report {
    status: u16,
    code: &'static str,
    routes: BTreeSet<String>,
}

impl Report {
    /// Checks that the answer is the refusal, and adds the route to the report.
    #[track_caller]
    fn refused(&mut self, route: &Route, answer: &Answer) {
        assert_eq!(answer.status, self.status, "{}: {}", route.name(), answer.text());
        answer.refused(self.status, self.code);
        self.routes.insert(route.name());
    }
}

#[tokio::test]
async fn every_walk_sees_its_refusal() {
    for walk in &WALKS {
        // Only requests that create something can be repeated after its deletion.
        let route =
            if walk.status == 404 { "POST /v1/agents" } else { "PATCH /v1/agents/{agent_id}" };
        assert!(walk.saw(route).await, "{}", walk.name);
        assert!(!walk.saw("GET /v1/elsewhere").await, "{}", walk.name);
    }
}
