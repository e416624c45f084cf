//! Messages that no client of good will sends.

use cicerone_tests::Answer;
use serde_json::{Value, json};

use super::caller::{Caller, ERAS, LEGACY, MODERN, path};
use crate::world::client;

/// One byte more than a request may have.
const TOO_LARGE: usize = 1_024 * 1_024 + 1;

#[tokio::test]
pub(super) async fn what_is_not_one_message_is_refused() {
    let client = client();
    let path = path(&client.agent().await);
    let send = async |text: String| -> Answer {
        client.request("POST", &path).raw("application/json", text).send().await
    };
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wide = |count: usize| vec!["0"; count].join(",");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (text, code) in [
        (String::new(), -32700),
        ("{".to_owned(), -32700),
        ("\u{feff}{}".to_owned(), -32700),
        (format!("{ping}{ping}"), -32700),
        (deep.clone(), -32700),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{deep}}}}}"#), -32700),
        ("null".to_owned(), -32600),
        ("[]".to_owned(), -32600),
        (format!("[{ping},{ping}]"), -32600),
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":[{}]}}"#, wide(5_000)),
            -32600,
        ),
        ("{}".to_owned(), -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#.to_owned(), -32600),
    ] {
        let shown: String = text.chars().take(80).collect();
        let answer = send(text).await;
        assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let answer = answer.json();
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(!message.contains("deserialize"), "a text of the library: {message}");
    }
}

#[tokio::test]
async fn a_request_has_at_most_one_mebibyte() {
    let client = client();
    let path = path(&client.agent().await);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let padded = |length: usize| format!("{ping}{}", " ".repeat(length - ping.len()));
    let send = async |text: String| {
        client.request("POST", &path).raw("application/json", text).send().await
    };
    send(padded(TOO_LARGE - 1)).await.expect(200);
    send(padded(TOO_LARGE)).await.refused(413, "payload_too_large");
}

#[tokio::test]
async fn arguments_that_are_no_object_and_unknown_tools_are_errors_of_the_protocol() {
    let client = client();
    let agent = client.agent().await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        for arguments in [json!([]), json!("What?"), json!(5)] {
            let params = json!({ "name": "ask", "arguments": arguments });
            assert_eq!(caller.error("tools/call", params).await, -32602, "{era} {arguments}");
        }
        let unknown = json!({ "name": "delete_everything", "arguments": {} });
        assert_eq!(caller.error("tools/call", unknown).await, -32602);
        let cursor = json!({ "cursor": "2" });
        assert_eq!(caller.error("tools/list", cursor).await, -32602);
    }
    let legacy = Caller::new(&client, &agent, LEGACY);
    for params in [json!({}), json!({ "name": 5 })] {
        assert_eq!(legacy.error("tools/call", params).await, -32602);
    }
    assert_eq!(legacy.error("initialize", json!({ "protocolVersion": 5 })).await, -32602);
    let modern = Caller::new(&client, &agent, MODERN);
    assert_eq!(modern.error("initialize", json!({})).await, -32601);
}

#[tokio::test]
async fn bad_arguments_are_told_in_the_result_which_models_read() {
    let client = client();
    let agent = client.agent().await;
    for era in ERAS {
        let caller = Caller::new(&client, &agent, era);
        for (arguments, code, field) in [
            (json!({}), "missing_required_field", "question"),
            (json!({ "question": null }), "missing_required_field", "question"),
            (json!({ "question": 5 }), "invalid_parameter", "question"),
            (json!({ "question": ["What?"] }), "invalid_parameter", "question"),
            (json!({ "question": { "text": "What?" } }), "invalid_parameter", "question"),
            (
                json!({ "question": "What?", "conversation_id": 5 }),
                "invalid_parameter",
                "conversation_id",
            ),
        ] {
            let (said, message) = caller.tool_error("ask", arguments).await;
            assert_eq!(said, code, "{message}");
            assert!(message.starts_with(&format!("`{field}` ")), "{message}");
        }
        for (tool, field) in [("search", "query"), ("fetch", "id")] {
            let (said, message) = caller.tool_error(tool, json!({})).await;
            assert_eq!(
                (said, message),
                ("missing_required_field".to_owned(), format!("`{field}` is required"))
            );
            let (said, message) = caller.tool_error(tool, json!({ field: ["x"] })).await;
            assert_eq!(said, "invalid_parameter");
            assert!(message.starts_with(&format!("`{field}` ")), "{message}");
        }
    }
    let caller = Caller::new(&client, &agent, LEGACY);
    for question in [String::new(), " \n".to_owned(), "🦀".repeat(4_001), "a\u{0}b".to_owned()] {
        let (code, message) = caller.tool_error("ask", json!({ "question": question })).await;
        assert_eq!(code, "invalid_parameter");
        assert!(message.starts_with("`question` "), "{message}");
        let (code, message) = caller.tool_error("search", json!({ "query": question })).await;
        assert_eq!(code, "invalid_parameter");
        assert!(message.starts_with("`query` "), "{message}");
    }
    caller.tool("search", json!({ "query": "🦀".repeat(4_000) })).await;
    caller.tool("ask", json!({ "question": "🦀".repeat(4_000) })).await;
    for id in ["", "conv_", "no conversation", "conv_0000000000"] {
        let arguments = json!({ "question": "What?", "conversation_id": id });
        assert_eq!(caller.tool_error("ask", arguments).await.0, "resource_not_found");
    }
    let unknown = json!({ "question": "What?", "conversation_id": Value::Null, "more": [1, 2] });
    caller.tool("ask", unknown).await;
}
