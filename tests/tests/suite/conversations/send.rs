//! `POST /v1/conversations` with a reply in one piece.

use std::collections::BTreeMap;

use cicerone_tests::answer::{is_id, is_timestamp};
use cicerone_tests::scenario::{cited, id};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, NO_CONVERSATION, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/conversations",
    cases: &[
        ("200", a_first_message_makes_a_conversation_and_is_answered_from_the_sources),
        ("400 missing_required_field", a_message_without_agent_or_text_is_refused),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("404 resource_not_found", an_unknown_agent_or_conversation_is_not_found),
        ("409 conflict", a_conversation_of_another_agent_is_refused),
    ],
};

const TEXT: &str = "Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.";

#[tokio::test]
async fn a_first_message_makes_a_conversation_and_is_answered_from_the_sources() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, TEXT).await;
    let answer = client.ask(&agent, "When does the museum open?").await;
    assert!(is_id(answer["id"].as_str().unwrap(), "conv_"), "{answer}");
    assert!(is_timestamp(answer["created_at"].as_str().unwrap()), "{answer}");
    assert_eq!(answer["conversation_id"], answer["id"]);
    assert_eq!(answer["agent_id"], agent.as_str());
    assert!(answer["reply"].as_str().unwrap().contains("nine o'clock"), "{answer}");
    assert_eq!(cited(&answer), json!([{ "id": source, "title": "Opening hours" }]));
    assert_eq!(answer["n"], 2);
    assert_eq!(answer.as_object().unwrap().len(), 7, "{answer}");
}

#[tokio::test]
async fn a_question_that_the_sources_do_not_cover_is_answered_honestly() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let answer = client.ask(&agent, "Which volcano erupted in Iceland last winter?").await;
    assert_eq!(answer["sources_used"], json!([]));
    assert!(!answer["reply"].as_str().unwrap().is_empty(), "{answer}");
    assert!(!answer["reply"].as_str().unwrap().contains("nine"), "{answer}");
}

#[tokio::test]
async fn an_agent_without_sources_answers_honestly() {
    let client = client();
    let agent = client.agent().await;
    let answer = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(answer["sources_used"], json!([]));
    assert!(!answer["reply"].as_str().unwrap().is_empty(), "{answer}");
}

#[tokio::test]
async fn a_pair_is_answered_with_its_answer_and_titled_by_its_question() {
    let client = client();
    let agent = client.agent().await;
    let pairs = [
        ("When does the museum open?", "At nine o'clock."),
        ("How much is a ticket?", "A ticket costs twelve euros."),
    ];
    let source = client.qa(&agent, &pairs).await;
    let answer = client.ask(&agent, "How much is a ticket?").await;
    assert_eq!(answer["reply"], "A ticket costs twelve euros.");
    assert_eq!(cited(&answer), json!([{ "id": source, "title": "How much is a ticket?" }]));
}

#[tokio::test]
async fn a_file_is_cited_by_its_name() {
    let client = client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", TEXT).await.expect(201));
    let source = client.source(&agent, "file", &file).await;
    client.trained(&source).await;
    let answer = client.ask(&agent, "When does the museum open?").await;
    assert_eq!(cited(&answer), json!([{ "id": source, "title": "hours.txt" }]));
}

#[tokio::test]
async fn a_conversation_goes_on_with_its_id() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, TEXT).await;
    let first = client.ask(&agent, "When does the museum open?").await;
    let conversation = first["id"].as_str().unwrap();
    let body = json!({
        "agent_id": agent, "conversation_id": conversation, "message": "And on Mondays?",
    });
    let second = client.post("/v1/conversations", body).await.expect(200);
    assert_eq!(second["id"], conversation);
    assert_eq!(second["conversation_id"], conversation);
    let whole = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    let contents: Vec<_> =
        whole["messages"].as_array().unwrap().iter().map(|m| m["content"].clone()).collect();
    let expected = [
        json!("When does the museum open?"),
        first["reply"].clone(),
        json!("And on Mondays?"),
        second["reply"].clone(),
    ];
    assert_eq!(contents, expected);
}

#[tokio::test]
async fn a_follow_up_is_understood_with_what_was_said_before() {
    let client = client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine o'clock. A ticket costs twelve euros.").await;
    let first = client.ask(&agent, "Tell me about a ticket for the museum").await;
    let body = json!({
        "agent_id": agent, "conversation_id": first["id"], "message": "And how much does it cost?",
    });
    let second = client.post("/v1/conversations", body).await.expect(200);
    assert!(second["reply"].as_str().unwrap().contains("twelve euros"), "{second}");
}

