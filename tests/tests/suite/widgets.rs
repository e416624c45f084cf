//! Widgets, as their owners see them.

use cicerone_tests::Client;
use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::routes::managed;
use crate::world::{NO_AGENT, NO_WIDGET, account, client, past};

pub(crate) const CREATE: Covers = Covers {
    route: "POST /v1/agents/{agent_id}/widgets",
    cases: &[
        ("201", a_widget_has_defaults_and_is_shown_without_its_secret),
        ("400 missing_required_field", a_widget_needs_a_name),
        ("400 invalid_parameter", fields_have_rules),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
        ("409 conflict", two_widgets_of_an_agent_have_different_identities),
        ("422 validation_error", an_agent_has_twenty_widgets_at_most),
    ],
};

pub(crate) const LIST: Covers = Covers {
    route: "GET /v1/agents/{agent_id}/widgets",
    cases: &[
        ("200", two_widgets_of_an_agent_have_different_identities),
        ("400 invalid_parameter", a_bad_parameter_of_the_list_is_refused),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
    ],
};

pub(crate) const GET: Covers = Covers {
    route: "GET /v1/widgets/{widget_id}",
    cases: &[
        ("200", a_widget_has_defaults_and_is_shown_without_its_secret),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
    ],
};

pub(crate) const UPDATE: Covers = Covers {
    route: "PATCH /v1/widgets/{widget_id}",
    cases: &[
        ("200", a_change_sets_the_fields_that_it_names),
        ("400 invalid_parameter", fields_have_rules),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
        ("409 conflict", two_widgets_of_an_agent_have_different_identities),
        ("422 validation_error", a_widget_takes_32_kib_at_most),
    ],
};

pub(crate) const DELETE: Covers = Covers {
    route: "DELETE /v1/widgets/{widget_id}",
    cases: &[
        ("204", a_deleted_widget_is_gone),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
    ],
};

pub(crate) const ROTATE_TOKEN: Covers = Covers {
    route: "POST /v1/widgets/{widget_id}/rotate_token",
    cases: &[
        ("200", token_and_secret_are_replaced),
        ("400 invalid_parameter", an_old_token_is_kept_for_a_week_at_most),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
    ],
};

pub(crate) const ROTATE_SECRET: Covers = Covers {
    route: "POST /v1/widgets/{widget_id}/rotate_secret",
    cases: &[
        ("200", token_and_secret_are_replaced),
        ("400 invalid_parameter", a_replaced_secret_is_kept_for_a_day_at_most),
        ("404 resource_not_found", an_unknown_widget_is_not_found),
        ("409 conflict", ten_secrets_at_once_are_the_most),
    ],
};

async fn add(client: &Client, agent: &str, body: Value) -> Value {
    client.post(&format!("/v1/agents/{agent}/widgets"), body).await.expect(201)
}

/// A new widget and its path.
async fn made(client: &Client) -> (Value, String) {
    let agent = client.agent().await;
    let widget = add(client, &agent, json!({ "name": "Shop" })).await;
    let path = format!("/v1/widgets/{}", id(&widget));
    (widget, path)
}

#[tokio::test]
async fn a_widget_has_defaults_and_is_shown_without_its_secret() {
    let client = client();
    let (mut widget, path) = made(&client).await;
    let secret = widget.as_object_mut().unwrap().remove("identity_secret").unwrap();
    let secret = secret.as_str().unwrap();
    assert!(secret.starts_with("wids_") && secret.len() == 48, "{secret}");
    assert_eq!(client.get(&path).await.expect(200), widget);
    let mut rest = widget.clone();
    for (field, prefix, length) in [
        ("id", "wgt_", 14),
        ("agent_id", "agent_", 16),
        ("token", "pub_", 28),
        ("created_at", "20", 24),
        ("updated_at", "20", 24),
    ] {
        let value = rest.as_object_mut().unwrap().remove(field).unwrap();
        let value = value.as_str().unwrap();
        assert!(value.starts_with(prefix) && value.len() == length, "{field}: {value}");
    }
    assert_eq!(
        rest,
        json!({
            "name": "Shop", "is_active": true, "origins": [], "hosted_page": true, "identity": "none",
            "title": null, "greeting": null, "starters": [], "language": "en",
            "appearance": { "accent": "#2f5bd7", "scheme": "auto", "position": "right" },
            "texts": {}, "show_sources": true, "handoff": false, "lead": false,
            "limits": {
                "messages_per_day": 2_000, "messages_per_visitor_per_hour": 60,
                "messages_per_address_per_minute": 20, "replies_at_once": 20
            },
            "managed": null
        })
    );
}

