//! `GET /v1/webhook_endpoints/{endpoint_id}/deliveries`.

use cicerone_tests::scenario::ids;
use serde_json::{Value, json};

use super::{delivery, made, path};
use crate::coverage::Covers;
use crate::world::{NO_ENDPOINT, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/webhook_endpoints/{endpoint_id}/deliveries",
    cases: &[
        ("200", deliveries_come_newest_first),
        ("400 invalid_parameter", a_bad_parameter_is_refused),
        ("404 resource_not_found", an_unknown_endpoint_is_not_found),
    ],
};

#[tokio::test]
async fn deliveries_come_newest_first() {
    let client = account();
    let endpoint = made(&client).await;
    let mut queued = Vec::new();
    for _ in 0..5 {
        let test = client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
        queued.insert(0, test);
    }
    let list = format!("{}/deliveries", path(&endpoint));
    assert_eq!(ids(&client.list_all(&list, 2).await), ids(&queued));
    assert_eq!(ids(&client.list_all(&format!("{list}?status=pending"), 3).await), ids(&queued));
    let page = client.get(&format!("{list}?status=failed")).await.expect(200);
    assert_eq!(page["data"], json!([]));
    let tried = delivery(&client, &endpoint, |one| one["attempts"] != json!([])).await;
    assert_eq!(tried["attempts"][0]["http_status"], Value::Null);
    assert!(tried["attempts"][0]["error"].is_string(), "{tried}");
    assert!(tried["attempts"][0]["duration_ms"].is_u64(), "{tried}");
    assert!(tried["next_attempt_at"].as_str() > tried["attempts"][0]["at"].as_str(), "{tried}");
    // Another endpoint has its own deliveries.
    let other = made(&client).await;
    let page = client.get(&format!("{}/deliveries", path(&other))).await.expect(200);
    assert_eq!(page["data"], json!([]));
}

#[tokio::test]
async fn a_bad_parameter_is_refused() {
    let client = account();
    let endpoint = made(&client).await;
    for query in ["page_size=0", "cursor=none", "status=done"] {
        let answer = client.get(&format!("{}/deliveries?{query}", path(&endpoint))).await;
        let (param, _) = query.split_once('=').unwrap();
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let path = format!("/v1/webhook_endpoints/{NO_ENDPOINT}/deliveries");
    client().get(&path).await.refused(404, "resource_not_found");
}
