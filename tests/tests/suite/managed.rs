//! The field `managed` of agents, sources, webhook endpoints and API keys, and the parameter `set` of their lists.

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::routes::managed;
use crate::world::{NOWHERE, account};

/// The lists of an account, each with a body that creates an object of it.
async fn lists(client: &Client) -> [(String, Value); 4] {
    let agent = client.agent().await;
    [
        ("/v1/agents".to_owned(), json!({ "name": "Guide" })),
        (
            format!("/v1/agents/{agent}/sources"),
            json!({ "type": "text", "content": "The museum." }),
        ),
        ("/v1/webhook_endpoints".to_owned(), json!({ "url": NOWHERE })),
        ("/v1/api_keys".to_owned(), json!({ "name": "Guide", "permissions": ["agents:read"] })),
    ]
}

fn with(mut body: Value, field: Value) -> Value {
    body["managed"] = field;
    body
}

fn path(list: &str, object: &Value) -> String {
    let list = if list.ends_with("/sources") { "/v1/sources" } else { list };
    format!("{list}/{}", id(object))
}

#[tokio::test]
async fn an_object_shows_its_identity_and_lists_are_filtered_by_set() {
    let client = account();
    for (list, body) in lists(&client).await {
        let plain = client.post(&list, body.clone()).await.expect(201);
        assert_eq!(plain["managed"], Value::Null, "{list}");
        let made = client.post(&list, with(body, managed("a/b.c_d-1"))).await.expect(201);
        assert_eq!(made["managed"], managed("a/b.c_d-1"), "{list}");
        let path = path(&list, &made);
        assert_eq!(client.get(&path).await.expect(200)["managed"], made["managed"]);
        let listed = client.list_all(&format!("{list}?set=museum"), 1).await;
        assert_eq!(listed.iter().map(id).collect::<Vec<_>>(), [id(&made)], "{list}");
        assert!(client.list_all(&format!("{list}?set=Museum"), 1).await.is_empty(), "{list}");
        // A change of something else leaves it.
        let same = client.patch(&path, json!({})).await.expect(200);
        assert_eq!(same["managed"], made["managed"], "{list}");
        let released = client.patch(&path, json!({ "managed": null })).await.expect(200);
        assert_eq!(released["managed"], Value::Null, "{list}");
        let again = client.patch(&path, json!({ "managed": managed("other") })).await.expect(200);
        assert_eq!(again["managed"], managed("other"), "{list}");
    }
}

#[tokio::test]
async fn a_bad_part_is_refused_by_its_name() {
    let client = account();
    for (list, body) in lists(&client).await {
        let made = client.post(&list, body.clone()).await.expect(201);
        for (part, value) in [
            ("set", json!("")),
            ("set", json!("s".repeat(41))),
            ("set", json!("a b")),
            ("key", json!("k".repeat(101))),
            ("key", json!(5)),
            ("hash", json!("0".repeat(63))),
            ("hash", json!("A".repeat(64))),
            ("hash", Value::Null),
        ] {
            let mut bad = managed("guide");
            bad[part] = value;
            let param = format!("managed.{part}");
            let refused = client.post(&list, with(body.clone(), bad.clone())).await;
            refused.refuses(400, "invalid_parameter", &param);
            let refused = client.patch(&path(&list, &made), json!({ "managed": bad })).await;
            refused.refuses(400, "invalid_parameter", &param);
        }
        let whole = client.post(&list, with(body.clone(), json!("museum/guide"))).await;
        whole.refuses(400, "invalid_parameter", "managed");
        // The values alone, in the order of the contract.
        let values = json!(["museum", "guide", "0".repeat(64)]);
        let list_of_values = client.post(&list, with(body.clone(), values)).await;
        list_of_values.refuses(400, "invalid_parameter", "managed");
        for set in ["", "a%20b", &"s".repeat(41), "a&set=a"] {
            let refused = client.get(&format!("{list}?set={set}")).await;
            refused.refuses(400, "invalid_parameter", "set");
        }
    }
}

#[tokio::test]
async fn a_second_object_of_an_identity_is_a_conflict_until_the_first_is_deleted() {
    let client = account();
    for (list, body) in lists(&client).await {
        let taken = with(body.clone(), managed("guide"));
        let first = client.post(&list, taken.clone()).await.expect(201);
        let refused = client.post(&list, taken.clone()).await.refused(409, "conflict");
        let message = refused["message"].as_str().unwrap();
        assert!(
            message.ends_with("is already managed as `guide` of the set `museum`"),
            "{message}"
        );
        let other = client.post(&list, body.clone()).await.expect(201);
        let change = json!({ "managed": managed("guide") });
        client.patch(&path(&list, &other), change.clone()).await.refused(409, "conflict");
        client.delete(&path(&list, &first)).await.expect_nothing();
        client.patch(&path(&list, &other), change).await.expect(200);
        client.post(&list, taken).await.refused(409, "conflict");
    }
}

#[tokio::test]
async fn an_identity_belongs_to_its_account() {
    for client in [account(), account()] {
        for (list, body) in lists(&client).await {
            client.post(&list, with(body, managed("guide"))).await.expect(201);
        }
    }
}

#[tokio::test]
async fn another_version_of_a_source_is_no_second_object() {
    let client = account();
    let agent = client.agent().await;
    let list = format!("/v1/agents/{agent}/sources");
    let version = |digit: &str| {
        let mut identity = managed("prices");
        identity["hash"] = json!(digit.repeat(64));
        json!({ "type": "text", "content": "The museum.", "managed": identity })
    };
    client.post(&list, version("0")).await.expect(201);
    client.post(&list, version("1")).await.expect(201);
    client.post(&list, version("1")).await.refused(409, "conflict");
    assert_eq!(client.list_all(&format!("{list}?set=museum"), 10).await.len(), 2);
}
