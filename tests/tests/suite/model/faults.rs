//! Whatever an upstream does, there is either a reply or an error.

use std::time::Duration;

use cicerone_domain::ports::ModelFailure;
use cicerone_tests::upstream::{Script, Upstream, chunk, completion};
use serde_json::{Value, json};

use super::{Outcome, ask, models, settings};

/// Settings that fail at the first fault.
fn at_once() -> Value {
    json!({"max_retries": 0, "api_key": "sk-verysecret"})
}

async fn asked(script: Script, is_streamed: bool) -> Outcome {
    let upstream = Upstream::start([script]).await;
    ask(&models(settings(&upstream, at_once())), is_streamed).await
}

/// Expects an error with these words in its message and these tokens before it.
async fn fails(script: Script, is_streamed: bool, words: &str, tokens: &[&str]) {
    let outcome = asked(script, is_streamed).await;
    let error = outcome.reply.expect_err(words);
    assert!(error.message.contains(words), "`{}` does not say `{words}`", error.message);
    assert!(error.message.starts_with("upstream `one` "), "{}", error.message);
    assert!(!error.message.contains("verysecret"));
    assert_eq!(outcome.tokens, tokens, "{words}");
}

#[tokio::test]
async fn a_stream_with_its_regular_end_is_a_reply() {
    for script in [
        Script::tokens(&["It opens", " at", " nine."]),
        Script::tokens(&["It opens", " at", " nine."]).byte_by_byte(),
        // With a finish reason, without the end marker.
        Script::stream().token("It opens").token(" at nine.").finish("length"),
        // With the end marker, without a finish reason.
        Script::stream().token("It opens at nine.").done(),
        // Comments, other fields, carriage returns and a byte order mark.
        Script::stream()
            .bytes("\u{feff}: hello\r\n\r\nevent: message\r\nid: 7\r\n")
            .token("It opens at nine.")
            .bytes(": ping\n\n")
            .finish("stop")
            .done(),
        // Token counts in a chunk without choices.
        Script::stream()
            .token("It opens at nine.")
            .finish("stop")
            .event(&json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}))
            .done(),
        // Nonsense after the end of the reply.
        Script::stream().token("It opens at nine.").finish("stop").bytes(b"\xff\xfe{".to_vec()),
        // The stream stays open after the end.
        Script::stream().token("It opens at nine.").finish("stop").stall(),
        // A complete completion, although a stream was requested.
        Script::whole("It opens at nine."),
        // Reasoning before the reply.
        Script::stream()
            .event(&chunk(&json!({"reasoning_content": "Hm."}), None))
            .token("It opens at nine.")
            .finish("stop")
            .done(),
    ] {
        let outcome = asked(script.clone(), true).await;
        assert_eq!(outcome.reply.expect("a reply").text, "It opens at nine.", "{script:?}");
    }
}

#[tokio::test]
async fn an_empty_reason_with_each_piece_ends_nothing() {
    let piece = |text: &str| chunk(&json!({"content": text}), Some(""));
    let script = Script::stream()
        .event(&piece("It opens"))
        .pause(Duration::from_millis(900))
        .event(&piece(" at nine."))
        .event(&chunk(&json!({}), Some("length")))
        // What follows the end is no part of the reply.
        .event(&piece(" Or at ten."))
        .done();
    let reply = asked(script, true).await.reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.is_cut), ("It opens at nine.", true));
    let early = Script::stream().event(&piece("It opens"));
    fails(early, true, "closed the stream", &["It opens"]).await;
}

#[tokio::test]
async fn token_counts_that_cannot_be_true_are_estimated() {
    let most = 100_000_000_u64;
    for (usage, counted) in [
        (json!({"prompt_tokens": 7, "completion_tokens": most}), Some(most)),
        (json!({"prompt_tokens": 7, "completion_tokens": most + 1}), None),
        (json!({"prompt_tokens": u64::MAX, "completion_tokens": 2}), None),
        (json!({"prompt_tokens": -1, "completion_tokens": 2}), None),
        (json!({"prompt_tokens": null, "completion_tokens": 2}), None),
        (json!({"prompt_tokens": 7.5, "completion_tokens": "2"}), None),
        (json!("none"), None),
        (Value::Null, None),
    ] {
        let end = json!({"choices": [], "usage": usage});
        let script = Script::stream().token("It opens at nine.").finish("stop").event(&end).done();
        let tokens = asked(script, true).await.reply.expect("a reply").tokens;
        match counted {
            Some(counted) => assert_eq!(tokens.completion, counted, "{usage}"),
            None => assert!((3..20).contains(&tokens.completion), "{usage}: {tokens:?}"),
        }
    }
}

