//! `GET /v1/agents/{agent_id}/conversations`.

use cicerone_tests::Client;
use cicerone_tests::scenario::{id, ids};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_AGENT, client, past};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/conversations",
    cases: &[
        ("200", conversations_are_listed_newest_first_without_their_messages),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

async fn start(client: &Client, agent: &str, metadata: Value) -> String {
    let body = json!({ "agent_id": agent, "message": "Hello there", "metadata": metadata });
    id(&client.post("/v1/conversations", body).await.expect(200))
}

async fn found(client: &Client, agent: &str, query: &str) -> Vec<String> {
    let path = format!("/v1/agents/{agent}/conversations?{query}");
    ids(client.get(&path).await.expect(200)["data"].as_array().unwrap())
}

#[tokio::test]
async fn an_agent_without_conversations_has_an_empty_list() {
    let agent = client().agent().await;
    let page = client().get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    assert_eq!(page, json!({ "data": [], "has_more": false, "next_cursor": null }));
}

#[tokio::test]
async fn conversations_are_listed_newest_first_without_their_messages() {
    let client = client();
    let agent = client.agent().await;
    let mut expected = Vec::new();
    for user in ["1", "2", "3"] {
        let id = start(&client, &agent, json!({ "user": user })).await;
        let mut whole = client.get(&format!("/v1/conversations/{id}")).await.expect(200);
        for of_one in ["messages", "messages_cursor"] {
            whole.as_object_mut().unwrap().remove(of_one).unwrap();
        }
        expected.insert(0, whole);
    }
    let page = client.get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    assert_eq!(page["data"], json!(expected));
}

#[tokio::test]
async fn the_order_is_that_of_creation_and_not_of_the_last_message() {
    let client = client();
    let agent = client.agent().await;
    let first = start(&client, &agent, json!({})).await;
    let second = start(&client, &agent, json!({})).await;
    let body = json!({ "agent_id": agent, "conversation_id": first, "message": "Hello again" });
    client.post("/v1/conversations", body).await.expect(200);
    assert_eq!(found(&client, &agent, "").await, [second, first]);
}

#[tokio::test]
async fn pages_have_neither_gap_nor_repeat() {
    let client = client();
    let agent = client.agent().await;
    let mut created = Vec::new();
    for _ in 0..5 {
        created.insert(0, start(&client, &agent, json!({})).await);
    }
    for size in [1, 2, 5, 100] {
        let path = format!("/v1/agents/{agent}/conversations");
        assert_eq!(ids(&client.list_all(&path, size).await), created, "page_size {size}");
    }
}

#[tokio::test]
async fn metadata_filters_by_pair_and_all_given_must_fit() {
    let client = client();
    let agent = client.agent().await;
    let a = start(&client, &agent, json!({ "user": "1", "plan": "pro" })).await;
    let b = start(&client, &agent, json!({ "user": "2", "plan": "pro" })).await;
    let c = start(&client, &agent, json!({ "link": "https://a.b:8/?x=1", "né": "ü" })).await;
    let cases = [
        ("metadata=plan:pro", vec![b.clone(), a.clone()]),
        ("metadata=plan:pro&metadata=user:1", vec![a.clone()]),
        ("metadata=plan:pro&metadata=user:3", vec![]),
        ("metadata=user:1&metadata=user:2", vec![]),
        ("metadata=plan:", vec![]),
        ("metadata=plan:PRO", vec![]),
        ("metadata=plan:pr", vec![]),
        ("metadata=link:https%3A%2F%2Fa.b%3A8%2F%3Fx%3D1", vec![c.clone()]),
        ("metadata=n%C3%A9:%C3%BC", vec![c.clone()]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&client, &agent, query).await, expected, "{query}");
    }
}

#[tokio::test]
async fn all_bad_parameters_are_told_at_once() {
    let client = client();
    let agent = client.agent().await;
    let query =
        "page_size=0&cursor=x&created_after=now&metadata=plan&rating=good&visitor_id=1&text=";
    let path = format!("/v1/agents/{agent}/conversations?{query}");
    client.get(&path).await.refuses_all(
        400,
        "invalid_parameter",
        &["page_size", "cursor", "created_after", "metadata", "rating", "visitor_id", "text"],
    );
}

