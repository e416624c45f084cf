//! The worker over scripted ports: every way in which a job can end.

mod guarded;
mod scripted;

use std::time::Duration;

use cicerone_domain::source::WebsiteUrl;
use cicerone_domain::{Id, SourceContent, SystemEntropy};
use cicerone_processing::{Step, WorkerSettings};
use scripted::{Script, text};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_text_is_trained_and_the_index_brought_up_to_date() {
    let script = Script::new();
    script.queue(text("# Light\n\nIt was built in 1854."));
    let worker = script.worker();
    assert_eq!(worker.run_one().await.unwrap(), Step::Done);
    assert_eq!(script.log(), ["trained 1 passages"]);
    assert_eq!(worker.run_one().await.unwrap(), Step::Idle);
    script.synchronised().await;
}

/// Runs a worker until nothing is left, with the texts of one agent in the queue.
async fn carried_out_together(texts: &[&str]) -> Vec<String> {
    let script = Script::new();
    let (account, agent) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
    for content in texts {
        script.queue_of(account, agent, text(content));
    }
    let (worker, stop) = (script.worker(), CancellationToken::new());
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    script.synchronised().await;
    stop.cancel();
    assert!(running.await.is_ok());
    script.log()
}

#[tokio::test]
async fn small_texts_of_an_agent_are_stored_together() {
    let log = carried_out_together(&["It was built in 1854.", "It is red.", "It is open."]).await;
    assert_eq!(
        log,
        ["3 together", "trained 1 passages", "trained 1 passages", "trained 1 passages"]
    );
}

/// One of them may be too large for the account's quota.
#[tokio::test]
async fn texts_that_cannot_be_stored_together_are_stored_alone() {
    let long = "The lighthouse was built in 1854. ".repeat(10);
    let log = carried_out_together(&["It is red.", &long, "It is open."]).await;
    let (first, rest) = log.split_first().unwrap();
    assert_eq!((first.as_str(), rest.len()), ("refused 3 together", 3));
    assert!(rest.iter().all(|line| line.starts_with("trained ")), "{log:?}");
}

fn website(path: &str) -> SourceContent {
    let url = WebsiteUrl::from_stored(format!("https://example.com{path}"));
    SourceContent::Website { url, crawl_subpages: true }
}

#[tokio::test]
async fn a_website_is_crawled() {
    let script = Script::new();
    script.queue(website("/hours"));
    assert_eq!(script.worker().run_one().await.unwrap(), Step::Done);
    assert_eq!(script.log(), ["crawled https://example.com/hours"]);
    script.synchronised().await;
}

#[tokio::test]
async fn a_website_that_cannot_be_crawled_fails_with_its_reason() {
    let script = Script::new();
    script.queue(website("/missing"));
    assert_eq!(script.worker().run_one().await.unwrap(), Step::Done);
    let log = script.log().join("\n");
    assert!(log.starts_with("failed ") && log.contains("404"), "{log}");
}

#[tokio::test]
async fn crawls_that_take_long_leave_room_for_everything_else() {
    let script = Script::new();
    let worker = script.worker();
    script.stall_objects();
    for _ in 0..20 {
        script.queue(website("/hours"));
    }
    script.queue(text("Opening hours are nine to five."));
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    script.synchronised().await;
    assert_eq!(script.log(), ["trained 1 passages"]);
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
}