#[tokio::test]
async fn a_completion_in_one_piece_is_a_reply_also_as_a_stream() {
    for script in [Script::whole("At nine."), Script::tokens(&["At", " nine."])] {
        assert_eq!(asked(script, false).await.reply.unwrap().text, "At nine.");
    }
}

#[tokio::test]
async fn a_refusal_of_the_model_is_its_reply() {
    let delta = json!({"content": null, "refusal": "I cannot help with that."});
    let script = Script::stream().event(&chunk(&delta, None)).finish("stop").done();
    assert_eq!(asked(script, true).await.reply.unwrap().text, "I cannot help with that.");
}

#[tokio::test]
async fn half_a_character_at_the_end_is_an_error() {
    let mut event = format!("data: {}\n\n", chunk(&json!({"content": "né"}), None)).into_bytes();
    let half = event.iter().position(|byte| *byte == 0xC3).unwrap();
    event.truncate(half + 1);
    let script = Script::stream().token("Hello").bytes(event);
    fails(script, true, "closed the stream", &["Hello"]).await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_an_error() {
    let script = Script::stream().token("Hello").bytes(b"data: \xff\xff\n\n".to_vec());
    fails(script, true, "malformed", &["Hello"]).await;
}

#[tokio::test]
async fn a_broken_event_is_an_error() {
    let broken = Script::stream().token("Hello").bytes("data: {\"choices\": [{\"del\n\n");
    fails(broken, true, "broken chunk", &["Hello"]).await;
    let wrong = Script::stream().event(&json!({"choices": [{"delta": {"content": 7}}]}));
    fails(wrong, true, "broken chunk", &[]).await;
}

#[tokio::test]
async fn an_error_within_the_stream_is_an_error() {
    let error =
        json!({"error": {"message": "overloaded, key sk-verysecret", "type": "server_error"}});
    let script = Script::stream().token("Hello").event(&error).done();
    fails(script, true, "overloaded, key ***", &["Hello"]).await;
    fails(Script::stream().event(&error), true, "sent an error", &[]).await;
    let named = Script::stream().token("Hello").bytes("event: error\ndata: overloaded\n\n");
    fails(named, true, "sent an error: overloaded", &["Hello"]).await;
    let script = Script::answer("200 OK", "application/json", "", &error.to_string());
    fails(script, false, "sent an error", &[]).await;
}

#[tokio::test]
async fn a_stream_that_closes_early_is_an_error() {
    fails(Script::stream(), true, "closed the stream", &[]).await;
    fails(Script::stream().token("Hello"), true, "closed the stream", &["Hello"]).await;
    let role = chunk(&json!({"role": "assistant", "content": ""}), None);
    fails(Script::stream().event(&role), true, "closed the stream", &[]).await;
    let half = Script::default()
        .bytes(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                                        content-length: 5000\r\n\r\n",
        )
        .token("Hello");
    fails(half, true, "closed the connection", &["Hello"]).await;
}

#[tokio::test]
async fn a_server_error_within_the_reply_is_an_error() {
    let chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                   transfer-encoding: chunked\r\n\r\n";
    let event = format!("data: {}\n\n", chunk(&json!({"content": "Hello"}), None));
    let script = Script::default()
        .bytes(chunked)
        .bytes(format!("{:x}\r\n{event}\r\n", event.len()))
        .bytes("HTTP/1.1 500 Internal Server Error\r\n\r\n");
    fails(script, true, "closed the connection", &["Hello"]).await;
    let script = Script::stream().token("Hello").finish("error").done();
    fails(script, true, "broke off the reply", &["Hello"]).await;
}

#[tokio::test]
async fn an_empty_reply_is_an_error() {
    fails(Script::tokens(&[]), true, "empty", &[]).await;
    fails(Script::tokens(&["[1]"]), true, "empty", &[]).await;
    fails(Script::whole(""), false, "empty", &[]).await;
    let without_choice = json!({"choices": []}).to_string();
    let script = Script::answer("200 OK", "application/json", "", &without_choice);
    fails(script, false, "without a choice", &[]).await;
    fails(Script::stream().finish("content_filter").done(), true, "content filter", &[]).await;
}

#[tokio::test]
async fn what_is_no_completion_is_an_error() {
    for is_streamed in [true, false] {
        let page = Script::answer("200 OK", "text/html; charset=utf-8", "", "<html>Login</html>");
        fails(page, is_streamed, "web page", &[]).await;
        let text = Script::answer("200 OK", "application/json", "", "not JSON");
        fails(text, is_streamed, "invalid completion", &[]).await;
        let mut cut = completion("Hello").to_string();
        cut.truncate(60);
        let cut = Script::answer("200 OK", "application/json", "", &cut);
        fails(cut, is_streamed, "invalid completion", &[]).await;
        fails(Script::hang_up(), is_streamed, "cannot be reached", &[]).await;
        fails(Script::default().bytes("nonsense\r\n\r\n"), is_streamed, "cannot be reached", &[])
            .await;
    }
    let text = Script::answer("200 OK", "text/plain", "", "hello");
    fails(text, true, "closed the stream", &[]).await;
}

#[tokio::test]
async fn a_status_of_failure_is_an_error_of_its_kind() {
    for (status, kind) in [
        ("400 Bad Request", ModelFailure::Permanent),
        ("401 Unauthorized", ModelFailure::Permanent),
        ("404 Not Found", ModelFailure::Permanent),
        ("408 Request Timeout", ModelFailure::Transient),
        ("429 Too Many Requests", ModelFailure::Transient),
        ("500 Internal Server Error", ModelFailure::Transient),
        ("503 Service Unavailable", ModelFailure::Transient),
    ] {
        for is_streamed in [true, false] {
            let message = "Incorrect API key provided: sk-verysecret";
            let error =
                asked(Script::error(status, "", message), is_streamed).await.reply.unwrap_err();
            assert_eq!(error.failure, kind, "{status}");
            let expected =
                format!("upstream `one` answered {status}: Incorrect API key provided: ***");
            assert!(error.message.starts_with(&expected), "{}", error.message);
            // Only a 404 is followed by the model that the upstream was asked for.
            assert_eq!(error.message != expected, status.starts_with("404"), "{}", error.message);
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Upstream::start([Script::whole("Stolen")]).await;
    let location = format!("location: {}/chat/completions\r\n", elsewhere.url());
    for status in ["302 Found", "307 Temporary Redirect"] {
        let script = Script::answer(status, "text/plain", &location, "");
        fails(script, true, status, &[]).await;
    }
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let line = format!(": {}\n", "x".repeat(1 << 18));
    let stream = (0..72).fold(Script::stream(), |script, _| script.bytes(line.clone()));
    fails(stream, true, "sent more than", &[]).await;
    let event = format!("data: {}", "x".repeat(1 << 20));
    fails(Script::stream().bytes(event), true, "malformed", &[]).await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let whole = (0..72).fold(Script::default().bytes(head), |script, _| script.bytes(line.clone()));
    fails(whole, false, "sent more than", &[]).await;
}

#[tokio::test]
async fn a_model_that_does_not_stop_is_stopped() {
    let words = ["word "; 20_000];
    for (script, is_streamed) in
        [(Script::tokens(&words), true), (Script::whole(&words.concat()), false)]
    {
        let outcome = asked(script, is_streamed).await;
        let reply = outcome.reply.unwrap();
        assert!(reply.text.starts_with("word word "));
        assert!(reply.text.len() < words.concat().len() / 2, "{}", reply.text.len());
        if is_streamed {
            assert_eq!(outcome.tokens.concat(), reply.text);
        }
    }
}