#[tokio::test]
async fn a_change_sets_the_fields_that_it_names() {
    let client = client();
    let (widget, path) = made(&client).await;
    let change = json!({
        "name": "Desk", "is_active": false, "origins": ["HTTPS://B\u{fc}cher.example:443", "*"],
        "hosted_page": false, "identity": "optional", "title": "Help", "greeting": "Hi", "starters": ["Why?"],
        "language": "ar", "appearance": { "accent": "#767676" }, "texts": { "send": "Los" },
        "show_sources": false, "handoff": true, "lead": true, "limits": { "replies_at_once": 3.0 }
    });
    let changed = client.patch(&path, change.clone()).await.expect(200);
    for (field, value) in change.as_object().unwrap() {
        let expected = match field.as_str() {
            "origins" => json!(["https://xn--bcher-kva.example", "*"]),
            "appearance" => json!({ "accent": "#767676", "scheme": "auto", "position": "right" }),
            "limits" => {
                let mut limits = widget["limits"].clone();
                limits["replies_at_once"] = json!(3);
                limits
            }
            _ => value.clone(),
        };
        assert_eq!(changed[field], expected, "{field}");
    }
    assert_eq!((&changed["token"], &changed["id"]), (&widget["token"], &widget["id"]));
    let nulls: serde_json::Map<String, Value> = change
        .as_object()
        .unwrap()
        .keys()
        .filter(|field| *field != "name")
        .map(|field| (field.clone(), Value::Null))
        .collect();
    let back = client.patch(&path, Value::Object(nulls)).await.expect(200);
    for field in change.as_object().unwrap().keys().filter(|field| *field != "name") {
        assert_eq!(back[field], widget[field], "{field}");
    }
}

#[tokio::test]
async fn a_change_of_nothing_leaves_updated_at() {
    let client = client();
    let (_, path) = made(&client).await;
    let widget = client.get(&path).await.expect(200);
    past(&widget["updated_at"]).await;
    for body in [json!({}), json!({ "name": widget["name"] })] {
        assert_eq!(client.patch(&path, body).await.expect(200), widget);
    }
    assert_eq!(client.get(&path).await.expect(200), widget);
}

#[tokio::test]
async fn a_widget_needs_a_name() {
    let client = client();
    let widgets = format!("/v1/agents/{}/widgets", client.agent().await);
    client.post(&widgets, json!({})).await.refused(400, "missing_required_field");
    client.post(&widgets, json!({ "name": null })).await.refused(400, "missing_required_field");
}

