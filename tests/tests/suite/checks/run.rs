//! `POST /v1/agents/{agent_id}/checks/run`.

use cicerone_tests::answer::is_timestamp;
use serde_json::{Value, json};

use super::{ended, path, set, start};
use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/agents/{agent_id}/checks/run",
    cases: &[
        ("202", a_run_judges_each_reply),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
        ("409 conflict", an_agent_without_checks_has_nothing_to_run),
    ],
};

#[tokio::test]
async fn a_run_judges_each_reply() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    let asked = "When does the museum open?";
    let checks = json!([
        { "question": asked, "contains": ["NINE"], "sources": [source], "answered": true },
        { "question": asked, "contains": ["nine", "ten"] },
        { "question": asked, "sources": ["https://example.com/"] },
        { "question": asked, "answered": false },
        { "question": "Which volcano erupted in Iceland?", "answered": false },
        { "question": "Which volcano erupted in Iceland?", "answered": true },
    ]);
    client.put(&path(&agent), json!({ "checks": checks })).await.expect(200);
    let begun = start(&client, &agent).await;
    assert_eq!((&begun["status"], &begun["trigger"]), (&json!("pending"), &json!("request")));
    assert_eq!((&begun["results"], &begun["finished_at"]), (&json!([]), &Value::Null));
    let run = ended(&client, &agent, &Value::Null).await;
    assert_eq!((&run["id"], &run["status"]), (&begun["id"], &json!("done")));
    assert_eq!((&run["passed"], &run["failed"]), (&json!(2), &json!(4)), "{run}");
    assert!(is_timestamp(run["finished_at"].as_str().unwrap()), "{run}");
    let reasons: Vec<&Value> =
        run["results"].as_array().unwrap().iter().map(|result| &result["reason"]).collect();
    assert_eq!(
        reasons,
        [
            &Value::Null,
            &json!("the reply lacks `ten`"),
            &json!("the reply does not cite `https://example.com/`"),
            &json!("the question is answered, but must not be"),
            &Value::Null,
            &json!("the question is not answered"),
        ]
    );
    assert!(run["results"][0]["reply"].as_str().unwrap().contains("nine"), "{run}");
    let conversations = client.list_all(&format!("/v1/agents/{agent}/conversations"), 5).await;
    assert!(conversations.is_empty(), "a check is not a conversation");
    let usage = client.list_all(&format!("/v1/usage?agent_id={agent}"), 5).await;
    assert_eq!(usage[0]["messages"], 6);
}

#[tokio::test]
async fn an_agent_without_checks_has_nothing_to_run() {
    let client = client();
    let agent = client.agent().await;
    let run = format!("{}/run", path(&agent));
    client.post_nothing(&run).await.refused(409, "conflict");
    set(&client, &agent, &["When does it open?"]).await;
    start(&client, &agent).await;
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let run = format!("{}/run", path(NO_AGENT));
    client().post_nothing(&run).await.refused(404, "resource_not_found");
}