/// Files that are never read to the end occupy only places of the account that sent them.
#[tokio::test(start_paused = true)]
async fn an_account_that_floods_leaves_a_place_to_another_one() {
    let script = Script::new();
    let worker = script.worker();
    script.stall_objects();
    let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
    for _ in 0..18 {
        script.queue_file_for(flood, "slow.txt", Some(b"slow"));
        script.queue_for(flood, website("/hours"));
    }
    let running = tokio::spawn(async move { worker.run(CancellationToken::new()).await });
    let WorkerSettings { parallel, crawls, .. } = WorkerSettings::default();
    script.running(parallel + crawls).await;

    for _ in 0..2 {
        script.queue_file_for(other, "slow.txt", Some(b"slow"));
        script.queue_for(other, website("/hours"));
    }
    script.running(parallel + crawls + 2).await;
    let running_of = (script.running_of(flood), script.running_of(other));
    assert_eq!(running_of, (parallel + crawls, 2), "one file and one website");
    // A text of the flooding account does not wait for its files.
    script.queue_for(flood, text("words"));
    script.synchronised().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_file_is_read_from_the_object_store_under_its_name() {
    let script = Script::new();
    script.queue_file("notes.txt", Some(b"Opening hours are nine to five."));
    assert_eq!(script.worker().run_one().await.unwrap(), Step::Done);
    assert_eq!(script.log(), ["trained 1 passages"]);
}

#[tokio::test]
async fn a_file_whose_bytes_are_missing_is_looked_for_again_before_it_fails() {
    let script = Script::new();
    script.queue_file("notes.txt", None);
    let worker = script.worker();
    for _ in 1..=4 {
        assert_eq!(worker.run_one().await.unwrap(), Step::Retried);
        script.advance_millis(60_000);
    }
    assert_eq!(worker.run_one().await.unwrap(), Step::Done);
    assert!(script.log().join("").contains("no longer stored"));
}

#[tokio::test]
async fn a_transient_fault_is_tried_again_and_the_fifth_fails_the_source() {
    let script = Script::new();
    script.queue_file("notes.txt", Some(b"text"));
    script.break_objects();
    let worker = script.worker();
    for attempt in 1..=4 {
        assert_eq!(worker.run_one().await.unwrap(), Step::Retried);
        assert_eq!(script.log().len(), attempt);
        assert_eq!(worker.run_one().await.unwrap(), Step::Idle, "before its pause is over");
        script.advance_millis(60_000);
    }
    let mut events = script.event_written();
    assert_eq!(worker.run_one().await.unwrap(), Step::Done);
    tokio::time::timeout(Duration::from_secs(5), events.wait()).await.expect("an event is written");
    let log = script.log();
    assert!(log[..4].iter().all(|line| line == "requeued, counts"), "{log:?}");
    assert!(log[4].starts_with("failed the server's storage was unavailable 5 times"), "{log:?}");
}

#[tokio::test]
async fn a_transient_fault_at_the_end_is_tried_again_too() {
    let script = Script::new();
    script.queue(text("words"));
    script.break_finish();
    assert_eq!(script.worker().run_one().await.unwrap(), Step::Retried);
    assert_eq!(script.log(), ["requeued, counts"]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_source_ends_its_job_at_the_next_heartbeat() {
    let script = Script::new();
    script.queue_file("notes.txt", Some(b"text"));
    script.stall_objects();
    script.lose_lease();
    let began = tokio::time::Instant::now();
    assert_eq!(script.worker().run_one().await.unwrap(), Step::Done);
    assert!(began.elapsed() <= Duration::from_secs(1));
    assert_eq!(script.log(), Vec::<String>::new(), "nothing of it becomes visible");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_without_end_is_stopped_at_its_deadline() {
    let script = Script::new();
    script.queue_file("notes.txt", Some(b"text"));
    script.stall_objects();
    assert_eq!(script.worker().run_one().await.unwrap(), Step::Done);
    assert!(script.log().join("").starts_with("failed processing was stopped after 20 minutes"));
}

#[tokio::test(start_paused = true)]
async fn a_stop_gives_a_job_that_outlasts_the_grace_back_without_counting() {
    let script = Script::new();
    script.queue_file("notes.txt", Some(b"text"));
    script.stall_objects();
    let stop = CancellationToken::new();
    let worker = script.worker();
    let run = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    script.claimed().await;
    stop.cancel();
    run.await.unwrap();
    assert_eq!(script.log(), ["requeued"]);
}

#[tokio::test]
async fn the_running_worker_takes_what_is_queued_and_stops() {
    let script = Script::new();
    let stop = CancellationToken::new();
    let worker = script.worker();
    let run = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    for _ in 0..20 {
        script.queue(text("words"));
        script.synchronised().await;
    }
    stop.cancel();
    run.await.unwrap();
    assert_eq!(script.log().len(), 20);
}
