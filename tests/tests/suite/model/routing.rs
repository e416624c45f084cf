//! Retries, fallbacks and the circuit breaker.

use std::time::Instant;

use cicerone_domain::agent::ModelName;
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::json;

use super::{Hand, ask, ask_with, models, models_at, request, settings};

fn unavailable() -> Script {
    Script::error("503 Service Unavailable", "", "later")
}

#[tokio::test]
async fn what_may_pass_is_tried_again_before_the_first_token() {
    for fault in [
        unavailable(),
        Script::error("429 Too Many Requests", "", "slow down"),
        Script::error("408 Request Timeout", "", "slow"),
        Script::hang_up(),
        Script::stream(),
    ] {
        let faults = [fault.clone(), fault, Script::tokens(&["At nine."])];
        let upstream = Upstream::start(faults).await;
        let outcome = ask(&models(settings(&upstream, json!({}))), true).await;
        assert_eq!(outcome.reply.unwrap().text, "At nine.");
        assert_eq!(upstream.received().len(), 3);
    }
}

#[tokio::test]
async fn the_number_of_attempts_is_bounded() {
    let upstream = Upstream::start([unavailable()]).await;
    let models = models(settings(&upstream, json!({"max_retries": 1})));
    ask(&models, true).await.reply.unwrap_err();
    assert_eq!(upstream.received().len(), 2);
}

#[tokio::test]
async fn nothing_is_tried_again_after_the_first_token_or_a_refusal() {
    for script in [
        Script::stream().token("Hello"),
        Script::error("400 Bad Request", "", "no"),
        Script::error("401 Unauthorized", "", "no"),
    ] {
        let upstream = Upstream::start([script, Script::tokens(&["Other"])]).await;
        ask(&models(settings(&upstream, json!({}))), true).await.reply.unwrap_err();
        assert_eq!(upstream.received().len(), 1);
    }
}

