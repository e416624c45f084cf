//! `GET /v1/agents`.

use cicerone_tests::scenario::{id, ids};
use serde_json::json;

use crate::coverage::Covers;
use crate::world::{account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents",
    cases: &[
        ("200", agents_are_listed_newest_first_and_whole),
        ("400 invalid_parameter", a_page_size_of_1_and_100_is_taken_and_beyond_is_refused),
    ],
};

#[tokio::test]
async fn an_account_without_agents_has_an_empty_list() {
    let page = account().get("/v1/agents").await.expect(200);
    assert_eq!(page, json!({ "data": [], "has_more": false, "next_cursor": null }));
}

#[tokio::test]
async fn agents_are_listed_newest_first_and_whole() {
    let account = account();
    let mut created = Vec::new();
    for name in ["first", "second", "third"] {
        created.insert(0, account.post("/v1/agents", json!({ "name": name })).await.expect(201));
    }
    let page = account.get("/v1/agents").await.expect(200);
    assert_eq!(page["data"], json!(created));
}

#[tokio::test]
async fn pages_have_neither_gap_nor_repeat() {
    let account = account();
    let mut created = Vec::new();
    for _ in 0..7 {
        created.insert(0, account.agent().await);
    }
    for size in [1, 2, 3, 7, 100] {
        assert_eq!(ids(&account.list_all("/v1/agents", size).await), created, "page_size {size}");
    }
}

#[tokio::test]
async fn what_is_added_between_two_pages_moves_nothing() {
    let account = account();
    let mut created = Vec::new();
    for _ in 0..4 {
        created.insert(0, account.agent().await);
    }
    let first = account.get("/v1/agents?page_size=2").await.expect(200);
    account.agent().await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = account.get(&format!("/v1/agents?page_size=2&cursor={cursor}")).await.expect(200);
    let mut seen = ids(first["data"].as_array().unwrap());
    seen.extend(ids(second["data"].as_array().unwrap()));
    assert_eq!(seen, created);
    assert_eq!(second["has_more"], false);
}

#[tokio::test]
async fn what_is_deleted_between_two_pages_moves_nothing() {
    let account = account();
    let mut created = Vec::new();
    for _ in 0..4 {
        created.insert(0, account.agent().await);
    }
    let first = account.get("/v1/agents?page_size=2").await.expect(200);
    // The item at the cursor's position.
    account.delete(&format!("/v1/agents/{}", created[1])).await.expect_nothing();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = account.get(&format!("/v1/agents?cursor={cursor}")).await.expect(200);
    assert_eq!(ids(second["data"].as_array().unwrap()), created[2..]);
}

#[tokio::test]
async fn a_page_holds_20_agents_unless_told_otherwise() {
    let account = account();
    for _ in 0..21 {
        account.agent().await;
    }
    let page = account.get("/v1/agents").await.expect(200);
    assert_eq!(page["data"].as_array().unwrap().len(), 20);
    assert_eq!(page["has_more"], true);
    assert!(page["next_cursor"].is_string());
}

#[tokio::test]
async fn the_status_filter_shows_those_alone() {
    let account = account();
    let active = account.agent().await;
    let paused = account.agent().await;
    let path = format!("/v1/agents/{paused}");
    account.patch(&path, json!({ "status": "paused" })).await.expect(200);
    for (status, expected) in [("active", &active), ("paused", &paused)] {
        let page = account.get(&format!("/v1/agents?status={status}")).await.expect(200);
        let data = page["data"].as_array().unwrap();
        assert_eq!(data.iter().map(id).collect::<Vec<_>>(), std::slice::from_ref(expected));
    }
}

#[tokio::test]
async fn a_page_size_of_1_and_100_is_taken_and_beyond_is_refused() {
    for size in ["1", "100"] {
        client().get(&format!("/v1/agents?page_size={size}")).await.expect(200);
    }
    for size in ["0", "101", "-1", "1.5", "many", ""] {
        let answer = client().get(&format!("/v1/agents?page_size={size}")).await;
        answer.refuses(400, "invalid_parameter", "page_size");
    }
}

#[tokio::test]
async fn an_unknown_status_is_refused() {
    for status in ["deleted", "ACTIVE", ""] {
        let answer = client().get(&format!("/v1/agents?status={status}")).await;
        answer.refuses(400, "invalid_parameter", "status");
    }
}

#[tokio::test]
async fn a_cursor_that_the_service_did_not_make_is_refused() {
    for cursor in ["x", "bm90IG91cnM", "%F0%9F%A6%80", ""] {
        let answer = client().get(&format!("/v1/agents?cursor={cursor}")).await;
        answer.refuses(400, "invalid_parameter", "cursor");
    }
}

#[tokio::test]
async fn a_cursor_that_was_changed_is_refused() {
    let account = account();
    account.agent().await;
    account.agent().await;
    let page = account.get("/v1/agents?page_size=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    for position in [0, cursor.len() / 2, cursor.len() - 2] {
        let mut changed = cursor.as_bytes().to_vec();
        changed[position] = if changed[position] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        let answer = account.get(&format!("/v1/agents?cursor={changed}")).await;
        answer.refuses(400, "invalid_parameter", "cursor");
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let account = account();
    let agent = account.agent().await;
    account.agent().await;
    let page = account.get("/v1/agents?page_size=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    for list in ["sources", "conversations"] {
        let answer = account.get(&format!("/v1/agents/{agent}/{list}?cursor={cursor}")).await;
        answer.refuses(400, "invalid_parameter", "cursor");
    }
}

#[tokio::test]
async fn a_cursor_of_another_account_is_refused() {
    let (one, other) = (account(), account());
    one.agent().await;
    one.agent().await;
    let page = one.get("/v1/agents?page_size=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let answer = other.get(&format!("/v1/agents?cursor={cursor}")).await;
    answer.refuses(400, "invalid_parameter", "cursor");
}