#[tokio::test]
async fn fields_have_rules() {
    let client = client();
    let (widget, path) = made(&client).await;
    let widgets = format!("/v1/agents/{}/widgets", widget["agent_id"].as_str().unwrap());
    for (param, mut body) in [
        ("name", json!({ "name": " " })),
        ("origins[0]", json!({ "origins": ["https://a.example/path"] })),
        ("origins", json!({ "origins": vec!["*"; 21] })),
        ("identity", json!({ "identity": "some" })),
        ("title", json!({ "title": "x".repeat(61) })),
        ("greeting", json!({ "greeting": "" })),
        ("starters[1]", json!({ "starters": ["a", "x".repeat(101)] })),
        ("language", json!({ "language": "en_US" })),
        ("appearance.accent", json!({ "appearance": { "accent": "#ffff00" } })),
        ("appearance.scheme", json!({ "appearance": { "scheme": "dim" } })),
        ("texts", json!({ "texts": { "hello": "x" } })),
        ("texts.send", json!({ "texts": { "send": "" } })),
        ("limits.messages_per_day", json!({ "limits": { "messages_per_day": 0 } })),
        ("limits.replies_at_once", json!({ "limits": { "replies_at_once": "3" } })),
        ("limits.replies_at_once", json!({ "limits": { "replies_at_once": [3] } })),
        ("appearance.position", json!({ "appearance": { "position": 3 } })),
    ] {
        let error = client.patch(&path, body.clone()).await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], param, "{error}");
        if param != "name" {
            body["name"] = json!("Shop");
        }
        let error = client.post(&widgets, body).await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], param, "{error}");
    }
    client.patch(&path, json!({ "name": null })).await.refused(400, "invalid_parameter");
}

#[tokio::test]
async fn all_bad_items_are_told_at_once() {
    let client = client();
    let (_, path) = made(&client).await;
    let body = json!({
        "origins": ["x", "https://a.example", "y"],
        "starters": ["", "a", " "],
        "texts": { "send": "", "placeholder": " " },
    });
    let params = [
        "origins[0]",
        "origins[2]",
        "starters[0]",
        "starters[2]",
        "texts.placeholder",
        "texts.send",
    ];
    client.patch(&path, body).await.refuses_all(400, "invalid_parameter", &params);
}