#[tokio::test]
async fn at_most_20_metadata_filters_are_taken() {
    let client = client();
    let agent = client.agent().await;
    let pairs: serde_json::Map<String, Value> =
        (0..20).map(|number| (format!("k{number}"), json!("v"))).collect();
    let expected = start(&client, &agent, Value::Object(pairs)).await;
    let query = |count: usize| {
        (0..count).map(|number| format!("metadata=k{number}:v")).collect::<Vec<_>>().join("&")
    };
    assert_eq!(found(&client, &agent, &query(20)).await, [expected]);
    for count in [21, 300, 900] {
        let path = format!("/v1/agents/{agent}/conversations?{}", query(count));
        client.get(&path).await.refuses(400, "invalid_parameter", "metadata");
    }
    for filter in [format!("{}:", "k".repeat(41)), format!("k:{}", "v".repeat(501))] {
        let path = format!("/v1/agents/{agent}/conversations?metadata={filter}");
        client.get(&path).await.refuses(400, "invalid_parameter", "metadata");
    }
    let path = format!("/v1/agents/{agent}/conversations?x={}", "y".repeat(16_384));
    client.get(&path).await.refuses(400, "invalid_parameter", "query");
}

#[tokio::test]
async fn a_metadata_filter_holds_across_pages() {
    let client = client();
    let agent = client.agent().await;
    let mut expected = Vec::new();
    for number in 0..6 {
        let plan = if number % 2 == 0 { "pro" } else { "free" };
        let id = start(&client, &agent, json!({ "plan": plan })).await;
        if plan == "pro" {
            expected.insert(0, id);
        }
    }
    let path = format!("/v1/agents/{agent}/conversations?metadata=plan:pro");
    assert_eq!(ids(&client.list_all(&path, 2).await), expected);
}

#[tokio::test]
async fn metadata_filters_are_data_and_never_syntax() {
    let client = client();
    let agent = client.agent().await;
    let odd = start(&client, &agent, json!({ "a'b\"%_\\": "x'); DROP TABLE agents;--%" })).await;
    start(&client, &agent, json!({ "aXb": "x" })).await;
    let query = "metadata=a%27b%22%25_%5C:x%27)%3B%20DROP%20TABLE%20agents%3B--%25";
    assert_eq!(found(&client, &agent, query).await, [odd]);
    assert_eq!(found(&client, &agent, "metadata=a%25:x").await, Vec::<String>::new());
}

#[tokio::test]
async fn the_bounds_of_time_are_exclusive() {
    let client = client();
    let agent = client.agent().await;
    let mut created = Vec::new();
    let mut moments = Vec::new();
    for _ in 0..3 {
        let conversation = start(&client, &agent, json!({})).await;
        let path = format!("/v1/conversations/{conversation}");
        let moment = client.get(&path).await.expect(200)["created_at"].clone();
        past(&moment).await;
        created.push(conversation);
        moments.push(moment);
    }
    let middle = moments[1].as_str().unwrap();
    let query = format!("created_after={middle}");
    assert_eq!(found(&client, &agent, &query).await, [created[2].clone()]);
    let query = format!("created_before={middle}");
    assert_eq!(found(&client, &agent, &query).await, [created[0].clone()]);
    // A fraction of a millisecond later, it is before.
    let later = middle.replace('Z', "001Z");
    let query = format!("created_after={middle}&created_before={later}");
    assert_eq!(found(&client, &agent, &query).await, Vec::<String>::new());
    let query = format!("created_before={later}");
    assert_eq!(found(&client, &agent, &query).await, [created[1].clone(), created[0].clone()]);
    let query = format!("created_after={middle}&created_before={middle}");
    assert_eq!(found(&client, &agent, &query).await, Vec::<String>::new());
    let query = "created_after=2020-01-01T00:00:00Z&created_before=2999-12-31T23:59:59.999Z";
    assert_eq!(found(&client, &agent, query).await.len(), 3);
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let agent = client().agent().await;
    let bad = [
        ("page_size", "0"),
        ("page_size", "101"),
        ("cursor", "x"),
        ("created_after", "yesterday"),
        ("created_after", "2026-11-21"),
        ("created_after", "2026-11-21T10:00:00"),
        ("created_after", "2026-11-21T10:00:00%2B00:00"),
        ("created_after", "2026-11-21T10:00:00%2B02:00"),
        ("created_after", "2026-13-21T10:00:00Z"),
        ("created_after", "1700000000"),
        ("created_before", "2026-11-21T25:00:00Z"),
        ("created_before", ""),
        ("metadata", "plan"),
        ("metadata", ""),
    ];
    for (name, value) in bad {
        let path = format!("/v1/agents/{agent}/conversations?{name}={value}");
        let answer = client().get(&path).await;
        assert_eq!(answer.status, 400, "{name}={value} was answered {}", answer.text());
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let path = format!("/v1/agents/{NO_AGENT}/conversations");
    client().get(&path).await.refused(404, "resource_not_found");
}
