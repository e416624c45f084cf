//! Tests of tasks that end by themselves, with a clock that advances only when all tasks wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Pauses, Supervisor};

/// Runs a task that lasts these numbers of seconds in turn. Returns the seconds at which it was
/// started.
fn starts(supervisor: &mut Supervisor, runs: &'static [u64], end: fn()) -> Arc<Mutex<Vec<u64>>> {
    let (began, starts) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&starts);
    supervisor.keep("test", move |stop| {
        let mut noted = noted.lock();
        let run = runs.get(noted.len()).copied();
        noted.push(began.elapsed().as_secs());
        async move {
            match run {
                Some(seconds) => {
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    end();
                }
                None => stop.cancelled().await,
            }
        }
    });
    starts
}

async fn wait(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_panics_is_started_again_with_growing_pauses() {
    let mut supervisor = Supervisor::new(Pauses::default());
    let starts = starts(&mut supervisor, &[0; 9], || panic!("as a task might"));
    wait(1_000).await;
    assert_eq!(*starts.lock(), [0, 1, 3, 7, 15, 31, 63, 123, 183, 243], "at most a minute");
    supervisor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_returns_is_started_again_too() {
    let mut supervisor = Supervisor::new(Pauses::default());
    let starts = starts(&mut supervisor, &[0, 0], || {});
    wait(10).await;
    assert_eq!(*starts.lock(), [0, 1, 3]);
    supervisor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_second_end_counts_as_failing_until_the_task_runs_steadily() {
    let mut supervisor = Supervisor::new(Pauses::default());
    let failing = supervisor.failing();
    let starts = starts(&mut supervisor, &[10, 10], || panic!("as a task might"));
    wait(15).await;
    assert!(failing.is_empty(), "once is not again and again");
    wait(7).await;
    assert!(!failing.is_empty(), "it ended at 10 and 21 seconds");
    wait(60).await;
    assert!(!failing.is_empty(), "it runs since 23 seconds");
    wait(2).await;
    assert!(failing.is_empty(), "it has run for a minute");
    assert_eq!(*starts.lock(), [0, 11, 23]);
    supervisor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn ends_that_lie_far_apart_are_not_added_up() {
    let mut supervisor = Supervisor::new(Pauses::default());
    let failing = supervisor.failing();
    let starts = starts(&mut supervisor, &[100, 100, 100], || panic!("as a task might"));
    for _ in 0..40 {
        wait(10).await;
        assert!(failing.is_empty());
    }
    assert_eq!(*starts.lock(), [0, 101, 202, 303], "the pause stays the first");
    supervisor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_task_that_fails_does_not_touch_the_others() {
    let mut supervisor = Supervisor::new(Pauses::default());
    let ticks = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&ticks);
    let _starts = starts(&mut supervisor, &[0; 50], || panic!("as a task might"));
    supervisor.keep("other", move |stop: CancellationToken| {
        let counted = Arc::clone(&counted);
        async move {
            while stop.run_until_cancelled(wait(1)).await.is_some() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    wait(100).await;
    assert!(ticks.load(Ordering::Relaxed) >= 99);
    supervisor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_tasks_and_pauses() {
    let mut supervisor = Supervisor::new(Pauses::default());
    let starts = starts(&mut supervisor, &[0; 50], || panic!("as a task might"));
    supervisor.keep("other", |stop| async move { stop.cancelled().await });
    wait(100).await;
    let (count, began) = (starts.lock().len(), Instant::now());
    supervisor.stop().await;
    assert!(began.elapsed() < Duration::from_secs(1), "the pause does not delay it");
    assert_eq!(starts.lock().len(), count);
}
