//! `PATCH /v1/agents/{agent_id}/gaps/{gap_id}`.

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use super::{open, path, with_status};
use crate::coverage::Covers;
use crate::world::{NO_AGENT, NO_GAP, client, server};

pub(crate) const COVERS: Covers = Covers {
    route: "PATCH /v1/agents/{agent_id}/gaps/{gap_id}",
    cases: &[
        ("200", a_dismissed_gap_stays_so_whatever_is_asked),
        ("400 missing_required_field", a_change_without_a_status_is_refused),
        ("400 invalid_parameter", another_status_is_refused),
        ("404 resource_not_found", an_unknown_gap_is_not_found),
    ],
};

/// An agent with one gap, and the path of the gap.
async fn gap(client: &Client) -> (String, String) {
    let agent = client.agent().await;
    client.ask(&agent, "When does the museum open?").await;
    let gap = id(&open(client, &agent).await[0]);
    let path = format!("{}/{gap}", path(&agent));
    (agent, path)
}

#[tokio::test]
async fn a_dismissed_gap_stays_so_whatever_is_asked() {
    let client = client();
    let (agent, gap) = gap(&client).await;
    let changed = client.patch(&gap, json!({ "status": "dismissed" })).await.expect(200);
    let id = gap.rsplit('/').next().unwrap();
    assert_eq!(changed, json!({ "id": id, "status": "dismissed", "source_id": null }));
    client.ask(&agent, "when does the museum open").await;
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
    let dismissed = with_status(&client, &agent, "dismissed").await;
    assert_eq!((dismissed.len(), &dismissed[0]["count"]), (1, &json!(2)));
    let changed = client.patch(&gap, json!({ "status": "open" })).await.expect(200);
    assert_eq!(changed["status"], "open");
    assert_eq!(open(&client, &agent).await.len(), 1);
}

#[tokio::test]
async fn a_gap_that_was_opened_is_closed_by_new_content_only() {
    let client = client();
    let (agent, gap) = gap(&client).await;
    client.text(&agent, "The museum opens at nine o'clock.").await;
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
    client.patch(&gap, json!({ "status": "open" })).await.expect(200);
    assert_eq!(open(&client, &agent).await.len(), 1, "the owner thinks otherwise");
    client.text(&agent, "There is a lift.").await;
    assert_eq!(open(&client, &agent).await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_answer_holds_no_question() {
    let client = client();
    let (_, gap) = gap(&client).await;
    let writer = server().client_with(&["conversations:write"]);
    let answer = writer.patch(&gap, json!({ "status": "dismissed" })).await;
    answer.expect(200);
    assert!(!answer.text().contains("museum"), "{}", answer.text());
}

#[tokio::test]
async fn a_change_without_a_status_is_refused() {
    for body in [json!({}), json!({ "status": null })] {
        let answer = client().patch(&format!("{}/{NO_GAP}", path(NO_AGENT)), body).await;
        answer.refuses(400, "missing_required_field", "status");
    }
}

#[tokio::test]
async fn another_status_is_refused() {
    for status in [json!("answered"), json!("closed"), json!(""), json!(1)] {
        let path = format!("{}/{NO_GAP}", path(NO_AGENT));
        let answer = client().patch(&path, json!({ "status": status })).await;
        answer.refuses(400, "invalid_parameter", "status");
    }
}

#[tokio::test]
async fn an_unknown_gap_is_not_found() {
    let client = client();
    let (_, gap) = gap(&client).await;
    let id = gap.rsplit('/').next().unwrap();
    let other = client.agent().await;
    for (agent, gap) in
        [(&*other, NO_GAP), (&*other, id), (&*other, "7"), (NO_AGENT, id), ("7", id)]
    {
        let path = format!("{}/{gap}", path(agent));
        let answer = client.patch(&path, json!({ "status": "open" })).await;
        answer.refused(404, "resource_not_found");
    }
}
