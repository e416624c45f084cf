//! What only a run of the whole suite can check. Tests run in the order of their names, so this module is the last.

use std::time::{Duration, Instant};

use cicerone_tests::postgres::Cluster;
use cicerone_tests::received;
use serde_json::Value;

use crate::coverage::{ENDPOINTS, operations};
use crate::{visitors, without_key};

/// If no test receives an answer for so long, the other tests have ended.
const QUIET: Duration = Duration::from_secs(120);

/// Whether only some of the tests run.
fn is_partial() -> bool {
    let mut arguments = std::env::args().skip(1);
    arguments.any(|argument| match argument.parse::<u32>() {
        // The number of threads.
        Ok(_) => false,
        Err(_) => !argument.starts_with('-') || argument.starts_with("--skip"),
    })
}

/// The answers that the document describes or a test declares, as operation, status and code, and that no test has received.
fn missing(operations: &[(String, Value)]) -> Vec<String> {
    let covers = ENDPOINTS.iter().chain(visitors::COVERS).copied().chain(without_key::COVERS);
    let declared = covers.flat_map(|covers| {
        covers.cases.iter().map(|(case, _)| (covers.route.to_owned(), (*case).to_owned()))
    });
    let described = operations.iter().flat_map(|(name, operation)| {
        let responses = operation["responses"].as_object().unwrap();
        responses.keys().map(|status| (name.clone(), status.clone()))
    });
    let has_postgres = Cluster::shared().is_some();
    let mut missing: Vec<String> = declared
        .chain(described)
        .filter(|(name, case)| {
            let (status, code) = case.split_once(' ').unzip();
            let status: u16 = status.unwrap_or(case).parse().unwrap();
            let cannot_be = (status == 503 && !has_postgres)
                || (status == 500 && without_key::INFALLIBLE.contains(&name.as_str()));
            !cannot_be && !received::was_received(name, status, code)
        })
        .map(|(name, case)| format!("{name}: {case}"))
        .collect();
    missing.sort();
    missing.dedup();
    missing
}

#[tokio::test]
async fn every_described_answer_was_received_by_a_test() {
    if is_partial() {
        return eprintln!("left out: only a run of the whole suite can tell");
    }
    let operations = operations().await;
    let (mut count, mut since) = (received::count(), Instant::now());
    while since.elapsed() < QUIET && !missing(&operations).is_empty() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if received::count() > count {
            since = Instant::now();
        }
        count = received::count();
    }
    let missing = missing(&operations);
    assert!(missing.is_empty(), "no test received these answers: {missing:#?}");
}
