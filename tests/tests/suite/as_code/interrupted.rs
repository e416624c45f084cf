//! `apply` that is killed at every step, and two that run at once.

use std::process::Stdio;

use cicerone_tests::scenario::id;
use serde_json::{Value, json};

use super::proxy::{Proxy, Stop};
use super::{Place, client_of};
use crate::world::NOWHERE;

/// The first version of the file.
fn first() -> String {
    "version: 1\nset: museum\nagents:\n  guide:\n    name: Guide\n    sources:\n      \
     hours: {text: The museum opens at nine.}\n      kept: {text: Dogs must wait outside.}\n      \
     old: {text: The cellar is closed.}\n      prices: {upload: prices.txt}\n    widgets:\n      \
     site: {greeting: Good day!, write_to: .secrets/site}\n      past: {title: Ended}\n"
        .to_owned()
}

/// The second version, with every kind of step. `old` and `past` are no longer in it.
fn second() -> String {
    format!(
        "version: 1\nset: museum\nagents:\n  guide:\n    name: Docent\n    status: paused\n    sources:\n      \
         hours: {{text: The museum opens at ten.}}\n      kept: {{text: Dogs must wait outside.}}\n      \
         prices: {{upload: prices.txt}}\n      faq: {{qa: [{{question: Is parking free?, answer: It is free.}}]}}\n    widgets:\n      \
         site: {{origins: ['https://museum.example'], greeting: Welcome!, write_to: .secrets/site}}\n      \
         shop: {{identity: required, limits: {{replies_at_once: 3}}, write_to: .secrets/shop}}\n  \
         second: {{name: Second, sources: {{a: {{text: Another agent.}}}}}}\n\
         webhooks:\n  ops: {{url: '{NOWHERE}', write_to: .secrets/ops}}\n\
         keys:\n  ci: {{permissions: ['agents:read', 'webhooks:read'], agents: [guide], write_to: .secrets/ci.key}}\n"
    )
}

const ARGUMENTS: [&str; 2] = ["apply", "--prune"];

/// Checks that the account has what the second version asks for, each once.
async fn check(place: &Place) {
    let client = &place.client;
    let agents = client.list_all("/v1/agents", 10).await;
    let named = |name: &str| agents.iter().find(|agent| agent["name"] == name).unwrap();
    assert_eq!(agents.len(), 2, "{agents:?}");
    assert_eq!(named("Docent")["status"], "paused");
    let sources = client.list_all(&format!("/v1/agents/{}/sources", id(named("Docent"))), 10).await;
    let mut keys: Vec<&str> =
        sources.iter().map(|source| source["managed"]["key"].as_str().unwrap()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["guide/faq", "guide/hours", "guide/kept", "guide/prices"], "{sources:?}");
    let of = |key: &str| sources.iter().find(|one| one["managed"]["key"] == key).unwrap();
    assert!(sources.iter().all(|source| source["status"] == "trained"), "{sources:?}");
    assert_eq!(of("guide/hours")["content"], "The museum opens at ten.");
    let file = of("guide/prices")["content"].as_str().unwrap();
    let bytes = client.get(&format!("/v1/files/{file}/content")).await;
    assert_eq!(bytes.text(), "A ticket costs five euros.");
    let mut widgets =
        client.list_all(&format!("/v1/agents/{}/widgets", id(named("Docent"))), 10).await;
    widgets.sort_by_key(|widget| widget["managed"]["key"].to_string());
    let shown: Vec<Value> = widgets
        .iter()
        .map(|one| {
            json!([one["managed"]["key"], one["greeting"], one["limits"]["replies_at_once"]])
        })
        .collect();
    assert_eq!(shown, [json!(["guide/shop", null, 3]), json!(["guide/site", "Welcome!", 20])]);
    for file in [".secrets/site", ".secrets/shop"] {
        assert!(place.read(file).starts_with("wids_"), "{file}");
    }
    let endpoints = client.list_all("/v1/webhook_endpoints", 10).await;
    assert_eq!(endpoints.len(), 1, "{endpoints:?}");
    assert!(place.read(".secrets/ops").starts_with("whsec_"));
    let made = client.list_all("/v1/api_keys?set=museum", 10).await;
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(made[0]["agent_ids"], json!([id(named("Docent"))]));
    let seen = client_of(place, ".secrets/ci.key").list_all("/v1/agents", 10).await;
    assert_eq!(seen.len(), 1, "the key of the file works");
    place.ends(0, &["plan", "--prune"]);
}

/// The account and the folder before the second version is applied.
fn prepared(from_first: bool) -> Place {
    let place =
        Place::new(&[("cicerone.yaml", &first()), ("prices.txt", "A ticket costs four euros.")]);
    if from_first {
        place.apply();
    }
    place.write(&[("cicerone.yaml", &second()), ("prices.txt", "A ticket costs five euros.")]);
    place
}

