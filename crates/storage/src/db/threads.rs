//! A few threads for work that blocks.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use parking_lot::{Mutex, RwLock};
use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::{mpsc, oneshot};

use super::Party;
use crate::error::OpenError;

/// Tasks that may wait for a thread. If there are more, callers wait to hand theirs over.
const QUEUE: usize = 1_024;

type Task = Box<dyn FnOnce() + Send>;
/// What a task does.
pub(super) type Blocking = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// Threads that take tasks from one queue.
pub(super) struct Threads {
    queue: RwLock<Option<mpsc::Sender<Task>>>,
    /// Closed after the last thread has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    patience: Duration,
    /// Permits for tasks that run or are about to. A fourth of the threads is reserved for parties
    /// that use less than their share of the others.
    places: FairPool<Party>,
}

impl Threads {
    /// Starts `count` threads, which parties share. A task that has waited longer than `patience`
    /// is refused: if the database is out of reach, requests would only pile up.
    pub(super) fn start(name: &str, count: u32, patience: Duration) -> Result<Self, OpenError> {
        let (queue, tasks) = mpsc::channel::<Task>(QUEUE);
        let (alive, ended) = mpsc::channel(1);
        let tasks = Arc::new(Mutex::new(tasks));
        let count = count.max(1);
        for number in 0..count {
            let tasks = Arc::clone(&tasks);
            let alive = alive.clone();
            spawn(format!("{name}-{number}"), move || {
                loop {
                    // The lock is held while waiting, so that the threads take turns at the head of
                    // the queue.
                    let task = tasks.lock().blocking_recv();
                    let Some(task) = task else { break };
                    task();
                }
                drop(alive);
            })?;
        }
        let queue = RwLock::new(Some(queue));
        let reserve = if count > 1 { count.div_ceil(4) } else { 0 };
        let places = FairPool::new(u64::from(count - reserve), u64::from(reserve));
        Ok(Self { queue, ended: tokio::sync::Mutex::new(ended), patience, places })
    }

    /// Runs `work` on one of the threads when it is the party's turn. Once begun it continues, even
    /// if the caller goes away.
    pub(super) async fn run(&self, party: Party, work: Blocking) -> Result<(), Error> {
        let (reply, outcome) = oneshot::channel();
        let deadline = Instant::now().checked_add(self.patience);
        let place = self.place(party).await?;
        let task = Box::new(move || {
            let _place = place;
            let result = in_time(deadline).and_then(|()| work());
            // A caller that went away wants no result.
            let _ = reply.send(result);
        });
        self.hand_over(task).await?;
        outcome.await.map_err(|_| closed())?
    }

    /// How long a task waits for its turn.
    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Waits for the party's turn, at most as long as `patience`.
    async fn place(&self, party: Party) -> Result<FairPermit<Party>, Error> {
        let place = self.places.acquire(party, 1, Urgency::Question);
        tokio::time::timeout(self.patience, place).await.map_err(|_| too_late())
    }

    /// Queues a task; waits if many are queued.
    async fn hand_over(&self, task: Task) -> Result<(), Error> {
        let queue = self.queue.read().clone().ok_or_else(closed)?;
        hand_over(&queue, task, self.patience).await
    }

    /// Accepts no more tasks and waits for the threads to end.
    pub(super) async fn close(&self) {
        self.queue.write().take();
        // Nothing is ever sent: this returns when every thread has dropped its sender.
        self.ended.lock().await.recv().await;
    }
}

/// Puts a value into a queue. If the queue is full, waits up to `patience` for room.
pub(super) async fn hand_over<T>(
    queue: &mpsc::Sender<T>,
    item: T,
    patience: Duration,
) -> Result<(), Error> {
    match queue.send_timeout(item, patience).await {
        Ok(()) => Ok(()),
        Err(SendTimeoutError::Timeout(_)) => Err(too_late()),
        Err(SendTimeoutError::Closed(_)) => Err(closed()),
    }
}

/// Returns an error if the deadline has passed.
pub(super) fn in_time(deadline: Option<Instant>) -> Result<(), Error> {
    if deadline.is_some_and(|deadline| Instant::now() > deadline) {
        return Err(too_late());
    }
    Ok(())
}

/// The error for work that has waited too long for its turn.
pub(crate) fn too_late() -> Error {
    metrics::counter!("cicerone_database_wait_timeouts_total").increment(1);
    Error::unavailable("no database connection became free in time")
}

/// Starts a named thread.
pub(super) fn spawn(
    name: String,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, OpenError> {
    std::thread::Builder::new().name(name).spawn(body).map_err(OpenError::Thread)
}

/// The error for a database that was closed.
pub(crate) fn closed() -> Error {
    Error::unavailable("the database is closed")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use cicerone_domain::{Id, SystemEntropy};

    use super::Threads;

    #[tokio::test]
    async fn reads_that_never_end_leave_a_thread_to_another_account() {
        let threads =
            std::sync::Arc::new(Threads::start("test", 4, Duration::from_secs(60)).unwrap());
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let (end, wait) = mpsc::channel::<()>();
        let wait = std::sync::Arc::new(parking_lot::Mutex::new(wait));
        let (began, begun) = tokio::sync::mpsc::unbounded_channel();
        let mut begun = begun;
        let reads: Vec<_> = (0..20)
            .map(|_| {
                let (threads, wait, began) = (threads.clone(), wait.clone(), began.clone());
                tokio::spawn(async move {
                    let work = Box::new(move || {
                        began.send(()).unwrap();
                        // An error means that the test has ended.
                        let _ = wait.lock().recv();
                        Ok(())
                    });
                    threads.run(Some(flood), work).await
                })
            })
            .collect();
        for _ in 0..3 {
            begun.recv().await.unwrap();
        }
        threads.run(Some(other), Box::new(|| Ok(()))).await.unwrap();
        threads.run(None, Box::new(|| Ok(()))).await.unwrap();
        assert!(begun.try_recv().is_err(), "the flood has three of the four threads");
        drop(end);
        for read in reads {
            read.await.unwrap().unwrap();
        }
        threads.close().await;
    }
}
