//! The requests that an upstream receives.

use cicerone_domain::Timestamp;
use cicerone_domain::conversation::{Message, Role};
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::json;

use super::{ask, ask_with, models, request, settings};

#[tokio::test]
async fn a_request_has_the_fields_of_the_official_api() {
    let upstream = Upstream::start([Script::whole("At nine [1].")]).await;
    let models = models(settings(&upstream, json!({"api_key": "sk-test"})));
    ask(&models, false).await.reply.unwrap();
    let received = &upstream.received()[0];
    assert!(received.head.starts_with("post /v1/chat/completions http/1.1\r\n"));
    assert!(received.head.contains("\r\nauthorization: bearer sk-test\r\n"));
    assert!(received.head.contains("\r\ncontent-type: application/json\r\n"));
    let mut fields: Vec<&String> = received.body.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["max_tokens", "messages", "model", "stream", "temperature"]);
    assert_eq!(received.body["model"], "gpt-4o");
    assert_eq!(received.body["temperature"], 0.25);
    assert_eq!(received.body["max_tokens"], 321);
    assert_eq!(received.body["stream"], false);
}

#[tokio::test]
async fn a_section_shapes_the_request() {
    let upstream = Upstream::start([Script::tokens(&["At nine."])]).await;
    let section = json!({
        "model": "o9", "max_tokens_field": "max_completion_tokens", "send_temperature": false,
        "stream_usage": true,
    });
    let models = models(settings(&upstream, section));
    ask(&models, true).await.reply.unwrap();
    let received = &upstream.received()[0];
    assert!(!received.head.contains("authorization"));
    assert_eq!(received.body["model"], "o9");
    assert_eq!(received.body["max_completion_tokens"], 321);
    assert_eq!(received.body["stream"], true);
    assert_eq!(received.body["stream_options"], json!({"include_usage": true}));
    assert!(received.body.get("temperature").is_none());
    assert!(received.body.get("max_tokens").is_none());
}

#[tokio::test]
async fn the_prompt_holds_system_prompt_history_passages_and_question() {
    let upstream = Upstream::start([Script::whole("At nine.")]).await;
    let models = models(settings(&upstream, json!({})));
    let message = |role, content: &str| Message {
        role,
        content: content.to_owned(),
        sources_used: Vec::new(),
        timestamp: Timestamp::from_millis(0),
    };
    let mut request = request();
    request.history = vec![message(Role::User, "Hello"), message(Role::Assistant, "Welcome!")];
    ask_with(&models, request, false).await.reply.unwrap();
    let received = &upstream.received()[0];
    let messages = received.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let content = |index: usize| messages[index]["content"].as_str().unwrap();
    assert!(content(0).starts_with("Answer like a guide."));
    assert_eq!((content(1), content(2)), ("Hello", "Welcome!"));
    assert!(content(3).contains("The museum opens every day"));
    assert!(content(3).ends_with("Question: When does it open?"));
}

#[tokio::test]
async fn passages_are_fenced_by_words_that_change_with_every_request() {
    let upstream = Upstream::start([Script::whole("At nine.")]).await;
    let config = serde_json::from_value(settings(&upstream, json!({}))).unwrap();
    let clock: std::sync::Arc<dyn cicerone_domain::Clock> = super::Hand::new();
    let entropy: std::sync::Arc<dyn cicerone_domain::Entropy> =
        std::sync::Arc::new(cicerone_domain::SystemEntropy);
    let models = cicerone_llm::Models::new(config, |_| None, &clock, &entropy).unwrap();
    ask(&models, false).await.reply.unwrap();
    ask(&models, false).await.reply.unwrap();
    let fence = |index: usize| {
        let received = upstream.received();
        let messages = received[index].body["messages"].as_array().unwrap().clone();
        let content = messages.last().unwrap()["content"].as_str().unwrap().to_owned();
        content.lines().next().unwrap().to_owned()
    };
    assert!(fence(0).starts_with("<passage 1 "));
    assert_ne!(fence(0), fence(1));
}