/// Applies through a proxy, and kills the program when it stops. Returns the number of changes if it ran to the end.
async fn apply_through(place: &Place, stop: Stop) -> Option<usize> {
    let proxy = Proxy::start(place.client.address(), stop).await;
    let command = place.command_at(&proxy.address.to_string(), &ARGUMENTS);
    let mut command = tokio::process::Command::from(command);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    tokio::select! {
        status = child.wait() => {
            assert!(status.unwrap().success(), "{stop:?}");
            Some(proxy.changes())
        }
        () = proxy.stopped() => {
            // SIGKILL
            child.kill().await.unwrap();
            None
        }
    }
}

async fn converges(from_first: bool) {
    let whole = prepared(from_first);
    let changes = apply_through(&whole, Stop::Never).await.unwrap();
    assert!(changes >= 10, "{changes} changes");
    check(&whole).await;
    for number in 0..changes {
        for stop in [Stop::Before(number), Stop::After(number)] {
            let place = prepared(from_first);
            assert_eq!(apply_through(&place, stop).await, None, "{stop:?} of {changes}");
            let output = place.run(&ARGUMENTS);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{stop:?} of {changes}: {errors}");
            check(&place).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_on_an_empty_server_that_is_killed_at_any_step_is_completed_by_the_next() {
    converges(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_killed_at_any_step_is_completed_by_the_next_run() {
    converges(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_runs_at_once_do_not_double_anything() {
    for from_first in [false, true] {
        let one = prepared(from_first);
        let files = [("cicerone.yaml", &*second()), ("prices.txt", "A ticket costs five euros.")];
        let two = Place::of(one.client.clone(), &files);
        let run = async |place: &Place| {
            let command = place.command_at(&place.client.address().to_string(), &ARGUMENTS);
            tokio::process::Command::from(command).output().await.unwrap()
        };
        for output in <[_; 2]>::from(tokio::join!(run(&one), run(&two))) {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        // The key was written in one of the two folders.
        let made = one.client.list_all("/v1/api_keys?set=museum", 10).await;
        let secret = id(&made[0]).replace("key_", "ck_");
        let has_key = |place: &&Place| {
            place.path(".secrets/ci.key").exists()
                && place.read(".secrets/ci.key").starts_with(&secret)
        };
        let places = [&one, &two];
        let written =
            places.iter().copied().find(has_key).expect("the key that exists was written");
        let other = if std::ptr::eq(written, &raw const one) { &two } else { &one };
        for file in [".secrets/ops", ".secrets/site", ".secrets/shop"] {
            if !written.path(file).exists() {
                written.write(&[(file, &other.read(file))]);
            }
        }
        check(written).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_deleted_while_a_run_is_at_work_is_made_again() {
    // After the agent was created, after one of its sources was, and after all of them were.
    for number in [0, 4, 7] {
        let place = prepared(false);
        let proxy = Proxy::start(place.client.address(), Stop::Pause(number)).await;
        let command = place.command_at(&proxy.address.to_string(), &ARGUMENTS);
        let run = tokio::spawn(tokio::process::Command::from(command).output());
        proxy.stopped().await;
        let agents = place.client.list_all("/v1/agents", 10).await;
        let guide = agents.iter().find(|agent| agent["name"] == "Docent").unwrap();
        place.client.delete(&format!("/v1/agents/{}", id(guide))).await.expect_nothing();
        proxy.resume();
        let output = run.await.unwrap().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "after change {number}: {errors}");
        check(&place).await;
    }
}

#[tokio::test]
async fn an_old_version_answers_until_the_new_one_is_trained_and_stays_if_that_fails() {
    let file = |kind: &str| {
        format!(
            "version: 1\nset: museum\nagents: {{guide: {{name: Guide, sources: {{hours: {kind}}}}}}}\n"
        )
    };
    let place = Place::new(&[
        ("cicerone.yaml", &file("{text: The museum opens at nine.}")),
        ("broken.pdf", "%PDF-1.7\n"),
    ]);
    place.apply();
    place.write(&[("cicerone.yaml", &file("{upload: broken.pdf}"))]);
    let (_, errors) = place.ends(1, &["apply"]);
    assert!(errors.contains("source `guide/hours`: "), "{errors}");
    let agent = id(&place.client.list_all("/v1/agents", 10).await[0]);
    let answer = place.client.ask(&agent, "When does the museum open?").await;
    assert_eq!(answer["reply"], "The museum opens at nine.", "{answer}");
    // A corrected file replaces both.
    place.write(&[("cicerone.yaml", &file("{text: The museum opens at ten.}"))]);
    place.apply();
    let sources = place.client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await;
    let contents: Vec<&Value> = sources.iter().map(|source| &source["content"]).collect();
    assert_eq!(contents, ["The museum opens at ten."]);
}
