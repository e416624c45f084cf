//! Checks and their runs.

use std::time::{Duration, Instant};

use cicerone_domain::check::{
    CheckList, CheckResult, CheckRun, GivenCheck, RunEnd, RunStatus, RunTrigger,
};
use cicerone_domain::ports::{
    AgentStore as _, CheckStore as _, ClaimedRun, JobStore as _, RunClaim, RunLease,
    SourceStore as _,
};
use cicerone_domain::webhook::EventName;
use cicerone_domain::{Agent, Id, Scope, kind, limits};
use cicerone_tests::postgres::Cluster;
use diesel::PgConnection;
use diesel::connection::{Connection as _, SimpleConnection as _};

use super::fixture::{
    World, all_pages, assert_conflict, assert_not_found, extracted, first, new_account, new_id,
    on_each, text,
};
use super::time_bounds::waiting_for_rows;

/// How long something may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(20);

fn checks(count: usize) -> CheckList {
    let check = |number| GivenCheck {
        question: Some(format!("When do you open door {number}?")),
        contains: Some(vec!["nine".to_owned()]),
        ..GivenCheck::default()
    };
    CheckList::parse((0..count).map(check).collect()).unwrap()
}

fn result(question: &str, passed: bool) -> CheckResult {
    CheckResult {
        question: question.to_owned(),
        passed,
        reason: (!passed).then(|| "the reply lacks `nine`".to_owned()),
        reply: "At ten.".to_owned(),
    }
}

async fn checked_agent(world: &World, count: usize) -> Agent {
    let agent = world.agent().await;
    let checks = checks(count);
    world.storage.replace_checks(&world.scope(), agent.id, checks, world.now()).await.unwrap();
    agent
}

async fn start(world: &World, agent: &Agent) -> CheckRun {
    let run = world.storage.start_run(&world.scope(), agent.id, new_id(), world.now(), None).await;
    run.unwrap()
}

/// Claims a run for 30 s, as the account after `after`.
async fn claim(world: &World, after: Option<Id<kind::Account>>) -> Option<ClaimedRun> {
    let now = world.now();
    let token = new_id::<kind::CheckRun>().suffix().to_owned();
    let claim = RunClaim { after, token, now, until: now.plus_millis(30_000) };
    world.storage.claim_run(claim).await.unwrap()
}

async fn end(world: &World, lease: &RunLease, end: RunEnd) -> Option<CheckRun> {
    world.storage.end_run(lease, end, new_id(), world.now()).await.unwrap()
}

/// A run from its request to its end.
async fn whole(world: &World, agent: &Agent, results: Vec<CheckResult>) -> CheckRun {
    start(world, agent).await;
    let claimed = claim(world, None).await.unwrap();
    end(world, &claimed.lease, RunEnd::Done(results)).await.unwrap()
}

