//! Documents and processes that mean no good.

use std::time::{Duration, Instant};

use bytes::Bytes;
use cicerone_ingestion::{Readers, SandboxSettings};

use crate::{address, html, settings};

/// A pool whose processes run a shell's script in the place of a reader.
fn shell(script: &str) -> SandboxSettings {
    let arguments = vec!["-c".into(), script.into()];
    SandboxSettings { program: "/bin/sh".into(), arguments, ..settings() }
}

async fn reason(readers: &Readers, page: Bytes) -> String {
    readers.page(&address(), page, None).await.expect_err("it cannot be read").to_string()
}

/// The processes of that name whose parent is this one.
pub(crate) fn children_of_this(name: &str) -> Vec<u32> {
    let own = std::process::id().to_string();
    let folders = std::fs::read_dir("/proc").expect("a system with /proc");
    let ids = folders.filter_map(|folder| folder.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let (start, rest) = stat.rsplit_once(") ").unwrap_or_default();
        let fields: Vec<&str> = rest.split(' ').collect();
        start.ends_with(name)
            && fields.first() != Some(&"Z")
            && fields.get(1) == Some(&own.as_str())
    })
    .collect()
}

/// Waits until something is so; fails when it is not for long.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < limit, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_million_nested_elements_cost_one_page() {
    let readers = Readers::new(settings());
    let begun = Instant::now();
    let deep = Bytes::from("<div>".repeat(1_000_000));
    assert!(reason(&readers, deep).await.contains("nested more than 512 deep"));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    readers.page(&address(), html("next"), None).await.expect("the next page");
}

#[tokio::test]
async fn a_process_that_does_not_answer_is_killed() {
    let wall = Duration::from_millis(200);
    let readers = Readers::new(SandboxSettings { wall, ..shell("exec sleep 7001") });
    let reason = reason(&readers, html("x")).await;
    assert!(reason.contains("longer than 1 s"), "{reason}");
    until("the process is gone", || children_of_this("(sleep").is_empty()).await;
}

#[tokio::test]
async fn a_document_that_takes_too_much_memory_is_given_up() {
    let memory = 220 * 1024 * 1024;
    let readers = Readers::new(SandboxSettings { memory, ..settings() });
    let large = Bytes::from("<p>x<i>y</i>".repeat(1_500_000));
    let reason = reason(&readers, large).await;
    assert!(reason.contains("memory"), "{reason}");
    readers.page(&address(), html("next"), None).await.expect("the next page");
}

#[tokio::test]
async fn a_document_that_takes_too_much_processor_time_is_given_up() {
    let (processor, wall) = (Duration::from_secs(1), Duration::from_secs(60));
    let readers = Readers::new(SandboxSettings { processor, wall, ..settings() });
    // The parser compares each attribute of an element with all before it.
    let attributes: String = (0..120_000).map(|number| format!(" a{number}")).collect();
    let reason = reason(&readers, Bytes::from(format!("<p{attributes}>"))).await;
    assert!(reason.contains("processor time"), "{reason}");
    readers.page(&address(), html("next"), None).await.expect("the next page");
}

#[tokio::test]
async fn a_process_that_crashes_costs_one_document() {
    let readers = Readers::new(shell("kill -SEGV $$"));
    assert!(reason(&readers, html("x")).await.contains("failed unexpectedly"));
    let readers =
        Readers::new(shell("echo memory allocation of 9 bytes failed >&2; kill -ABRT $$"));
    assert!(reason(&readers, html("x")).await.contains("memory"));
    let readers = Readers::new(shell("echo thread has overflowed its stack >&2; kill -ABRT $$"));
    assert!(reason(&readers, html("x")).await.contains("nested too deeply"));
}

#[tokio::test]
async fn a_process_that_answers_with_anything_else_is_not_believed() {
    for script in
        ["cat", "printf '\\377\\377\\377\\377'; sleep 7002", "printf '\\0\\0\\0\\2no'", "exit 0"]
    {
        let readers = Readers::new(shell(script));
        let reason = reason(&readers, html("x")).await;
        assert!(reason.contains("failed unexpectedly"), "{script}: {reason}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_reported() {
    let readers = Readers::new(SandboxSettings { program: "/nowhere".into(), ..settings() });
    assert!(reason(&readers, html("x")).await.contains("could not start"));
}

#[tokio::test]
async fn dropping_the_future_kills_the_reader() {
    let readers = Readers::new(shell("exec tail -f /dev/null"));
    let reading = tokio::spawn({
        let readers = readers.clone();
        async move { readers.page(&address(), html("x"), None).await.is_ok() }
    });
    until("the process runs", || !children_of_this("(tail").is_empty()).await;
    reading.abort();
    until("the process is gone", || children_of_this("(tail").is_empty()).await;
}

#[tokio::test]
async fn an_answer_beyond_its_limit_is_refused() {
    let readers = Readers::new(SandboxSettings { output: 1_000, ..settings() });
    let reason = reason(&readers, html(&"long ".repeat(1_000))).await;
    assert!(reason.contains("more than the maximum of 1000 bytes"), "{reason}");
    readers.page(&address(), html("short"), None).await.expect("a short page");
}
