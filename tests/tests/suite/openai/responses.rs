//! `POST /v1/responses` with a reply in one piece.

use serde_json::{Value, json};

use super::{QUESTION, conversations, counted, guide, is_long_id, response, text, user};
use crate::coverage::Covers;
use crate::world::{NO_AGENT, account, client, own_server};

/// What is tested here.
pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/responses",
    cases: &[
        ("200", a_question_is_answered_from_the_sources_and_nothing_is_stored),
        ("400 missing_required_field", a_request_without_model_or_input_is_refused),
        ("400 invalid_parameter", what_no_agent_does_is_refused_with_its_name),
        ("404 resource_not_found", a_model_that_is_no_agent_is_not_found),
        ("409 conflict", a_paused_agent_answers_nothing),
        ("429 quota_exceeded", responses_count_toward_the_quota),
    ],
};

const PATH: &str = "/v1/responses";

#[tokio::test]
async fn a_question_is_answered_from_the_sources_and_nothing_is_stored() {
    let client = account();
    let (agent, source) = guide(&client).await;
    let body = response(&agent, json!({ "max_output_tokens": 5000, "temperature": 0.1 }));
    let reply = client.post(PATH, body).await.expect(200);
    assert!(text(&reply).contains("nine o'clock"), "{reply}");
    assert!(is_long_id(&reply["id"], "resp_"), "{reply}");
    let message = &reply["output"][0];
    assert!(is_long_id(&message["id"], "msg_"), "{reply}");
    let length = text(&reply).chars().count();
    let cited = json!({
        "type": "file_citation", "file_id": source, "filename": "Opening hours", "index": length,
    });
    let content = json!({
        "type": "output_text", "text": text(&reply), "annotations": [cited], "logprobs": [],
    });
    let expected = json!({
        "id": reply["id"], "object": "response", "created_at": reply["created_at"],
        "status": "completed", "background": false, "error": null, "incomplete_details": null,
        "instructions": null, "max_output_tokens": 4096, "model": agent,
        "output": [{
            "type": "message", "id": message["id"], "status": "completed", "role": "assistant",
            "content": [content],
        }],
        "parallel_tool_calls": false, "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null }, "store": false, "temperature": null,
        "text": { "format": { "type": "text" } }, "tool_choice": "auto", "tools": [], "top_p": null,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 0, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 0,
            "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 0,
        },
        "user": null, "metadata": {}, "conversation": null, "sources_used": reply["sources_used"],
    });
    assert_eq!(reply, expected);
    assert_eq!(reply["sources_used"][0]["id"], source.as_str());
    assert_eq!(conversations(&client, &agent).await, [] as [Value; 0]);
    assert_eq!(counted(&client).await, 1);
}

#[tokio::test]
async fn the_history_of_the_client_is_understood() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock. A ticket costs twelve euros.").await;
    let input = json!([
        { "type": "message", "role": "developer", "content": "Answer like a pirate." },
        { "role": "user", "content": [{ "type": "input_text", "text": "Tell me about a ticket for the museum" }] },
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "item_reference", "id": "msg_1" },
        { "id": "msg_2", "role": "assistant", "content": [
            { "type": "output_text", "text": "A ticket costs money.", "annotations": [] },
        ] },
        user("And how much does it cost?"),
    ]);
    let body = json!({ "model": agent, "input": input, "instructions": "Be a pirate." });
    let reply = client.post(PATH, body).await.expect(200);
    assert!(text(&reply).contains("twelve euros"), "{reply}");
}

#[tokio::test]
async fn parameters_that_an_agent_decides_are_ignored() {
    let client = client();
    let (agent, _) = guide(&client).await;
    let whole = client.post(PATH, response(&agent, json!({}))).await.expect(200);
    let ignored = json!({
        "temperature": 9, "top_p": {}, "user": "u", "reasoning": { "effort": "low" },
        "service_tier": "auto", "truncation": "auto", "include": ["file_search_call.results"],
        "parallel_tool_calls": true, "safety_identifier": "s", "prompt_cache_key": "k",
        "instructions": "Be a pirate.", "tools": [{ "type": "web_search" }], "tool_choice": "none",
        "text": { "format": { "type": "text" }, "verbosity": "low" }, "top_logprobs": 0,
        "background": false, "prompt": null, "max_tool_calls": 5, "metadata": { "a": [5] },
        "store": false, "stream": null, "previous_response_id": null, "conversation": null,
        "stream_options": { "include_obfuscation": false }, "unheard_of": {},
    });
    let reply = client.post(PATH, response(&agent, ignored)).await.expect(200);
    assert_eq!(text(&reply), text(&whole));
}

