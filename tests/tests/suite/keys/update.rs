//! `PATCH /v1/api_keys/{key_id}`.

use serde_json::{Value, json};

use super::{made, made_with, path, without_secret};
use crate::coverage::Covers;
use crate::world::{NO_AGENT, NO_KEY, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "PATCH /v1/api_keys/{key_id}",
    cases: &[
        ("200", only_the_fields_that_are_given_change),
        ("400 invalid_parameter", a_bad_value_is_refused_and_changes_nothing),
        ("403 forbidden", a_key_cannot_be_made_to_do_more_than_the_one_that_is_used),
        ("404 resource_not_found", an_unknown_key_is_not_found),
    ],
};

#[tokio::test]
async fn only_the_fields_that_are_given_change() {
    let client = account();
    let agent = client.agent().await;
    let (key, _) = made(&client, &["*"]).await;
    let mut expected = without_secret(&key);
    let changes = [
        ("name", json!("Other"), json!("Other")),
        ("permissions", json!(["agents:read"]), json!(["agents:read"])),
        ("agent_ids", json!([agent]), json!([agent])),
        ("expires_at", json!("2999-01-01T00:00:00Z"), json!("2999-01-01T00:00:00.000Z")),
        ("agent_ids", Value::Null, Value::Null),
        ("expires_at", Value::Null, Value::Null),
    ];
    for (field, given, shown) in changes {
        let mut body = json!({});
        body[field] = given;
        expected[field] = shown;
        assert_eq!(client.patch(&path(&key), body).await.expect(200), expected);
        assert_eq!(client.get(&path(&key)).await.expect(200), expected);
    }
}

#[tokio::test]
async fn a_change_takes_effect_at_once_and_the_secret_stays() {
    let client = account();
    let (key, holder) = made(&client, &["agents:read"]).await;
    holder.get("/v1/agents").await.expect(200);
    client.patch(&path(&key), json!({ "permissions": ["sources:read"] })).await.expect(200);
    holder.get("/v1/agents").await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_bad_value_is_refused_and_changes_nothing() {
    let client = account();
    let (key, _) = made(&client, &["*"]).await;
    let bad = [
        ("name", "name", Value::Null),
        ("name", "name", json!(" ")),
        ("permissions", "permissions", Value::Null),
        ("permissions", "permissions[0]", json!(["everything"])),
        ("agent_ids", "agent_ids[0]", json!([NO_AGENT])),
        ("expires_at", "expires_at", json!("2020-01-01T00:00:00Z")),
    ];
    for (field, param, value) in bad {
        let mut body = json!({ "name": "Other" });
        body[field] = value;
        client.patch(&path(&key), body).await.refuses(400, "invalid_parameter", param);
    }
    assert_eq!(client.get(&path(&key)).await.expect(200), without_secret(&key));
}

#[tokio::test]
async fn a_key_cannot_be_made_to_do_more_than_the_one_that_is_used() {
    let client = account();
    let (own, maker) = made(&client, &["keys:write", "agents:read"]).await;
    let (narrow, _) = made(&client, &["agents:read"]).await;
    let (wide, _) = made(&client, &["*"]).await;
    let wider = json!({ "permissions": ["agents:read", "agents:write"] });
    for key in [&own, &narrow] {
        maker.patch(&path(key), wider.clone()).await.refused(403, "forbidden");
    }
    // A key that already has more permissions cannot be changed either.
    maker.patch(&path(&wide), json!({ "name": "Mine" })).await.refused(403, "forbidden");
    maker.patch(&path(&narrow), json!({ "name": "Mine" })).await.expect(200);
    maker.patch(&path(&own), json!({ "permissions": ["keys:write"] })).await.expect(200);
}

#[tokio::test]
async fn a_key_within_agents_cannot_lift_its_own_restriction() {
    let client = account();
    let agent = client.agent().await;
    let body = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [agent] });
    let (own, holder) = made_with(&client, body).await;
    let answer = holder.patch(&path(&own), json!({ "agent_ids": null })).await;
    answer.refused(400, "invalid_operation");
}

#[tokio::test]
async fn an_unknown_key_is_not_found() {
    let answer = client().patch(&format!("/v1/api_keys/{NO_KEY}"), json!({ "name": "A" })).await;
    answer.refused(404, "resource_not_found");
}