#[tokio::test]
async fn metadata_is_stored_with_a_new_conversation() {
    let client = client();
    let agent = client.agent().await;
    let metadata = json!({ "user": "ü-17", "plan": "", "": "an empty key" });
    let body = json!({ "agent_id": agent, "message": "Hello there", "metadata": metadata });
    let conversation = id(&client.post("/v1/conversations", body).await.expect(200));
    let path = format!("/v1/conversations/{conversation}");
    assert_eq!(client.get(&path).await.expect(200)["metadata"], metadata);
}

#[tokio::test]
async fn metadata_of_a_later_message_changes_nothing() {
    let client = client();
    let agent = client.agent().await;
    let body = json!({ "agent_id": agent, "message": "Hello", "metadata": { "user": "1" } });
    let conversation = id(&client.post("/v1/conversations", body).await.expect(200));
    let body = json!({
        "agent_id": agent, "conversation_id": conversation, "message": "Hello again",
        "metadata": { "user": "2", "more": "x" },
    });
    client.post("/v1/conversations", body).await.expect(200);
    let path = format!("/v1/conversations/{conversation}");
    assert_eq!(client.get(&path).await.expect(200)["metadata"], json!({ "user": "1" }));
}

#[tokio::test]
async fn optional_fields_may_be_null() {
    let client = client();
    let agent = client.agent().await;
    let body = json!({
        "agent_id": agent, "message": "Hello", "conversation_id": null, "metadata": null,
        "stream": null,
    });
    let conversation = id(&client.post("/v1/conversations", body).await.expect(200));
    let path = format!("/v1/conversations/{conversation}");
    assert_eq!(client.get(&path).await.expect(200)["metadata"], json!({}));
}

#[tokio::test]
async fn a_message_without_agent_or_text_is_refused() {
    let client = client();
    let agent = client.agent().await;
    let bodies = [
        ("agent_id", json!({ "message": "Hello" })),
        ("agent_id", json!({ "agent_id": null, "message": "Hello" })),
        ("message", json!({ "agent_id": agent })),
        ("message", json!({ "agent_id": agent, "message": null })),
    ];
    for (param, body) in bodies {
        let answer = client.post("/v1/conversations", body).await;
        answer.refuses(400, "missing_required_field", param);
    }
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let agent = client.agent().await;
    let bad = [
        ("message", json!("")),
        ("message", json!(" \n")),
        ("message", json!(5)),
        ("agent_id", json!(5)),
        ("conversation_id", json!(5)),
        ("stream", json!("true")),
        ("stream", json!(1)),
        ("metadata", json!("user:1")),
        ("metadata", json!(["user"])),
    ];
    for (field, value) in bad {
        let mut body = json!({ "agent_id": agent, "message": "Hello" });
        body[field] = value;
        let answer = client.post("/v1/conversations", body.clone()).await;
        assert_eq!(answer.status, 400, "{body} was answered {}", answer.text());
        answer.refuses(400, "invalid_parameter", field);
    }
    for value in [json!(1), json!(null), json!({ "a": "b" })] {
        let body = json!({ "agent_id": agent, "message": "Hello", "metadata": { "user": value } });
        let error = client.post("/v1/conversations", body).await.refused(400, "invalid_parameter");
        assert!(error["param"].as_str().unwrap().starts_with("metadata"), "{error}");
    }
}

#[tokio::test]
async fn an_unknown_agent_or_conversation_is_not_found() {
    let client = client();
    let agent = client.agent().await;
    let bodies = [
        json!({ "agent_id": NO_AGENT, "message": "Hello" }),
        json!({ "agent_id": "guide", "message": "Hello" }),
        json!({ "agent_id": agent, "conversation_id": NO_CONVERSATION, "message": "Hello" }),
        json!({ "agent_id": agent, "conversation_id": "17", "message": "Hello" }),
    ];
    for body in bodies {
        client.post("/v1/conversations", body).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_conversation_of_another_agent_is_refused() {
    let client = client();
    let (one, other) = (client.agent().await, client.agent().await);
    let conversation = id(&client.ask(&one, "Hello there").await);
    let body = json!({ "agent_id": other, "conversation_id": conversation, "message": "Hello" });
    client.post("/v1/conversations", body).await.refused(409, "conflict");
}

#[tokio::test]
async fn a_paused_agent_takes_no_new_conversation_and_continues_old_ones() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    let path = format!("/v1/agents/{agent}");
    client.patch(&path, json!({ "status": "paused" })).await.expect(200);

    let new = json!({ "agent_id": agent, "message": "Hello" });
    client.post("/v1/conversations", new.clone()).await.refused(409, "conflict");
    let go_on = json!({ "agent_id": agent, "conversation_id": conversation, "message": "Hello" });
    client.post("/v1/conversations", go_on).await.expect(200);
    let listed = client.get(&format!("{path}/conversations")).await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    client.text(&agent, TEXT).await;
    client.delete(&format!("/v1/conversations/{conversation}")).await.expect_nothing();

    client.patch(&path, json!({ "status": "active" })).await.expect(200);
    client.post("/v1/conversations", new).await.expect(200);
}

#[tokio::test]
async fn a_change_of_an_agent_counts_for_the_next_message_however_often_it_is_asked() {
    let client = client();
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}");
    let message = json!({ "agent_id": agent, "message": "When does the museum open?" });
    let asking = async {
        for _ in 0..150 {
            let answer = client.post("/v1/conversations", message.clone()).await;
            assert!([200, 404, 409].contains(&answer.status), "{}", answer.status);
        }
    };
    let changing = async {
        for _ in 0..20 {
            client.patch(&path, json!({ "status": "paused" })).await.expect(200);
            client.post("/v1/conversations", message.clone()).await.refused(409, "conflict");
            client.patch(&path, json!({ "status": "active" })).await.expect(200);
            client.post("/v1/conversations", message.clone()).await.expect(200);
        }
        client.text(&agent, TEXT).await;
        let answer = client.post("/v1/conversations", message.clone()).await.expect(200);
        assert!(answer["reply"].as_str().unwrap().contains("nine o'clock"), "{answer}");
        account()
            .post("/v1/conversations", message.clone())
            .await
            .refused(404, "resource_not_found");
        client.delete(&path).await.expect_nothing();
        client.post("/v1/conversations", message.clone()).await.refused(404, "resource_not_found");
    };
    tokio::join!(asking, changing);
}