#[tokio::test]
async fn what_no_agent_does_is_refused_with_its_name() {
    let client = client();
    let agent = client.agent().await;
    let schema = json!({ "format": { "type": "json_schema", "schema": {} } });
    let call = json!({ "type": "function_call", "call_id": "1", "name": "f", "arguments": "{}" });
    for (fields, param) in [
        (json!({ "max_output_tokens": 0 }), "max_output_tokens"),
        (json!({ "tool_choice": "required" }), "tool_choice"),
        (json!({ "tool_choice": { "type": "file_search" } }), "tool_choice"),
        (json!({ "text": schema }), "text.format.type"),
        (json!({ "text": "plain" }), "text"),
        (json!({ "top_logprobs": 1 }), "top_logprobs"),
        (json!({ "background": true }), "background"),
        (json!({ "prompt": { "id": "pmpt_1" } }), "prompt"),
        (json!({ "store": true, "metadata": { "a": null } }), "metadata.a"),
        (json!({ "conversation": 5 }), "conversation"),
        (json!({ "conversation": { "id": 5 } }), "conversation.id"),
        (
            json!({ "conversation": "conv_0123456789", "previous_response_id": "resp_0123456789_2" }),
            "conversation",
        ),
        (json!({ "input": 5 }), "input"),
        (json!({ "input": " " }), "input"),
        (json!({ "input": [] }), "input"),
        (json!({ "input": [call] }), "input[0].type"),
        (json!({ "input": [{ "role": "tool", "content": "x" }] }), "input[0].role"),
        (
            json!({ "input": [{ "role": "user", "content": [{ "type": "input_image" }] }] }),
            "input[0].content[0].type",
        ),
    ] {
        let answer = client.post(PATH, response(&agent, fields)).await;
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn a_request_without_model_or_input_is_refused() {
    let client = client();
    for (body, missing) in [
        (json!({ "input": QUESTION }), "model"),
        (json!({ "model": NO_AGENT, "input": null }), "input"),
        (json!({ "model": NO_AGENT, "input": "x", "conversation": {} }), "conversation.id"),
    ] {
        client.post(PATH, body).await.refuses(400, "missing_required_field", missing);
    }
}

#[tokio::test]
async fn a_model_that_is_no_agent_is_not_found() {
    let client = client();
    for model in [NO_AGENT, "gpt-4o"] {
        for is_streamed in [false, true] {
            let body = response(model, json!({ "stream": is_streamed }));
            client.post(PATH, body).await.refused(404, "resource_not_found");
        }
    }
}

#[tokio::test]
async fn a_paused_agent_answers_nothing() {
    let client = client();
    let (agent, _) = guide(&client).await;
    client.patch(&format!("/v1/agents/{agent}"), json!({ "status": "paused" })).await.expect(200);
    for fields in [json!({}), json!({ "stream": true }), json!({ "store": true })] {
        let answer = client.post(PATH, response(&agent, fields)).await;
        answer.refused(409, "conflict");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn responses_count_toward_the_quota() {
    let server = own_server();
    let client = server.account("small");
    let (agent, _) = guide(&client).await;
    server.succeed(&["account", "limit", "small", "--messages", "1"]);
    client.post(PATH, response(&agent, json!({}))).await.expect(200);
    for is_streamed in [false, true] {
        let body = response(&agent, json!({ "stream": is_streamed }));
        let refused = client.post(PATH, body).await;
        refused.refused(429, "quota_exceeded");
        assert_eq!(refused.header("x-should-retry"), Some("false"));
    }
}
