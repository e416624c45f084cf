//! Citations of an upstream are removed from the text and become sources, also in a stream.

use cicerone_domain::ports::ReplyRequest;
use cicerone_tests::upstream::{Script, Upstream};
use serde_json::json;

use super::{ask, ask_with, models, passage, request, settings};

/// Text from a model, and what remains of it.
const WRITTEN: &str =
    "Tickets: at the entrance [2]. It opens at nine [1, 2][7].\n\n`days[1]` «né» 【1】";
const LEFT: &str = "Tickets: at the entrance. It opens at nine.\n\n`days[1]` «né»";

#[tokio::test]
async fn marks_become_citations_in_the_order_in_which_they_come() {
    let upstream = Upstream::start([Script::whole(WRITTEN)]).await;
    let reply = ask(&models(settings(&upstream, json!({}))), false).await.reply.unwrap();
    assert_eq!(reply.text, LEFT);
    assert_eq!(reply.cited, [1, 0]);
}

#[tokio::test]
async fn marks_are_taken_out_wherever_a_stream_cuts_them() {
    let boundaries = (0..=WRITTEN.len()).filter(|at| WRITTEN.is_char_boundary(*at));
    let upstream = Upstream::start([Script::hang_up()]).await;
    let models = models(settings(&upstream, json!({})));
    for at in boundaries {
        let (first, second) = WRITTEN.split_at(at);
        upstream.follow([Script::tokens(&[first, second])]);
        let reply = ask(&models, true).await.reply.unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.cited.as_slice()),
            (LEFT, [1, 0].as_slice()),
            "{at}"
        );
    }
}

#[tokio::test]
async fn marks_are_taken_out_of_tokens_of_one_character_in_frames_of_one_byte() {
    let tokens: Vec<String> = WRITTEN.chars().map(String::from).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let upstream = Upstream::start([Script::tokens(&tokens).byte_by_byte()]).await;
    let outcome = ask(&models(settings(&upstream, json!({}))), true).await;
    assert_eq!(outcome.reply.unwrap().text, LEFT);
    assert!(outcome.tokens.len() > 20, "it streams: {:?}", outcome.tokens);
}

#[tokio::test]
async fn a_reply_that_cites_nothing_is_attributed_by_its_words() {
    let said = "It opens every day at nine o'clock sharp.";
    let upstream = Upstream::start([Script::tokens(&[said])]).await;
    let reply = ask(&models(settings(&upstream, json!({}))), true).await.reply.unwrap();
    assert_eq!(reply.cited, [0]);
}

#[tokio::test]
async fn a_reply_that_rests_on_nothing_cites_nothing() {
    let said = "My sources do not cover this. [7]";
    let upstream = Upstream::start([Script::tokens(&[said])]).await;
    let reply = ask(&models(settings(&upstream, json!({}))), true).await.reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.cited.len()), ("My sources do not cover this.", 0));
}

#[tokio::test]
async fn a_passage_that_did_not_fit_into_the_prompt_cannot_be_cited() {
    // The third passage does not fit, and the reply claims to rest on it.
    let upstream = Upstream::start([Script::hang_up()]).await;
    let models = models(settings(&upstream, json!({ "context_tokens": 1_100 })));
    let long = |word: &str| passage(&format!("{word} ").repeat(250));
    let last = "Umbrellas are kept beneath the western staircase.";
    for said in ["Beneath the staircase [1][3].", last] {
        upstream.follow([Script::whole(said)]);
        let passages = vec![long("coins"), long("boats"), passage(&format!("{last} ").repeat(20))];
        let request = ReplyRequest { passages: passages.into(), ..request() };
        let reply = ask_with(&models, request, false).await.reply.unwrap();
        let sent = upstream.received().last().unwrap().body["messages"].to_string();
        assert!(sent.contains("coins") && !sent.contains("Umbrellas"), "{sent}");
        let cited = if said.contains('[') { vec![0] } else { Vec::new() };
        assert_eq!(reply.cited, cited, "{said}");
    }
}
