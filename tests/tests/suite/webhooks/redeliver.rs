//! `POST /v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver`.

use cicerone_tests::receiver::{Reaction, Receiver};
use serde_json::json;

use super::{delivery, made, made_for, path, sending};
use crate::coverage::Covers;
use crate::world::{NO_DELIVERY, account};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver",
    cases: &[
        ("202", a_delivery_is_sent_again_with_the_same_id_and_body),
        ("404 resource_not_found", a_delivery_of_another_endpoint_is_not_found),
        ("409 conflict", a_disabled_endpoint_is_sent_nothing_again),
    ],
};

#[tokio::test]
async fn a_delivery_is_sent_again_with_the_same_id_and_body() {
    let server = sending(&[]);
    let client = server.client();
    // There is only one automatic attempt, and it fails.
    let receiver =
        Receiver::reacting(|_, before| Reaction::status(if before == 0 { 500 } else { 200 })).await;
    let endpoint = made_for(&client, &receiver).await;
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let failed = delivery(&client, &endpoint, |one| one["status"] == "failed").await;
    assert_eq!(failed["attempts"][0]["http_status"], 500);
    assert!(failed["next_attempt_at"].is_null(), "{failed}");
    let id = failed["id"].as_str().unwrap();
    let again = format!("{}/deliveries/{id}/redeliver", path(&endpoint));
    for round in 1..3 {
        let queued = client.post_nothing(&again).await.expect(202);
        assert_eq!((&queued["id"], &queued["event_id"]), (&failed["id"], &failed["event_id"]));
        assert_eq!(queued["status"], "pending");
        receiver.wait_for(1 + round).await;
        let is_done = |one: &serde_json::Value| {
            one["status"] == "succeeded" && one["attempts"].as_array().unwrap().len() == 1 + round
        };
        delivery(&client, &endpoint, is_done).await;
    }
    let received = receiver.received();
    for one in &received {
        assert_eq!(one.header("webhook-id"), failed["event_id"].as_str().unwrap());
        assert_eq!(one.body, received[0].body);
    }
}

#[tokio::test]
async fn a_delivery_of_another_endpoint_is_not_found() {
    let client = account();
    let (one, other) = (made(&client).await, made(&client).await);
    let queued = client.post_nothing(&format!("{}/test", path(&one))).await.expect(202);
    let id = queued["id"].as_str().unwrap();
    for path in [
        format!("{}/deliveries/{id}/redeliver", path(&other)),
        format!("{}/deliveries/{NO_DELIVERY}/redeliver", path(&one)),
        format!("{}/deliveries/nothing/redeliver", path(&one)),
        format!("/v1/webhook_endpoints/nothing/deliveries/{id}/redeliver"),
    ] {
        client.post_nothing(&path).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_disabled_endpoint_is_sent_nothing_again() {
    let client = account();
    let endpoint = made(&client).await;
    let queued = client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    client.patch(&path(&endpoint), json!({ "status": "disabled" })).await.expect(200);
    let id = queued["id"].as_str().unwrap();
    let again = format!("{}/deliveries/{id}/redeliver", path(&endpoint));
    client.post_nothing(&again).await.refused(409, "conflict");
}