#[tokio::test]
async fn checks_replace_each_other_and_belong_to_their_agent() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (scope, storage) = (world.scope(), &world.storage);
        assert_eq!(storage.find_checks(&scope, agent.id).await.unwrap(), Default::default());
        assert_conflict(storage.start_run(&scope, agent.id, new_id(), world.now(), None).await);
        for count in [2, 1, 0, 3] {
            let stored = storage.replace_checks(&scope, agent.id, checks(count), world.now()).await;
            assert_eq!(stored.unwrap().checks, checks(count));
            assert_eq!(storage.find_checks(&scope, agent.id).await.unwrap().checks, checks(count));
        }
        start(world, &agent).await;
        assert_conflict(storage.start_run(&scope, agent.id, new_id(), world.now(), None).await);
        for outside in world.outside().await {
            let now = world.now();
            assert_not_found(storage.find_checks(&outside, agent.id).await, "agent");
            let replaced = storage.replace_checks(&outside, agent.id, checks(1), now).await;
            assert_not_found(replaced, "agent");
            let started = storage.start_run(&outside, agent.id, new_id(), now, None).await;
            assert_not_found(started, "agent");
            assert_not_found(storage.list_runs(&outside, agent.id, first(5)).await, "agent");
        }
        storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
        assert_eq!((world.count("check_runs"), world.count("agent_checks")), (0, 0));
        assert_eq!(claim(world, None).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_run_keeps_its_results_and_its_checks_between_claims() {
    on_each(async |world| {
        let agent = checked_agent(world, 2).await;
        let (scope, storage) = (world.scope(), &world.storage);
        let run = start(world, &agent).await;
        let begun = claim(world, None).await.unwrap();
        assert_eq!((begun.run.id, begun.attempts, begun.checks.len()), (run.id, 1, 2));
        assert_eq!(claim(world, None).await, None, "the run has a lease");
        assert_conflict(storage.start_run(&scope, agent.id, new_id(), world.now(), None).await);
        storage.replace_checks(&scope, agent.id, checks(7), world.now()).await.unwrap();
        let half = vec![result("a", true)];
        storage.record_results(&begun.lease, half.clone(), world.now()).await.unwrap();
        // A lease that is over has no effect.
        assert!(!storage.extend_run(&begun.lease, world.now()).await.unwrap());
        storage.record_results(&begun.lease, half.clone(), world.now()).await.unwrap();
        assert_eq!(end(world, &begun.lease, RunEnd::Done(half.clone())).await, None);

        let mut again = claim(world, None).await.unwrap();
        let expected = (half, checks(2).into_vec(), 1);
        assert_eq!((again.run.results.clone(), again.checks, again.attempts), expected);
        // Each crash counts as an attempt, and so does a failure; overload does not.
        for (attempt, counts) in [(2, true), (2, false), (3, true)] {
            storage.release_run(&again.lease, world.now(), counts).await.unwrap();
            again = claim(world, None).await.unwrap();
            assert_eq!(again.attempts, attempt);
        }
        world.execute("UPDATE check_runs SET due_at = 0");
        let crashed = claim(world, None).await.unwrap();
        assert_eq!(crashed.attempts, 4);
        storage.take_back_check_runs().await.unwrap();
        let last = claim(world, None).await.unwrap();
        assert_eq!(last.attempts, 5);
        let done = end(world, &last.lease, RunEnd::Done(vec![result("b", false)])).await.unwrap();
        assert_eq!((done.status, done.passed(), done.failed()), (RunStatus::Done, 1, 1));
        let shown = storage.find_checks(&scope, agent.id).await.unwrap().last_run.unwrap();
        assert_eq!(shown, done);
        assert_eq!(storage.open_runs().await.unwrap(), 0);
        assert_eq!(world.count_where("check_runs", "checks IS NULL AND passed = 1"), 1);
    })
    .await;
}

#[tokio::test]
async fn an_event_is_written_if_other_checks_fail_than_before() {
    on_each(async |world| {
        let agent = checked_agent(world, 2).await;
        let told = || world.count_where("events", "name = 'checks.failed'");
        for (fails, count) in [
            (vec![], 0),
            (vec!["a"], 1),
            (vec!["a"], 1),
            (vec!["a", "b"], 2),
            (vec![], 2),
            (vec!["a"], 3),
        ] {
            let results = fails.iter().map(|question| result(question, false)).collect();
            whole(world, &agent, results).await;
            assert_eq!(told(), count, "{fails:?}");
        }
        // An abandoned run does not count for later comparisons.
        start(world, &agent).await;
        let claimed = claim(world, None).await.unwrap();
        let failed =
            end(world, &claimed.lease, RunEnd::Failed("no model".to_owned())).await.unwrap();
        assert_eq!(failed.error_message.as_deref(), Some("no model"));
        whole(world, &agent, vec![result("a", false)]).await;
        assert_eq!(told(), 3);
    })
    .await;
}

#[tokio::test]
async fn the_last_runs_are_kept_and_listed() {
    on_each(async |world| {
        let agent = checked_agent(world, 1).await;
        let mut made = Vec::new();
        for _ in 0..limits::CHECK_RUNS + 3 {
            made.insert(0, whole(world, &agent, vec![result("a", true)]).await);
        }
        made.truncate(limits::CHECK_RUNS);
        let scope = world.scope();
        let list = async |page| world.storage.list_runs(&scope, agent.id, page).await;
        assert_eq!(all_pages(7, list).await, made);
    })
    .await;
}

#[tokio::test]
async fn deleting_a_source_removes_the_replies_from_the_runs_of_its_agent() {
    on_each(async |world| {
        let (scope, storage) = (world.scope(), &world.storage);
        let (agent, other) = (checked_agent(world, 1).await, checked_agent(world, 1).await);
        let source = world.text_source(&agent).await;
        // These texts look like fields.
        let question = r#"What is "reply":"x"?"#;
        let quoting =
            CheckResult { reply: r#""reply":"" is a word."#.to_owned(), ..result(question, true) };
        whole(world, &other, vec![quoting.clone()]).await;
        let done = whole(world, &agent, vec![quoting.clone(), result("b", false)]).await;
        start(world, &agent).await;
        let open = claim(world, None).await.unwrap();
        let recorded = vec![quoting.clone()];
        storage.record_results(&open.lease, recorded, world.now()).await.unwrap();
        storage.delete_source(&scope, source.id, world.now(), None).await.unwrap();

        let blank = |result: &CheckResult| CheckResult { reply: String::new(), ..result.clone() };
        let again = claim(world, None).await.unwrap();
        assert_eq!(again.run.results, [blank(&quoting)]);
        let later = RunEnd::Done(vec![quoting.clone()]);
        let last = end(world, &again.lease, later).await.unwrap();
        assert_eq!(last.results, [blank(&quoting), quoting.clone()]);
        let results = done.results.iter().map(blank).collect();
        let list = async |page| storage.list_runs(&scope, agent.id, page).await;
        assert_eq!(all_pages(7, list).await, [last, CheckRun { results, ..done }]);
        let theirs = storage.find_checks(&scope, other.id).await.unwrap().last_run.unwrap();
        assert_eq!(theirs.results, [quoting]);
    })
    .await;
}

#[tokio::test]
async fn a_trained_source_queues_one_run_a_moment_later() {
    on_each(async |world| {
        let silent = world.agent().await;
        world.trained(&silent, text("Rome"), "Rome has seven hills.").await;
        assert_eq!(world.count("check_runs"), 0, "the agent has no checks");
        let agent = checked_agent(world, 1).await;
        let source = world.trained(&agent, text("Rome"), "Rome has seven hills.").await;
        let other = world.text_source(&agent).await;
        world.finish(&other, extracted("Rome has a river.", 1)).await;
        assert_eq!(world.count("check_runs"), 1);
        let run = claim(world, None).await.unwrap().run;
        assert_eq!((run.trigger, run.source_id), (RunTrigger::Trained, Some(source.id)));
        // While one runs, the next one waits.
        let third = world.text_source(&agent).await;
        world.finish(&third, extracted("Rome has a wall.", 1)).await;
        assert_eq!(world.count_where("check_runs", "state = 'pending'"), 1);
        assert_eq!(world.count("check_runs"), 2);
    })
    .await;
}

#[tokio::test]
async fn a_run_that_waits_is_not_begun_before_the_training_that_counts_on_it_is_over() {
    if Cluster::shared().is_none() {
        return;
    }
    on_each(async |world| {
        if world.url.sqlite_path().is_some() {
            // It has one writer.
            return;
        }
        let agent = checked_agent(world, 1).await;
        start(world, &agent).await;
        world.endpoint(&[EventName::SourceTrained]).await;
        world.text_source(&agent).await;
        let job = world.claim_job().await.unwrap();
        // The training waits for the endpoints, to which it will send an event.
        let mut other = PgConnection::establish(&world.url.to_string()).unwrap();
        other.batch_execute("BEGIN; SELECT 1 FROM webhook_endpoints FOR UPDATE").unwrap();
        let new = extracted("Rome has a river.", 1);
        let train = world.storage.finish_trained(&job.lease, new, new_id(), world.now());
        let begin = async {
            let deadline = Instant::now() + PATIENCE;
            while waiting_for_rows(&mut other) == 0 {
                assert!(Instant::now() < deadline, "the training does not wait");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let begun = claim(world, None).await;
            other.batch_execute("COMMIT").unwrap();
            begun
        };
        let (trained, begun) = tokio::join!(train, begin);
        trained.unwrap().unwrap();
        assert_eq!(begun, None);
        assert_eq!(world.count("check_runs"), 1);
        assert!(claim(world, None).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_run_after_a_training_waits_for_the_other_sources_but_not_for_ever() {
    on_each(async |world| {
        let agent = checked_agent(world, 1).await;
        world.trained(&agent, text("Rome"), "Rome has seven hills.").await;
        let other = world.text_source(&agent).await;
        for _ in 0..4 {
            assert_eq!(claim(world, None).await, None, "a source is pending");
        }
        // A requested run of another agent of the account is not held up.
        let free = checked_agent(world, 1).await;
        let asked = whole(world, &free, vec![result("a", true)]).await;
        assert_eq!(asked.trigger, RunTrigger::Request);
        world.finish(&other, extracted("Rome has a river.", 1)).await;
        world.now();
        world.now();
        let run = claim(world, None).await.unwrap();
        assert_eq!((run.run.agent_id, run.run.trigger), (agent.id, RunTrigger::Trained));
        end(world, &run.lease, RunEnd::Done(vec![result("a", true)])).await.unwrap();

        let third = world.text_source(&agent).await;
        world.finish(&third, extracted("Rome has a wall.", 1)).await;
        world.text_source(&agent).await;
        assert_eq!(claim(world, None).await, None);
        world.execute("UPDATE check_runs SET created_at = created_at - 300000, due_at = 0 WHERE state = 'pending'");
        assert_eq!(claim(world, None).await.unwrap().run.agent_id, agent.id);
    })
    .await;
}

#[tokio::test]
async fn accounts_take_turns_and_so_do_the_runs_of_an_account() {
    on_each(async |world| {
        let other = new_account(&world.storage, "theirs").await;
        let mut theirs = world.new_agent();
        theirs.account_id = other;
        let theirs = world.storage.insert_agent(theirs, None).await.unwrap();
        let scope = Scope::account(other);
        world.storage.replace_checks(&scope, theirs.id, checks(9), world.now()).await.unwrap();
        let (one, two) = (checked_agent(world, 9).await, checked_agent(world, 9).await);
        start(world, &one).await;
        start(world, &two).await;
        world.storage.start_run(&scope, theirs.id, new_id(), world.now(), None).await.unwrap();
        let (mut turns, mut after) = (Vec::new(), None);
        for _ in 0..8 {
            let claimed = claim(world, after).await.unwrap();
            after = Some(claimed.run.account_id);
            turns.push(claimed.run.agent_id);
            let results = vec![result("a", true)];
            world.storage.record_results(&claimed.lease, results, world.now()).await.unwrap();
        }
        let count = |agent: &Agent| turns.iter().filter(|id| **id == agent.id).count();
        assert_eq!((count(&theirs), count(&one), count(&two)), (4, 2, 2), "{turns:?}");
    })
    .await;
}
