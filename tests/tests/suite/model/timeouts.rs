//! Every wait for an upstream has an end.

use std::time::{Duration, Instant};

use cicerone_tests::upstream::{Script, Upstream, chunk};
use serde_json::{Value, json};

use super::{ask, models, settings};

/// Expects an error with these words after `seconds`, and less than five seconds later.
async fn fails_after(script: Script, is_streamed: bool, section: Value, words: &str, seconds: f64) {
    let upstream = Upstream::start([script]).await;
    let models = models(settings(&upstream, section));
    let start = Instant::now();
    let error = ask(&models, is_streamed).await.reply.expect_err(words);
    let elapsed = start.elapsed().as_secs_f64();
    assert!(error.message.contains(words), "{}", error.message);
    assert!(elapsed >= seconds && elapsed < seconds + 5.0, "{words} after {elapsed} s");
}

#[tokio::test]
async fn without_an_answer_the_wait_for_the_first_token_ends() {
    let section = json!({"first_token_seconds": 0.2});
    fails_after(Script::default().stall(), true, section, "first token", 0.2).await;
}

#[tokio::test]
async fn without_a_token_the_wait_for_the_first_token_ends() {
    let section = json!({"first_token_seconds": 0.2, "between_tokens_seconds": 9});
    fails_after(Script::stream().stall(), true, section.clone(), "no token in time", 0.2).await;
    // A stream that only shows that it is alive, and one that only sends roles.
    let alive = |piece: &str| {
        let pause = Duration::from_millis(30);
        (0..40).fold(Script::stream(), |script, _| script.bytes(piece).pause(pause)).stall()
    };
    fails_after(alive(": ping\n\n"), true, section.clone(), "no token in time", 0.2).await;
    let role = format!("data: {}\n\n", chunk(&json!({"role": "assistant", "content": ""}), None));
    fails_after(alive(&role), true, section, "no token in time", 0.2).await;
}

#[tokio::test]
async fn a_stall_within_the_reply_ends() {
    let section = json!({"first_token_seconds": 9, "between_tokens_seconds": 0.2});
    let script = Script::stream().token("Hello").token(" there").stall();
    fails_after(script, true, section, "stalled", 0.2).await;
}

#[tokio::test]
async fn tokens_that_come_slowly_but_steadily_are_a_reply() {
    let pause = Duration::from_millis(60);
    let slow = (0..8).fold(Script::stream(), |script, _| script.token("ha").pause(pause));
    let upstream = Upstream::start([slow.finish("stop").done()]).await;
    let section = json!({"first_token_seconds": 0.3, "between_tokens_seconds": 0.3});
    let reply = ask(&models(settings(&upstream, section)), true).await.reply.unwrap();
    assert_eq!(reply.text, "ha".repeat(8));
}

#[tokio::test]
async fn the_whole_has_a_limit() {
    let pause = Duration::from_millis(50);
    let slow = (0..200).fold(Script::stream(), |script, _| script.token("ha").pause(pause));
    let section = json!({"total_seconds": 0.4});
    fails_after(slow, true, section.clone(), "did not complete the reply within 0.4 s", 0.4).await;
    fails_after(
        Script::default().stall(),
        false,
        section,
        "did not complete the reply within 0.4 s",
        0.4,
    )
    .await;
}

#[tokio::test]
async fn retries_end_with_the_whole() {
    let script = Script::error("503 Service Unavailable", "retry-after: 1\r\n", "later");
    let section = json!({"total_seconds": 0.4, "max_retries": 10});
    fails_after(script, true, section, "did not complete the reply within 0.4 s", 0.4).await;
}
