//! Background tasks that are kept running: one that ends or panics is restarted.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// When tasks are restarted, and when they count as failing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pauses {
    /// The pause after the first end; it doubles with each further one.
    pub(crate) first: Duration,
    /// The longest pause.
    pub(crate) longest: Duration,
    /// A task that has run for this long counts as working: its earlier ends are forgotten.
    pub(crate) steady: Duration,
    /// The number of ends in a row, each before the task ran steadily, after which it counts as
    /// failing.
    pub(crate) ends: u32,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            steady: Duration::from_secs(60),
            ends: 2,
        }
    }
}

/// Starts tasks, and restarts them if they end by themselves.
pub(crate) struct Supervisor {
    pauses: Pauses,
    stop: CancellationToken,
    failing: Failing,
    tasks: Vec<JoinHandle<()>>,
}

/// The names of the tasks that are failing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failing(Arc<Mutex<HashSet<&'static str>>>);

impl Failing {
    /// Whether no task is failing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    fn set(&self, name: &'static str, is_failing: bool) {
        let mut names = self.0.lock();
        if is_failing {
            names.insert(name);
        } else if names.remove(name) {
            tracing::info!(task = name, "a background task has recovered");
        }
    }
}

impl Supervisor {
    pub(crate) fn new(pauses: Pauses) -> Self {
        let (stop, failing) = (CancellationToken::new(), Failing::default());
        Self { pauses, stop, failing, tasks: Vec::new() }
    }

    /// A live view of the tasks that are failing.
    pub(crate) fn failing(&self) -> Failing {
        self.failing.clone()
    }

    /// Keeps a task running until the stop. `task` creates its future, which ends when its token is cancelled; if it
    /// ends earlier, by returning or by a panic, it is created again after a pause.
    pub(crate) fn keep<F>(
        &mut self,
        name: &'static str,
        task: impl Fn(CancellationToken) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let kept =
            SupervisedTask { name, pauses: self.pauses, failing: self.failing.clone(), ends: 0 };
        let task = Box::new(move |stop| Box::pin(task(stop)) as Work);
        self.tasks.push(tokio::spawn(kept.run(task, self.stop.clone())));
    }

    /// Stops all tasks and waits until they have ended.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        for task in self.tasks {
            if let Err(error) = task.await {
                tracing::error!(error = words(&error), "the supervision of a task failed");
            }
        }
    }
}

/// The future of a task, without its type, so that what supervises it is compiled once.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Creates the future of a task.
type Task = Box<dyn Fn(CancellationToken) -> Work + Send>;

/// A task and how often it has ended.
struct SupervisedTask {
    name: &'static str,
    pauses: Pauses,
    failing: Failing,
    /// Ends since it last ran steadily.
    ends: u32,
}

impl SupervisedTask {
    async fn run(mut self, task: Task, stop: CancellationToken) {
        loop {
            let outcome = self.watch(tokio::spawn(task(stop.clone()))).await;
            if stop.is_cancelled() {
                if let Err(error) = outcome {
                    tracing::error!(
                        task = self.name,
                        error = words(&error),
                        "a task failed while it stopped"
                    );
                }
                return;
            }
            let pause = self.ended(outcome);
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
        }
    }

    /// Waits for the task's end. Its earlier ends are forgotten after it has run steadily.
    async fn watch(&mut self, mut task: JoinHandle<()>) -> Result<(), JoinError> {
        let steady = Instant::now() + self.pauses.steady;
        if let Ok(outcome) = tokio::time::timeout_at(steady, &mut task).await {
            return outcome;
        }
        self.ends = 0;
        self.failing.set(self.name, false);
        task.await
    }

    /// Records that the task ended by itself, and returns the pause before it is restarted.
    fn ended(&mut self, outcome: Result<(), JoinError>) -> Duration {
        self.ends = self.ends.saturating_add(1);
        let Pauses { first, longest, ends, .. } = self.pauses;
        let pause = first.saturating_mul(1 << (self.ends - 1).min(16)).min(longest);
        if self.ends >= ends {
            self.failing.set(self.name, true);
        }
        let error = match &outcome {
            Ok(()) => "it returned",
            Err(error) => words(error),
        };
        metrics::counter!("cicerone_task_restarts_total", "task" => self.name).increment(1);
        tracing::error!(
            task = self.name,
            error,
            ends = self.ends,
            pause_seconds = pause.as_secs_f64(),
            "a background task ended unexpectedly; it is restarted after a pause"
        );
        pause
    }
}

/// The text that a log shows for an end. A panic's message may quote a document; its location is
/// logged by the panic hook.
fn words(error: &JoinError) -> &'static str {
    if error.is_panic() { "it panicked" } else { "it was aborted" }
}

#[cfg(test)]
mod tests;