#[tokio::test]
async fn the_wait_that_an_upstream_asks_for_is_kept() {
    let asks = Script::error("429 Too Many Requests", "retry-after: 1\r\n", "slow down");
    let upstream = Upstream::start([asks, Script::whole("At nine.")]).await;
    let start = Instant::now();
    ask(&models(settings(&upstream, json!({}))), false).await.reply.unwrap();
    assert!(start.elapsed().as_secs_f64() >= 1.0);
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_begun() {
    let asks = Script::error("429 Too Many Requests", "retry-after: 3600\r\n", "slow down");
    let upstream = Upstream::start([asks, Script::whole("At nine.")]).await;
    ask(&models(settings(&upstream, json!({}))), false).await.reply.unwrap_err();
    assert_eq!(upstream.received().len(), 1);
}

/// Settings with a first and a second upstream for `gpt-4o`.
fn in_turn(first: &Upstream, second: &Upstream) -> serde_json::Value {
    json!({
        "upstreams": {
            "first": {"base_url": first.url(), "max_retries": 0, "first_token_seconds": 0.3},
            "second": {"base_url": second.url(), "max_retries": 0, "model": "their-own"},
        },
        "routes": {"gpt-4o": {"upstream": "first", "model": "mapped", "fallbacks": [
            {"upstream": "second"}, {"upstream": "second", "model": "other"}]}},
    })
}

#[tokio::test]
async fn fallbacks_are_asked_in_order() {
    for fault in [
        unavailable(),
        Script::hang_up(),
        Script::error("401 Unauthorized", "", "key revoked"),
        Script::stream().stall(),
    ] {
        let first = Upstream::start([fault]).await;
        let second = Upstream::start([unavailable(), Script::tokens(&["At nine."])]).await;
        let outcome = ask(&models(in_turn(&first, &second)), true).await;
        assert_eq!(outcome.reply.unwrap().text, "At nine.");
        assert_eq!(first.received()[0].body["model"], "mapped");
        let names: Vec<_> = second.received().iter().map(|r| r.body["model"].clone()).collect();
        assert_eq!(names, ["their-own", "other"]);
    }
}

#[tokio::test]
async fn nobody_starts_over_what_was_begun() {
    let first = Upstream::start([Script::stream().token("It opens")]).await;
    let second = Upstream::start([Script::tokens(&["Other"])]).await;
    let outcome = ask(&models(in_turn(&first, &second)), true).await;
    outcome.reply.unwrap_err();
    assert_eq!(outcome.tokens, ["It opens"]);
    assert!(second.received().is_empty());
}

#[tokio::test]
async fn when_all_fail_the_error_names_each() {
    let first = Upstream::start([unavailable()]).await;
    let second = Upstream::start([Script::error("401 Unauthorized", "", "no key")]).await;
    let error = ask(&models(in_turn(&first, &second)), true).await.reply.unwrap_err();
    assert_eq!(
        error.message,
        "upstream `first` answered 503 Service Unavailable: later; upstream `second` answered \
         401 Unauthorized: no key; upstream `second` answered 401 Unauthorized: no key"
    );
}

#[tokio::test]
async fn a_model_without_a_route_is_answered_by_the_embedded_answerer() {
    let first = Upstream::start([Script::hang_up()]).await;
    let models = models(in_turn(&first, &first));
    let mut request = request();
    request.profile.model = ModelName::from_stored("gpt-4-turbo".to_owned());
    let reply = ask_with(&models, request, true).await.reply.unwrap();
    assert!(reply.text.starts_with("The museum opens"), "{}", reply.text);
    assert!(first.received().is_empty());
}

#[tokio::test]
async fn the_embedded_answerer_can_be_the_last_fallback() {
    let upstream = Upstream::start([Script::hang_up()]).await;
    let mut settings = settings(&upstream, json!({"max_retries": 0}));
    settings["default"]["fallbacks"] = json!([{"upstream": "embedded"}]);
    let reply = ask(&models(settings), true).await.reply.unwrap();
    assert!(reply.text.starts_with("The museum opens"), "{}", reply.text);
}

#[tokio::test]
async fn an_upstream_that_keeps_failing_is_left_alone_and_then_tried_again() {
    let upstream = Upstream::start([unavailable()]).await;
    let section = json!({"max_retries": 0, "breaker_failures": 3, "breaker_seconds": 10});
    let clock = Hand::new();
    let models = models_at(settings(&upstream, section), clock.clone());
    for _ in 0..3 {
        ask(&models, true).await.reply.unwrap_err();
    }
    let error = ask(&models, true).await.reply.unwrap_err();
    assert!(error.message.contains("is not used at the moment"), "{}", error.message);
    assert_eq!(upstream.received().len(), 3);

    clock.advance(10_000);
    ask(&models, true).await.reply.unwrap_err();
    assert_eq!(upstream.received().len(), 4);
    ask(&models, true).await.reply.unwrap_err();
    assert_eq!(upstream.received().len(), 4, "a failed probe opens it again");

    clock.advance(10_000);
    upstream.follow([Script::tokens(&["At nine."])]);
    ask(&models, true).await.reply.unwrap();
    ask(&models, true).await.reply.unwrap();
    assert_eq!(upstream.received().len(), 6);
}

#[tokio::test]
async fn refused_requests_do_not_count_as_failures_of_the_upstream() {
    let upstream = Upstream::start([Script::error("400 Bad Request", "", "no")]).await;
    let models = models(settings(&upstream, json!({"breaker_failures": 1})));
    for _ in 0..3 {
        ask(&models, true).await.reply.unwrap_err();
    }
    assert_eq!(upstream.received().len(), 3);
}

#[tokio::test]
async fn an_empty_reply_is_not_asked_for_again_and_closes_no_upstream() {
    let thought = || Script::stream().finish("length").done();
    let upstream = Upstream::start((0..12).map(|_| thought())).await;
    let models = models(settings(&upstream, json!({"breaker_failures": 3})));
    for asked in 1..=12 {
        let error = ask(&models, true).await.reply.unwrap_err();
        assert!(error.message.contains("sent an empty reply (length)"), "{}", error.message);
        assert_eq!(upstream.received().len(), asked);
    }
}

#[tokio::test]
async fn where_nothing_listens_it_is_an_error() {
    let settings = json!({
        "default": {"upstream": "gone"},
        "upstreams": {"gone": {"base_url": "http://127.0.0.1:1/v1", "max_retries": 1}},
    });
    let error = ask(&models(settings), true).await.reply.unwrap_err();
    assert!(error.message.contains("cannot be reached"), "{}", error.message);
}
