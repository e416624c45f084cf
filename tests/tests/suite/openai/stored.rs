//! Replies that are stored because the client asks for it, and their continuation.

use cicerone_tests::Answer;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::responses_stream::events;
use super::{QUESTION, chat, conversations, guide, response, text};
use crate::world::{NO_CONVERSATION, account, client};

const CHAT: &str = "/v1/chat/completions";
const PATH: &str = "/v1/responses";

#[tokio::test]
async fn a_completion_is_stored_as_a_conversation_of_its_own() {
    let client = account();
    let (agent, source) = guide(&client).await;
    for is_streamed in [false, true] {
        let fields = json!({ "store": true, "metadata": { "user": "17" }, "stream": is_streamed });
        let mut body = chat(&agent, fields);
        let earlier = json!([{ "role": "user", "content": "Hello" }, { "role": "assistant", "content": "Hi" }]);
        let question = body["messages"][0].take();
        body["messages"] = json!([earlier[0], earlier[1], question]);
        let answer = client.post(CHAT, body).await;
        let (id, n) = if is_streamed {
            let chunks = super::chat_stream::chunks(answer.text());
            let told = chunks.iter().find(|chunk| chunk.get("conversation_id").is_some()).unwrap();
            (told["conversation_id"].clone(), told["n"].clone())
        } else {
            let reply = answer.expect(200);
            (reply["conversation_id"].clone(), reply["n"].clone())
        };
        assert_eq!(n, 2);
        let path = format!("/v1/conversations/{}", id.as_str().unwrap());
        let conversation = client.get(&path).await.expect(200);
        assert_eq!(conversation["metadata"], json!({ "user": "17" }));
        let messages = conversation["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2, "the client's history is not stored: {conversation}");
        assert_eq!(messages[0]["content"], QUESTION);
        assert_eq!(messages[1]["sources_used"][0]["id"], source.as_str());
    }
    assert_eq!(conversations(&client, &agent).await.len(), 2);
}

#[tokio::test]
async fn a_stored_response_is_continued_by_its_id() {
    let client = account();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock. A ticket costs twelve euros.").await;
    let about = "Tell me about a ticket for the museum";
    let body = response(&agent, json!({ "store": true, "input": about }));
    let first = client.post(PATH, body).await.expect(200);
    assert_eq!(first["store"], true);
    let conversation = first["conversation"]["id"].as_str().unwrap().to_owned();
    let suffix = conversation.strip_prefix("conv_").unwrap();
    assert_eq!(first["id"], format!("resp_{suffix}_2"));

    // The earlier items of the client are not the history: the conversation is.
    let input = json!([
        { "role": "user", "content": "Tell me about whales" },
        { "role": "assistant", "content": "Whales swim." },
        { "role": "user", "content": "And how much does it cost?" },
    ]);
    let body = json!({ "model": agent, "input": input, "previous_response_id": first["id"] });
    let second = client.post(PATH, body.clone()).await.expect(200);
    assert!(text(&second).contains("twelve euros"), "{second}");
    assert_eq!(second["id"], format!("resp_{suffix}_4"));
    assert_eq!(second["previous_response_id"], first["id"]);
    assert_eq!(second["conversation"]["id"], conversation.as_str());

    let answer = client.post(PATH, body).await;
    let error = answer.refused(409, "conflict");
    assert!(error["message"].as_str().unwrap().contains(&format!("resp_{suffix}_4")), "{error}");

    for streamed in [false, true] {
        let fields = json!({ "conversation": { "id": conversation }, "stream": streamed });
        let answer = client.post(PATH, response(&agent, fields)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let n = if streamed { 8 } else { 6 };
        assert!(answer.text().contains(&format!("resp_{suffix}_{n}\"")), "{}", answer.text());
    }
    // Without storing: the conversation is the history and stays unchanged.
    let fields = json!({ "conversation": conversation, "store": false });
    let apart = client.post(PATH, response(&agent, fields)).await.expect(200);
    assert_eq!((&apart["store"], &apart["conversation"]), (&json!(false), &Value::Null));
    let path = format!("/v1/conversations/{conversation}");
    let whole = client.get(&path).await.expect(200);
    assert_eq!(whole["messages"].as_array().unwrap().len(), 8);
}

#[tokio::test]
async fn what_is_unknown_foreign_or_malformed_is_not_found() {
    let (owner, stranger) = (account(), account());
    let (agent, _) = guide(&owner).await;
    let (own, _) = guide(&stranger).await;
    let stored = owner.post(PATH, response(&agent, json!({ "store": true }))).await.expect(200);
    let id = stored["id"].as_str().unwrap();
    let conversation = stored["conversation"]["id"].as_str().unwrap();
    let alike = async |name: &str, foreign: &str, unknown: &str| {
        let send = async |id: &str| {
            let body = response(&own, json!({ name: id }));
            let answer = stranger.post(PATH, body).await;
            answer.refused(404, "resource_not_found");
            answer.without_request_id().replace(id, "")
        };
        assert_eq!(send(foreign).await, send(unknown).await, "{name}");
    };
    alike("previous_response_id", id, "resp_0000000000_2").await;
    alike("conversation", conversation, NO_CONVERSATION).await;
    let beyond = format!("{}_4", id.strip_suffix("_2").unwrap());
    for (name, id) in [
        ("previous_response_id", beyond.as_str()),
        ("previous_response_id", "resp_0123456789abcdefghij"),
        ("previous_response_id", ""),
        ("conversation", "conv_"),
    ] {
        let body = response(&agent, json!({ name: id }));
        owner.post(PATH, body).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_conversation_of_another_agent_is_a_conflict() {
    let client = client();
    let (agent, _) = guide(&client).await;
    let other = client.agent().await;
    let stored = client.post(PATH, response(&agent, json!({ "store": true }))).await.expect(200);
    let body = response(&other, json!({ "previous_response_id": stored["id"] }));
    let answer = client.post(PATH, body).await;
    answer.refused(409, "conflict");
    assert_eq!(answer.header("x-should-retry"), Some("false"));
}

#[tokio::test]
async fn of_responses_that_continue_the_same_one_at_once_a_single_one_is_stored() {
    let client = account();
    let (agent, _) = guide(&client).await;
    let first = client.post(PATH, response(&agent, json!({ "store": true }))).await.expect(200);
    let body = response(&agent, json!({ "previous_response_id": first["id"] }));
    let answers = join_all((0..8).map(|_| client.post(PATH, body.clone()))).await;
    let stored: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(stored.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(409, "conflict");
    }
    let path = format!("/v1/conversations/{}", first["conversation"]["id"].as_str().unwrap());
    let whole = client.get(&path).await.expect(200);
    assert_eq!(whole["messages"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_repeated_continuation_gets_the_answer_of_before() {
    let client = account();
    let (agent, _) = guide(&client).await;
    for is_streamed in [false, true] {
        for by in ["previous_response_id", "conversation"] {
            let body = response(&agent, json!({ "store": true }));
            let first = client.post(PATH, body).await.expect(200);
            let continued = match by {
                "conversation" => &first["conversation"]["id"],
                _ => &first["id"],
            };
            let body = response(&agent, json!({ by: continued, "stream": is_streamed }));
            let other = response(&agent, json!({ by: continued, "store": false }));
            let key = format!("{by}-{is_streamed}");
            let send =
                |body: &Value| client.request("POST", PATH).json(body).idempotent(&key).send();
            let reply = |answer: &Answer| match is_streamed {
                true => {
                    let events = events(answer.text());
                    let done = events.last().unwrap().data["response"].clone();
                    assert_eq!(events[0].data["response"]["id"], done["id"]);
                    assert_eq!(events[0].data["response"]["conversation"], done["conversation"]);
                    done
                }
                false => answer.expect(200),
            };
            let answer = send(&body).await;
            assert_eq!(answer.header("idempotent-replayed"), None);
            let told = reply(&answer);
            let place = first["id"].as_str().unwrap().strip_suffix("_2").unwrap();
            assert_eq!(told["id"], format!("{place}_4"));
            assert_eq!(told["conversation"], first["conversation"]);

            // The conversation has continued, by the first request itself and by another one.
            let next = response(&agent, json!({ "previous_response_id": told["id"] }));
            client.post(PATH, next).await.expect(200);
            let again = send(&body).await;
            assert_eq!(again.header("idempotent-replayed"), Some("true"), "{}", again.text());
            assert_eq!(reply(&again), told);
            send(&other).await.refused(422, "idempotency_key_reused");

            let conversation = told["conversation"]["id"].as_str().unwrap();
            let path = format!("/v1/conversations/{conversation}");
            let whole = client.get(&path).await.expect(200);
            assert_eq!(whole["messages"].as_array().unwrap().len(), 6);
            client.delete(&path).await.expect_nothing();
            let gone = send(&body).await.refused(404, "resource_not_found");
            let message = gone["message"].as_str().unwrap();
            assert!(message.contains("idempotency key"), "{message}");
            send(&other).await.refused(422, "idempotency_key_reused");
        }
    }
}

#[tokio::test]
async fn a_reply_that_only_its_key_keeps_ends_with_a_source_of_its_agent() {
    let client = account();
    for (path, body) in [(CHAT, chat as fn(&str, Value) -> Value), (PATH, response)] {
        for is_streamed in [false, true] {
            let (agent, source) = guide(&client).await;
            let body = body(&agent, json!({ "store": false, "stream": is_streamed }));
            let send = || client.request("POST", path).json(&body).idempotent(&agent).send();
            assert_eq!(send().await.status, 200);
            let again = send().await;
            assert_eq!(again.header("idempotent-replayed"), Some("true"), "{}", again.text());
            client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
            send().await.refused(404, "resource_not_found");
        }
    }
}

#[tokio::test]
async fn a_refused_continuation_is_kept_under_its_key() {
    let client = account();
    let (agent, _) = guide(&client).await;
    let first = client.post(PATH, response(&agent, json!({ "store": true }))).await.expect(200);
    let body = response(&agent, json!({ "previous_response_id": first["id"] }));
    client.post(PATH, body.clone()).await.expect(200);
    for is_streamed in [false, true] {
        let mut body = body.clone();
        body["stream"] = json!(is_streamed);
        let key = format!("late-{is_streamed}");
        let send = || client.request("POST", PATH).json(&body).idempotent(&key).send();
        let refused = send().await;
        refused.refused(409, "conflict");
        let again = send().await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        again.refused(409, "conflict");
    }
}
