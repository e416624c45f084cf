//! Refusals of an `Idempotency-Key`, on every route that changes something.

use futures_util::future::join_all;

use super::Report;
use crate::routes::{Names, ROUTES, Route};
use crate::world::account;

/// Identical requests at the same time.
const REQUESTS: usize = 8;
/// The rounds in which all of them may happen to run one after another.
const ROUNDS: usize = 20;

fn writes() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.writes())
}

/// A key with a space in it.
pub(super) async fn malformed_keys(mut report: Report) -> Option<Report> {
    let client = account();
    let names = Names::of_new(&client).await;
    for route in writes() {
        let answer = route.request(&client, &names).idempotent("two words").send().await;
        report.refused(route, &answer);
        answer.refuses(400, "invalid_parameter", "Idempotency-Key");
    }
    Some(report)
}

/// A key that was used for another request.
pub(super) async fn used_keys(mut report: Report) -> Option<Report> {
    let client = account();
    let names = Names::of_new(&client).await;
    let body = serde_json::json!({ "name": "Another" });
    let first = client.request("POST", "/v1/agents").json(&body).idempotent("used");
    first.send().await.expect(201);
    for route in writes() {
        report.refused(route, &route.request(&client, &names).idempotent("used").send().await);
    }
    Some(report)
}

/// The key of a request that is still in progress.
pub(super) async fn requests_at_once(mut report: Report) -> Option<Report> {
    let client = account();
    for route in writes() {
        for round in 0.. {
            let names = Names::of_new(&client).await;
            let key = format!("{}-{round}", route.name().replace(' ', "-"));
            let requests =
                (0..REQUESTS).map(|_| route.request(&client, &names).idempotent(&key).send());
            let answers = join_all(requests).await;
            if let Some(refused) = answers.iter().find(|answer| answer.status == 409) {
                report.refused(route, refused);
                assert_eq!(refused.header("retry-after"), Some("1"));
                break;
            }
            assert!(round < ROUNDS, "{}: no requests overlapped", route.name());
        }
    }
    Some(report)
}

/// The key of a request whose object was deleted, on the routes that create an object of the
/// account.
pub(super) async fn deleted_since(mut report: Report) -> Option<Report> {
    let client = account();
    for route in writes().filter(|route| route.method == "POST" && !route.path.contains('{')) {
        let names = Names::of_new(&client).await;
        let key = route.name().replace(' ', "-");
        let request = || route.request(&client, &names).idempotent(&key).send();
        let made = request().await;
        assert!(made.status < 300, "{}: {}", route.name(), made.text());
        client.delete(&route.made(&names, &made)).await.expect_nothing();
        report.refused(route, &request().await);
    }
    Some(report)
}
