//! `POST /v1/chat/completions` with a reply in one piece.

use serde_json::{Value, json};

use super::{QUESTION, TEXT, chat, conversations, counted, guide, is_long_id, user};
use crate::coverage::Covers;
use crate::world::{NO_AGENT, account, client, own_server};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/chat/completions",
    cases: &[
        ("200", a_question_is_answered_from_the_sources_and_nothing_is_stored),
        ("400 missing_required_field", a_request_without_model_or_messages_is_refused),
        ("400 invalid_parameter", what_no_agent_does_is_refused_with_its_name),
        ("404 resource_not_found", a_model_that_is_no_agent_is_not_found),
        ("409 conflict", a_paused_agent_answers_nothing),
        ("429 quota_exceeded", replies_count_toward_the_quota),
    ],
};

const PATH: &str = "/v1/chat/completions";

#[tokio::test]
async fn a_question_is_answered_from_the_sources_and_nothing_is_stored() {
    let client = account();
    let (agent, source) = guide(&client).await;
    let reply = client.post(PATH, chat(&agent, json!({}))).await.expect(200);
    let message = &reply["choices"][0]["message"];
    assert!(message["content"].as_str().unwrap().contains("nine o'clock"), "{reply}");
    assert!(is_long_id(&reply["id"], "chatcmpl-"), "{reply}");
    let cited = &reply["sources_used"];
    assert_eq!((&cited[0]["id"], &cited[0]["title"]), (&json!(source), &json!("Opening hours")));
    let expected = json!({
        "id": reply["id"], "object": "chat.completion", "created": reply["created"], "model": agent,
        "choices": [{
            "index": 0, "logprobs": null, "finish_reason": "stop",
            "message": {
                "role": "assistant", "content": message["content"], "refusal": null,
                "annotations": message["annotations"],
            },
        }],
        "usage": { "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 },
        "sources_used": cited, "conversation_id": null, "n": null,
    });
    assert_eq!(reply, expected);
    assert!(reply["created"].as_u64().unwrap() > 1_600_000_000);
    assert_eq!(conversations(&client, &agent).await, [] as [Value; 0]);
    assert_eq!(counted(&client).await, 1);
}

#[tokio::test]
async fn the_history_of_the_client_is_understood() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock. A ticket costs twelve euros.").await;
    let messages = json!([
        { "role": "system", "content": "Answer like a pirate." },
        user("Tell me about a ticket for the museum"),
        { "role": "assistant", "content": [{ "type": "text", "text": "A ticket costs money." }] },
        user("And how much does it cost?"),
    ]);
    let reply =
        client.post(PATH, json!({ "model": agent, "messages": messages })).await.expect(200);
    let content = reply["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(content.contains("twelve euros"), "{reply}");
}

#[tokio::test]
async fn parameters_that_an_agent_decides_are_ignored() {
    let client = client();
    let (agent, _) = guide(&client).await;
    let whole = client.post(PATH, chat(&agent, json!({}))).await.expect(200);
    let ignored = json!({
        "temperature": 5, "top_p": "x", "stop": ["a"], "seed": 1, "presence_penalty": 9,
        "frequency_penalty": {}, "logit_bias": { "50256": -100 }, "user": "u", "reasoning_effort": "low",
        "reasoning": {}, "service_tier": "flex", "parallel_tool_calls": true, "verbosity": "low",
        "safety_identifier": "s", "prompt_cache_key": "k", "metadata": { "chat": { "id": 5 } },
        "tools": [{ "type": "function", "function": { "name": "f", "parameters": {} } }],
        "functions": [], "tool_choice": "auto", "function_call": "none", "n": 1, "logprobs": false,
        "top_logprobs": 0, "modalities": ["text"], "response_format": { "type": "text" },
        "audio": null, "prediction": null, "web_search_options": null, "store": false,
        "max_tokens": 1000000, "max_completion_tokens": null, "stream": false, "unheard_of": [{}],
        "stream_options": { "include_usage": false, "include_obfuscation": true },
    });
    let reply = client.post(PATH, chat(&agent, ignored)).await.expect(200);
    assert_eq!(reply["choices"], whole["choices"]);
    let nulls = json!({
        "stream": null, "stream_options": null, "max_tokens": null, "n": null, "store": null,
        "metadata": null, "logprobs": null, "top_logprobs": null, "tool_choice": null,
        "function_call": null, "response_format": null, "modalities": null,
    });
    let reply = client.post(PATH, chat(&agent, nulls)).await.expect(200);
    assert_eq!(reply["choices"], whole["choices"]);
}

#[tokio::test]
async fn what_no_agent_does_is_refused_with_its_name() {
    let client = client();
    let agent = client.agent().await;
    let tool = json!({ "type": "function", "function": { "name": "f" } });
    for (fields, param) in [
        (json!({ "n": 2 }), "n"),
        (json!({ "n": 0 }), "n"),
        (json!({ "n": "1" }), "n"),
        (json!({ "max_tokens": 0 }), "max_tokens"),
        (json!({ "max_completion_tokens": -1 }), "max_completion_tokens"),
        (json!({ "max_tokens": 1.5 }), "max_tokens"),
        (json!({ "tool_choice": "required" }), "tool_choice"),
        (json!({ "tool_choice": tool }), "tool_choice"),
        (json!({ "function_call": { "name": "f" } }), "function_call"),
        (json!({ "response_format": { "type": "json_object" } }), "response_format.type"),
        (json!({ "response_format": { "type": "json_schema" } }), "response_format.type"),
        (json!({ "logprobs": true }), "logprobs"),
        (json!({ "top_logprobs": 3 }), "top_logprobs"),
        (json!({ "modalities": ["text", "audio"] }), "modalities"),
        (json!({ "audio": { "voice": "alloy" } }), "audio"),
        (json!({ "prediction": { "type": "content", "content": "x" } }), "prediction"),
        (json!({ "web_search_options": {} }), "web_search_options"),
        (json!({ "stream": "yes" }), "stream"),
        (json!({ "stream_options": { "include_usage": 1 } }), "stream_options.include_usage"),
        (json!({ "store": 1 }), "store"),
        (json!({ "store": true, "metadata": { "a": 5 } }), "metadata.a"),
        (json!({ "store": true, "metadata": [] }), "metadata"),
        (json!({ "model": 5 }), "model"),
        (json!({ "messages": "Hello" }), "messages"),
        (json!({ "messages": [{ "role": "user", "content": "" }] }), "messages[0].content"),
    ] {
        let answer = client.post(PATH, chat(&agent, fields)).await;
        let error = answer.refuses(400, "invalid_parameter", param);
        assert!(error["message"].as_str().unwrap().contains(param), "{error}");
    }
}

#[tokio::test]
async fn all_bad_parameters_are_named_at_once() {
    let (client, agent) = (client(), NO_AGENT);
    let unsupported = json!({ "logprobs": true, "web_search_options": {} });
    let answer = client.post(PATH, chat(agent, unsupported)).await;
    answer.refuses_all(400, "invalid_parameter", &["logprobs", "web_search_options"]);
    // That there is no such agent is only looked at if the rest is right.
    let values =
        json!({ "max_tokens": 0, "n": 2, "messages": [{ "role": "user", "content": "" }] });
    let answer = client.post(PATH, chat(agent, values)).await;
    answer.refuses_all(400, "invalid_parameter", &["max_tokens", "n", "messages[0].content"]);
}

#[tokio::test]
async fn a_request_without_model_or_messages_is_refused() {
    let client = client();
    for (body, missing) in [
        (json!({ "messages": [user(QUESTION)] }), "model"),
        (json!({ "model": NO_AGENT }), "messages"),
        (json!({ "model": NO_AGENT, "messages": null, "n": 5 }), "messages"),
        (json!({ "model": null, "messages": [] }), "model"),
    ] {
        client.post(PATH, body).await.refuses(400, "missing_required_field", missing);
    }
}

#[tokio::test]
async fn a_model_that_is_no_agent_is_not_found() {
    let client = client();
    for model in [NO_AGENT, "gpt-4o", ""] {
        for is_streamed in [false, true] {
            let body = chat(model, json!({ "stream": is_streamed }));
            client.post(PATH, body).await.refused(404, "resource_not_found");
        }
    }
    let long = client.post(PATH, chat(&"x".repeat(1_000_000), json!({}))).await;
    long.refused(404, "resource_not_found");
    assert!(long.body.len() < 1_000, "a refusal does not repeat a megabyte");
}

#[tokio::test]
async fn a_paused_agent_answers_nothing() {
    let client = client();
    let (agent, _) = guide(&client).await;
    client.patch(&format!("/v1/agents/{agent}"), json!({ "status": "paused" })).await.expect(200);
    for is_streamed in [false, true] {
        let body = chat(&agent, json!({ "stream": is_streamed }));
        let answer = client.post(PATH, body).await;
        answer.refused(409, "conflict");
        assert_eq!(answer.header("x-should-retry"), Some("false"), "clients must not repeat it");
    }
    let body = chat(&agent, json!({}));
    let keyed = || client.request("POST", PATH).json(&body).idempotent("paused").send();
    keyed().await.refused(409, "conflict");
    let again = keyed().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("x-should-retry"), Some("false"), "nor the stored refusal");
}

