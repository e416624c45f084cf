//! Guarded websites: the checks are compared before the new content replaces the present one.

use std::time::Duration;

use cicerone_domain::Error;

use super::scripted::Script;
use super::website;

/// What is logged of a crawl of a guarded website.
async fn crawled(script: &Script) -> String {
    script.queue(website("/hours"));
    let ended = script.worker().run_one().await;
    assert!(ended.is_ok(), "{ended:?}");
    script.log().join("\n")
}

#[tokio::test]
async fn a_website_without_checks_is_not_compared() {
    let script = Script::new();
    assert_eq!(crawled(&script).await, "crawled https://example.com/hours");
    assert!(script.asked().is_empty());
}

#[tokio::test]
async fn only_what_fails_with_the_new_content_is_asked_of_the_present_one() {
    let script = Script::new();
    script.guard(&["a", "b", "c"], |question, is_new, _| {
        Ok(question == "a" || !is_new && question == "b")
    });
    let said = "the previous content was kept: 1 of 3 checks would fail, first `b`";
    assert_eq!(crawled(&script).await, said);
    let asked = [("a", true), ("b", true), ("c", true), ("b", false), ("c", false)];
    assert_eq!(script.asked(), asked.map(|(question, is_new)| (question.to_owned(), is_new)));
}

#[tokio::test]
async fn what_fails_now_may_go_on_failing() {
    let script = Script::new();
    script.guard(&["a", "b"], |question, is_new, _| Ok(question == "a" && is_new));
    assert_eq!(crawled(&script).await, "compared");
}

#[tokio::test]
async fn an_agent_that_is_too_large_keeps_its_content() {
    let script = Script::new();
    script.guard(&["a"], |_, _, _| Ok(true));
    script.is_too_large();
    let said = crawled(&script).await;
    assert!(said.contains("kept") && said.contains("more than 16 MiB"), "{said}");
    assert!(script.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_asked_three_times() {
    let script = Script::new();
    script.guard(&["a"], |_, _, attempt| match attempt {
        0 | 1 => Err(Error::ModelUnavailable(Box::from("no"))),
        _ => Ok(true),
    });
    assert_eq!(crawled(&script).await, "compared");
    let script = Script::new();
    script.guard(&["a"], |_, _, _| Err(Error::ModelUnavailable(Box::from("no"))));
    let said = crawled(&script).await;
    assert!(said.ends_with("could not be compared: the model is unavailable"), "{said}");
    assert_eq!(script.asked().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_server_is_asked_again_until_the_comparison_takes_too_long() {
    let script = Script::new();
    script
        .guard(&["a"], |_, _, attempt| if attempt < 9 { Err(Error::Overloaded) } else { Ok(true) });
    assert_eq!(crawled(&script).await, "compared");
    let script = Script::new();
    script.guard(&["a"], |_, _, _| Err(Error::Overloaded));
    let began = tokio::time::Instant::now();
    let said = crawled(&script).await;
    assert!(said.contains("this took more than 300 seconds"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(310));
}

/// The database is a fault of the server: the comparison is made again.
#[tokio::test(start_paused = true)]
async fn a_database_that_is_out_of_reach_is_no_refusal() {
    let script = Script::new();
    script.guard(&["a"], |_, _, _| Err(Error::unavailable("out of reach")));
    let said = crawled(&script).await;
    assert!(said.starts_with("requeued"), "{said}");
}
