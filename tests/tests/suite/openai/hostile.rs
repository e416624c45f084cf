//! Requests that are large, deep or wrong.

use serde_json::{Value, json};

use super::{QUESTION, guide, text, user};
use crate::world::{account, client, own_server};

/// The routes with the name of their messages.
const ROUTES: [(&str, &str); 2] =
    [("/v1/chat/completions", "messages"), ("/v1/responses", "input")];
const BODY_BYTES: usize = 8 * 1_024 * 1_024;

#[tokio::test]
async fn the_messages_are_2_048_at_most() {
    let client = client();
    let (agent, _) = guide(&client).await;
    for (path, name) in ROUTES {
        for (count, status) in [(2_048, 200), (2_049, 400), (20_000, 400)] {
            let mut messages = vec![user("Hello"); count - 1];
            messages.push(user(QUESTION));
            let answer = client.post(path, json!({ "model": agent, name: messages })).await;
            assert_eq!(answer.status, status, "{path} {count}: {}", answer.text());
            if status == 400 {
                answer.refuses(400, "invalid_parameter", name);
            }
        }
    }
}

#[tokio::test]
async fn a_history_of_8_mib_is_read_and_takes_bounded_memory() {
    let server = own_server();
    let client = server.client();
    let (agent, _) = guide(&client).await;
    for (path, name) in ROUTES {
        let long = "A whale swims. ".repeat(3_000);
        let mut messages = vec![user(&long); 180];
        messages.push(user(QUESTION));
        let mut body = json!({ "model": agent, name: messages }).to_string();
        body.push_str(&" ".repeat(BODY_BYTES - body.len()));
        let send = |body: String| client.request("POST", path).raw("application/json", body).send();
        let reply = send(body.clone()).await.expect(200);
        let said = match path {
            "/v1/responses" => text(&reply).to_owned(),
            _ => reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned(),
        };
        assert!(said.contains("nine o'clock"), "{reply}");
        body.push(' ');
        send(body).await.refused(413, "payload_too_large");
    }
    let peak = server.peak_bytes();
    assert!(peak < 300 * 1_024 * 1_024, "{peak} bytes");
}

#[tokio::test]
async fn values_that_are_deep_or_wide_take_no_memory_and_name_their_place() {
    let client = client();
    let agent = client.agent().await;
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let wide = format!("[{}1]", "1,".repeat(1_000_000));
    for (path, name) in ROUTES {
        for (messages, param) in [
            (deep.clone(), format!("{name}[0]")),
            (wide.clone(), format!("{name}[0]")),
            (format!("[{{\"role\": {deep}}}]"), format!("{name}[0].role")),
            (
                format!("[{{\"role\": \"user\", \"content\": {deep}}}]"),
                format!("{name}[0].content[0]"),
            ),
            (
                format!("[{{\"role\": \"user\", \"content\": {wide}}}]"),
                format!("{name}[0].content[0]"),
            ),
        ] {
            let body = format!("{{\"model\": \"{agent}\", \"{name}\": {messages}}}");
            let answer = client.request("POST", path).raw("application/json", body).send().await;
            answer.refuses(400, "invalid_parameter", &param);
        }
        for field in ["metadata", "stream_options", "text", "tools", "response_format", "x"] {
            let body = format!(
                "{{\"model\": \"{agent}\", \"{name}\": [{{\"role\": \"user\", \"content\": \"Hi\"}}], \
                 \"{field}\": {deep}}}"
            );
            let answer = client.request("POST", path).raw("application/json", body).send().await;
            assert!(matches!(answer.status, 200 | 400), "{path} {field}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn what_is_not_json_or_half_a_character_is_refused() {
    let client = client();
    let agent = client.agent().await;
    for (path, name) in ROUTES {
        for body in ["", "[]", "{", "null", "{\"model\": 1e999}"] {
            let answer = client.request("POST", path).raw("application/json", body).send().await;
            answer.refuses(400, "invalid_parameter", "body");
        }
        let half = format!(
            "{{\"model\": \"{agent}\", \"{name}\": [{{\"role\": \"user\", \"content\": \"\\ud800\"}}]}}"
        );
        let answer = client.request("POST", path).raw("application/json", half).send().await;
        answer.refuses(400, "invalid_parameter", "body");
    }
}

#[tokio::test]
async fn questions_have_at_most_4_000_characters() {
    let client = client();
    let agent = client.agent().await;
    for (path, name) in ROUTES {
        for (count, status) in [(4_000, 200), (4_001, 400)] {
            let question = "🦀".repeat(count);
            let body = json!({ "model": agent, name: [user(&question)] });
            let answer = client.post(path, body).await;
            assert_eq!(answer.status, status, "{}", answer.text());
            if status == 400 {
                answer.refuses(400, "invalid_parameter", &format!("{name}[0].content"));
            }
        }
    }
}

#[tokio::test]
async fn words_of_the_client_reach_no_other_account() {
    let (one, other) = (account(), account());
    let (agent, _) = guide(&one).await;
    for (path, name) in ROUTES {
        let body = json!({ "model": agent, name: [user(QUESTION)] });
        other.post(path, body).await.refused(404, "resource_not_found");
    }
    let models = other.get("/v1/models").await.expect(200);
    assert_eq!(models["data"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn the_parameters_of_a_body_take_bounded_memory() {
    let server = own_server();
    let client = server.client();
    let (agent, _) = guide(&client).await;
    let row = format!("[{}0]", "0,".repeat(63));
    let rows = format!("[{}{row}]", format!("{row},").repeat(63));
    let value = format!("[{}{rows}]", format!("{rows},").repeat(63));
    for (path, name) in ROUTES {
        let send = async |fields: &str| {
            let body = format!(
                "{{\"model\": \"{agent}\", {fields} \"{name}\": [{{\"role\": \"user\", \
                 \"content\": \"{QUESTION}\"}}]}}"
            );
            assert!(body.len() <= BODY_BYTES);
            client.request("POST", path).raw("application/json", body).send().await
        };
        let names = [
            "metadata",
            "stream_options",
            "conversation",
            "tool_choice",
            "function_call",
            "text",
            "response_format",
            "logprobs",
            "top_logprobs",
            "modalities",
            "audio",
        ];
        let fields: String = names.map(|name| format!("\"{name}\": {value},")).concat();
        let before = server.peak_bytes();
        // A body of that length without values, for comparison.
        send(&" ".repeat(fields.len())).await.expect(200);
        let blank = server.peak_bytes() - before;
        assert_eq!(send(&fields).await.status, 400);
        let taken = server.peak_bytes() - before;
        assert!(taken < blank + 32 * 1_024 * 1_024, "{path}: {taken} bytes, blank: {blank}");
    }
}
