//! A few threads for work that blocks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{mpsc, oneshot};

use crate::error::OpenError;

/// Work that may wait for a thread; beyond, callers wait to hand it over.
const QUEUE: usize = 1_024;

type Task = Box<dyn FnOnce() + Send>;

/// Threads that take their work from one queue.
pub(super) struct Threads {
    queue: RwLock<Option<mpsc::Sender<Task>>>,
    /// Closed when the last thread has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    patience: Option<Duration>,
}

impl Threads {
    /// Starts `count` threads. Work that has waited for one longer than `patience` is refused: where
    /// the database is out of reach, a queue of requests would only grow old.
    pub(super) fn start(
        name: &str,
        count: u32,
        patience: Option<Duration>,
    ) -> Result<Self, OpenError> {
        let (queue, tasks) = mpsc::channel::<Task>(QUEUE);
        let (alive, ended) = mpsc::channel(1);
        let tasks = Arc::new(Mutex::new(tasks));
        for number in 0..count.max(1) {
            let tasks = Arc::clone(&tasks);
            let alive = alive.clone();
            spawn(format!("{name}-{number}"), move || {
                loop {
                    // The lock is held while waiting: the threads take turns at the queue's head.
                    let task = tasks.lock().blocking_recv();
                    let Some(task) = task else { break };
                    task();
                }
                drop(alive);
            })?;
        }
        let queue = RwLock::new(Some(queue));
        Ok(Self { queue, ended: tokio::sync::Mutex::new(ended), patience })
    }

    /// Runs `work` on one of the threads. It runs also where the caller goes away.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, outcome) = oneshot::channel();
        let deadline = self.deadline();
        let task = Box::new(move || {
            let result = in_time(deadline).and_then(|()| work());
            // A caller that went away wants no result.
            let _ = reply.send(result);
        });
        self.hand_over(task).await?;
        outcome.await.map_err(|_| closed())?
    }

    /// Queues a task; waits where many are queued.
    async fn hand_over(&self, task: Task) -> Result<(), Error> {
        let queue = self.queue.read().clone().ok_or_else(closed)?;
        queue.send(task).await.map_err(|_| closed())
    }

    /// Until when work that is asked for now may begin.
    fn deadline(&self) -> Option<Instant> {
        self.patience.and_then(|patience| Instant::now().checked_add(patience))
    }

    /// Takes no more work and waits for the threads to end.
    pub(super) async fn close(&self) {
        self.queue.write().take();
        // Nothing is ever sent: this returns when every thread has dropped its end.
        self.ended.lock().await.recv().await;
    }
}

/// Refuses what begins too late.
fn in_time(deadline: Option<Instant>) -> Result<(), Error> {
    if deadline.is_some_and(|deadline| Instant::now() > deadline) {
        return Err(Error::unavailable("no database connection became free in time"));
    }
    Ok(())
}

/// Starts a named thread.
pub(super) fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
    std::thread::Builder::new().name(name).spawn(body).map(|_| ()).map_err(OpenError::Thread)
}

/// The refusal of a database that was closed.
pub(super) fn closed() -> Error {
    Error::unavailable("the database is closed")
}
