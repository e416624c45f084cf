//! `GET /v1/webhook_endpoints`.

use cicerone_tests::scenario::ids;

use super::{made, without_secret};
use crate::coverage::Covers;
use crate::world::account;

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/webhook_endpoints",
    cases: &[
        ("200", endpoints_come_newest_first_without_their_secrets),
        ("400 invalid_parameter", a_bad_parameter_is_refused),
    ],
};

#[tokio::test]
async fn endpoints_come_newest_first_without_their_secrets() {
    let client = account();
    let mut made_so_far = Vec::new();
    for _ in 0..5 {
        made_so_far.insert(0, without_secret(&made(&client).await));
    }
    assert_eq!(client.list_all("/v1/webhook_endpoints", 2).await, made_so_far);
    assert_eq!(ids(&client.list_all("/v1/webhook_endpoints", 100).await), ids(&made_so_far));
}

#[tokio::test]
async fn a_bad_parameter_is_refused() {
    let client = account();
    for query in ["page_size=0", "page_size=101", "cursor=none"] {
        let answer = client.get(&format!("/v1/webhook_endpoints?{query}")).await;
        let (param, _) = query.split_once('=').unwrap();
        answer.refuses(400, "invalid_parameter", param);
    }
}