#[tokio::test]
async fn replies_count_toward_the_quota() {
    let server = own_server();
    let client = server.account("small");
    let (agent, _) = guide(&client).await;
    server.succeed(&["account", "limit", "small", "--messages", "1"]);
    let keyed = |key: &'static str| {
        client.request("POST", PATH).json(&chat(&agent, json!({}))).idempotent(key).send()
    };
    let first = keyed("first").await.expect(200);
    for is_streamed in [false, true] {
        let body = chat(&agent, json!({ "stream": is_streamed }));
        let refused = client.post(PATH, body).await;
        refused.refused(429, "quota_exceeded");
        assert_eq!(refused.header("x-should-retry"), Some("false"));
    }
    assert_eq!(keyed("first").await.expect(200), first, "a repetition counts nothing");
    assert_eq!(counted(&client).await, 1);
}

#[tokio::test]
async fn a_repetition_gets_the_same_completion_until_the_agent_is_deleted() {
    let client = account();
    let (agent, _) = guide(&client).await;
    for (key, is_streamed) in [("whole", false), ("streamed", true)] {
        let body = chat(&agent, json!({ "stream": is_streamed }));
        let send = || client.request("POST", PATH).json(&body).idempotent(key).send();
        let first = send().await;
        assert_eq!(first.status, 200, "{}", first.text());
        let again = send().await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        if is_streamed {
            let said = |answer: &cicerone_tests::Answer| {
                let events = super::chat_stream::chunks(answer.text());
                let text: String = events
                    .iter()
                    .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
                    .collect();
                (text, events[0]["id"].clone(), events[0]["created"].clone())
            };
            assert_eq!(said(&again), said(&first));
        } else {
            assert_eq!(again.body, first.body);
        }
    }
    assert_eq!(counted(&client).await, 2);
    let path = format!("/v1/agents/{agent}");
    client.delete(&path).await.expect_nothing();
    let body = chat(&agent, json!({ "stream": false }));
    let gone = client.request("POST", PATH).json(&body).idempotent("whole").send().await;
    gone.refused(404, "resource_not_found");
}

#[tokio::test]
async fn an_agent_without_an_answer_says_so_and_cites_nothing() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let messages = [user("Which volcano erupted in Iceland last winter?")];
    let reply =
        client.post(PATH, json!({ "model": agent, "messages": messages })).await.expect(200);
    assert_eq!(reply["sources_used"], json!([]));
    assert_eq!(reply["choices"][0]["message"]["annotations"], json!([]));
}
