//! `PUT /v1/agents/{agent_id}/checks`.

use serde_json::{Value, json};

use super::path;
use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "PUT /v1/agents/{agent_id}/checks",
    cases: &[
        ("200", the_same_checks_again_change_nothing),
        ("400 missing_required_field", what_is_missing_is_named),
        ("400 invalid_parameter", bad_values_are_refused_with_their_paths),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn the_same_checks_again_change_nothing() {
    let client = client();
    let agent = client.agent().await;
    let checks = json!([
        { "question": "When do you open?", "contains": ["nine"], "sources": ["src_0000000000"] },
        { "question": CRAB.repeat(4_000), "answered": false, "other": 5 },
    ]);
    let path = path(&agent);
    let put = || client.put(&path, json!({ "checks": checks }));
    let stored = put().await.expect(200);
    assert_eq!(
        stored["checks"],
        json!([
            { "question": "When do you open?", "contains": ["nine"],
              "sources": ["src_0000000000"], "answered": null },
            { "question": CRAB.repeat(4_000), "contains": [], "sources": [], "answered": false },
        ])
    );
    assert_eq!(stored["last_run"], Value::Null);
    assert_eq!(put().await.expect(200), stored);
    assert_eq!(client.get(&path).await.expect(200), stored);
    let fewer = client.put(&path, json!({ "checks": [] })).await.expect(200);
    assert_eq!(fewer["checks"], json!([]));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let client = client();
    let agent = client.agent().await;
    for (body, param) in [
        (json!({}), "checks"),
        (json!({ "checks": null }), "checks"),
        (json!({ "checks": [{ "answered": true }] }), "checks[0].question"),
    ] {
        let answer = client.put(&path(&agent), body).await;
        answer.refuses(400, "missing_required_field", param);
    }
}

#[tokio::test]
async fn bad_values_are_refused_with_their_paths() {
    let client = client();
    let agent = client.agent().await;
    let check = |question: &str| json!({ "question": question, "answered": true });
    let most = CRAB.repeat(4_000);
    client.put(&path(&agent), json!({ "checks": vec![check("a"); 100] })).await.expect(200);
    for (checks, param) in [
        (json!(5), "checks"),
        (json!(vec![check("a"); 101]), "checks"),
        (json!(vec![check(&most); 17]), "checks"),
        (json!([5]), "checks[0]"),
        (json!([["Question?", ["a"], [], true]]), "checks[0]"),
        (json!([check("")]), "checks[0].question"),
        (json!([check(&format!("{most}x"))]), "checks[0].question"),
        (json!([check("a\u{0}b")]), "checks[0].question"),
        (json!([{ "question": "a" }]), "checks[0]"),
        (json!([{ "question": "a", "contains": ["a", ""] }]), "checks[0].contains[1]"),
        (json!([{ "question": "a", "contains": [CRAB.repeat(201)] }]), "checks[0].contains[0]"),
        (json!([{ "question": "a", "contains": vec!["a"; 6] }]), "checks[0].contains"),
        (json!([check("a"), { "question": "a", "sources": ["a"] }]), "checks[1].sources[0]"),
        (json!([{ "question": "a", "answered": "yes" }]), "checks[0].answered"),
    ] {
        let answer = client.put(&path(&agent), json!({ "checks": checks })).await;
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let body = json!({ "checks": [] });
    client().put(&path(NO_AGENT), body).await.refused(404, "resource_not_found");
}