#[tokio::test]
async fn a_message_of_4000_characters_is_taken_and_one_of_4001_is_not() {
    let client = client();
    let agent = client.agent().await;
    let with = |count| json!({ "agent_id": agent, "message": CRAB.repeat(count) });
    let conversation = id(&client.post("/v1/conversations", with(4_000)).await.expect(200));
    let whole = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    assert_eq!(whole["messages"][0]["content"], CRAB.repeat(4_000));
    let answer = client.post("/v1/conversations", with(4_001)).await;
    answer.refuses(400, "invalid_parameter", "message");
}

#[tokio::test]
async fn metadata_of_20_keys_is_taken_and_of_21_is_not() {
    let client = client();
    let agent = client.agent().await;
    let with = |count: u32| {
        let pairs: BTreeMap<_, _> = (0..count).map(|n| (format!("key {n}"), "value")).collect();
        json!({ "agent_id": agent, "message": "Hello", "metadata": pairs })
    };
    client.post("/v1/conversations", with(20)).await.expect(200);
    let answer = client.post("/v1/conversations", with(21)).await;
    answer.refuses(400, "invalid_parameter", "metadata");
}

#[tokio::test]
async fn metadata_keys_of_40_and_values_of_500_characters_are_taken_and_longer_are_not() {
    let client = client();
    let agent = client.agent().await;
    let with = |key: usize, value: usize| {
        let pairs = BTreeMap::from([(CRAB.repeat(key), Value::from(CRAB.repeat(value)))]);
        json!({ "agent_id": agent, "message": "Hello", "metadata": pairs })
    };
    client.post("/v1/conversations", with(40, 500)).await.expect(200);
    for (key, value) in [(41, 500), (40, 501)] {
        let answer = client.post("/v1/conversations", with(key, value)).await;
        let error = answer.refused(400, "invalid_parameter");
        assert!(error["param"].as_str().unwrap().starts_with("metadata"), "{error}");
    }
}

#[tokio::test]
async fn a_value_that_is_refused_makes_no_conversation() {
    let client = client();
    let agent = client.agent().await;
    let body = json!({ "agent_id": agent, "message": "Hello", "metadata": { "user": 1 } });
    client.post("/v1/conversations", body).await.refused(400, "invalid_parameter");
    let page = client.get(&format!("/v1/agents/{agent}/conversations")).await.expect(200);
    assert_eq!(page["data"], json!([]));
}

#[tokio::test]
async fn messages_sent_at_once_are_stored_in_pairs() {
    let client = client();
    let agent = client.agent().await;
    let conversation = id(&client.ask(&agent, "Hello there").await);
    let sent = (0..16).map(|number| {
        let body = json!({
            "agent_id": agent, "conversation_id": conversation,
            "message": format!("Question {number}"),
        });
        let client = client.clone();
        async move { client.post("/v1/conversations", body).await.expect(200) }
    });
    let answers = futures_util::future::join_all(sent).await;
    assert!(answers.iter().all(|answer| answer["id"] == conversation.as_str()));
    let whole = client.get(&format!("/v1/conversations/{conversation}")).await.expect(200);
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2 * 17);
    for pair in messages.chunks(2) {
        assert_eq!(pair[0]["role"], "user");
        assert_eq!(pair[1]["role"], "assistant");
    }
    let mut questions: Vec<_> =
        messages.iter().step_by(2).map(|m| m["content"].as_str().unwrap()).collect();
    questions.sort_unstable();
    questions.dedup();
    assert_eq!(questions.len(), 17);
}
