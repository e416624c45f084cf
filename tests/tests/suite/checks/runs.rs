//! `GET /v1/agents/{agent_id}/checks/runs`.

use serde_json::{Value, json};

use super::{ended, path, set, start};
use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/checks/runs",
    cases: &[
        ("200", runs_are_listed_newest_first),
        ("400 invalid_parameter", a_bad_parameter_is_refused),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn runs_are_listed_newest_first() {
    let client = client();
    let agent = client.agent().await;
    set(&client, &agent, &["When does it open?"]).await;
    let mut made = vec![Value::Null];
    for _ in 0..3 {
        start(&client, &agent).await;
        made.push(ended(&client, &agent, made.last().unwrap()).await);
    }
    made.remove(0);
    made.reverse();
    assert_eq!(client.list_all(&format!("{}/runs", path(&agent)), 2).await, made);
}

#[tokio::test]
async fn a_run_contains_no_text_of_a_deleted_source() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The zyxcity museum opens at nine.").await;
    set(&client, &agent, &["When does the museum open?"]).await;
    start(&client, &agent).await;
    let run = ended(&client, &agent, &Value::Null).await;
    assert!(run.to_string().contains("zyxcity"), "{run}");
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    let runs = client.list_all(&format!("{}/runs", path(&agent)), 2).await;
    assert_eq!(runs.len(), 1);
    assert!(!runs[0].to_string().contains("zyxcity"), "{}", runs[0]);
    let result = &runs[0]["results"][0];
    assert_eq!((&result["passed"], &result["reply"]), (&json!(true), &json!("")));
    let shown = client.get(&path(&agent)).await.expect(200);
    assert_eq!(shown["last_run"], runs[0]);
}

#[tokio::test]
async fn a_bad_parameter_is_refused() {
    let client = client();
    let agent = client.agent().await;
    for (name, value) in [("page_size", "0"), ("cursor", "none")] {
        let answer = client.get(&format!("{}/runs?{name}={value}", path(&agent))).await;
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let path = format!("{}/runs", path(NO_AGENT));
    client().get(&path).await.refused(404, "resource_not_found");
}