#[tokio::test]
async fn an_unknown_widget_is_not_found() {
    let client = client();
    let path = format!("/v1/widgets/{NO_WIDGET}");
    client.get(&path).await.refused(404, "resource_not_found");
    client.patch(&path, json!({})).await.refused(404, "resource_not_found");
    client.delete(&path).await.refused(404, "resource_not_found");
    let rotate = format!("{path}/rotate_token");
    client.post(&rotate, json!({})).await.refused(404, "resource_not_found");
    client.post_nothing(&format!("{path}/rotate_secret")).await.refused(404, "resource_not_found");
    let widgets = format!("/v1/agents/{NO_AGENT}/widgets");
    client.get(&widgets).await.refused(404, "resource_not_found");
    client.post(&widgets, json!({ "name": "Shop" })).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn two_widgets_of_an_agent_have_different_identities() {
    let client = client();
    let agent = client.agent().await;
    let ours = add(&client, &agent, json!({ "name": "A", "managed": managed("shop") })).await;
    let other = add(&client, &agent, json!({ "name": "B" })).await;
    let widgets = format!("/v1/agents/{agent}/widgets");
    let same = json!({ "name": "C", "managed": managed("shop") });
    client.post(&widgets, same).await.refused(409, "conflict");
    let path = format!("/v1/widgets/{}", id(&other));
    client.patch(&path, json!({ "managed": managed("shop") })).await.refused(409, "conflict");
    let listed = client.list_all(&widgets, 1).await;
    assert_eq!(listed.iter().map(id).collect::<Vec<_>>(), [id(&other), id(&ours)]);
    let listed = client.list_all(&format!("{widgets}?set=museum"), 5).await;
    assert_eq!(listed.iter().map(id).collect::<Vec<_>>(), [id(&ours)]);
}

#[tokio::test]
async fn a_bad_parameter_of_the_list_is_refused() {
    let client = client();
    let widgets = format!("/v1/agents/{}/widgets", client.agent().await);
    for query in ["page_size=0", "cursor=none", "set=a%20b"] {
        let answer = client.get(&format!("{widgets}?{query}")).await;
        let (param, _) = query.split_once('=').unwrap();
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn an_agent_has_twenty_widgets_at_most() {
    let client = client();
    let agent = client.agent().await;
    for _ in 0..20 {
        add(&client, &agent, json!({ "name": "Shop" })).await;
    }
    let widgets = format!("/v1/agents/{agent}/widgets");
    client.post(&widgets, json!({ "name": "Shop" })).await.refused(422, "validation_error");
}

#[tokio::test]
async fn a_widget_takes_32_kib_at_most() {
    let client = client();
    let (_, path) = made(&client).await;
    let long = "\u{1d11e}".repeat(300);
    let keys = [
        "open",
        "close",
        "new",
        "history",
        "back",
        "no_history",
        "delete",
        "really_delete",
        "message",
        "placeholder",
        "send",
        "you",
        "reply",
        "writing",
        "sources",
        "good",
        "bad",
        "retry",
        "unreachable",
        "broken",
        "too_long",
        "busy",
        "limit",
        "unavailable",
        "sign_in",
        "handoff",
        "handoff_done",
        "lead",
    ];
    let texts: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!(long))).collect();
    client.patch(&path, json!({ "texts": texts })).await.refused(422, "validation_error");
}

#[tokio::test]
async fn a_deleted_widget_is_gone() {
    let client = client();
    let (_, path) = made(&client).await;
    client.delete(&path).await.expect_nothing();
    client.get(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn token_and_secret_are_replaced() {
    let client = client();
    let (widget, path) = made(&client).await;
    let rotated = client.post(&format!("{path}/rotate_token"), json!({ "keep_seconds": 60 })).await;
    let rotated = rotated.expect(200);
    assert_ne!(rotated["token"], widget["token"]);
    assert_eq!(rotated.get("identity_secret"), None);
    let issued = client.post_nothing(&format!("{path}/rotate_secret")).await.expect(200);
    assert_ne!(issued["identity_secret"], widget["identity_secret"]);
    assert_eq!(issued["token"], rotated["token"]);
    // The body is optional.
    let again = client.post_nothing(&format!("{path}/rotate_token")).await.expect(200);
    assert_ne!(again["token"], rotated["token"]);
}

#[tokio::test]
async fn an_old_token_is_kept_for_a_week_at_most() {
    let client = client();
    let (_, path) = made(&client).await;
    for seconds in [-1, 604_801] {
        let body = json!({ "keep_seconds": seconds });
        let refused = client.post(&format!("{path}/rotate_token"), body).await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "keep_seconds");
    }
}

#[tokio::test]
async fn ten_secrets_at_once_are_the_most() {
    let client = client();
    let (_, path) = made(&client).await;
    let rotate = format!("{path}/rotate_secret");
    for _ in 0..9 {
        client.post_nothing(&rotate).await.expect(200);
    }
    client.post_nothing(&rotate).await.refused(409, "conflict");
    client.post(&rotate, json!({ "keep_seconds": 0 })).await.expect(200);
    client.post_nothing(&rotate).await.expect(200);
}

#[tokio::test]
async fn a_replaced_secret_is_kept_for_a_day_at_most() {
    let client = client();
    let (_, path) = made(&client).await;
    for seconds in [json!(-1), json!(86_401), json!("now"), json!(0.5)] {
        let body = json!({ "keep_seconds": seconds });
        let refused = client.post(&format!("{path}/rotate_secret"), body).await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "keep_seconds");
    }
}

#[tokio::test]
async fn changes_of_widgets_are_audited() {
    let client = account();
    let (widget, path) = made(&client).await;
    client.patch(&path, json!({ "lead": true })).await.expect(200);
    client.post(&format!("{path}/rotate_token"), json!({})).await.expect(200);
    client.post_nothing(&format!("{path}/rotate_secret")).await.expect(200);
    client.delete(&path).await.expect_nothing();
    for action in ["created", "updated", "token_rotated", "secret_rotated", "deleted"] {
        let log = format!("/v1/audit_log?action=widget.{action}");
        let page = client.get(&log).await.expect(200);
        assert_eq!(page["data"][0]["target_id"], widget["id"], "{action}: {page}");
    }
}
