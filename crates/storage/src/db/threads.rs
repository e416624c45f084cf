//! A few threads for work that blocks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use parking_lot::{Mutex, RwLock};
use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::{mpsc, oneshot};

use super::Party;
use super::post::{InHand, LOOK, Post};
use crate::error::OpenError;

/// Tasks that may wait for a thread. If there are more, callers wait to hand theirs over.
const QUEUE: usize = 1_024;

/// What a task does, with the post of its thread.
pub(super) type Blocking = Box<dyn FnOnce(&Post) -> Result<(), Error> + Send>;

/// A task in the queue.
struct Task {
    /// When it must have begun.
    deadline: Option<Instant>,
    work: Blocking,
    reply: oneshot::Sender<Result<(), Error>>,
    place: FairPermit<Party>,
}

/// The end of the queue from which the threads take tasks.
type Tasks = Arc<Mutex<mpsc::Receiver<Task>>>;

/// Threads that take tasks from one queue.
pub(super) struct Threads {
    queue: RwLock<Option<mpsc::Sender<Task>>>,
    /// Closed after the last thread has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    patience: Duration,
    /// Permits for tasks that run or are about to. A fourth of the threads is reserved for parties
    /// that use less than their share of the others.
    places: FairPool<Party>,
    /// Dropped with this: then the thread that watches the others ends.
    _watch: std::sync::mpsc::Sender<()>,
}

impl Threads {
    /// Starts `count` threads, which parties share. A task that has waited longer than `patience`
    /// is refused: if the database is out of reach, requests would only pile up. If they `are_watched`, a thread whose
    /// connection does not answer in time is replaced.
    pub(super) fn start(
        name: &'static str,
        count: u32,
        patience: Duration,
        are_watched: bool,
    ) -> Result<Self, OpenError> {
        let (queue, tasks) = mpsc::channel::<Task>(QUEUE);
        let (alive, ended) = mpsc::channel(1);
        let (watch, unwatched) = std::sync::mpsc::channel();
        let tasks = Arc::new(Mutex::new(tasks));
        let count = count.max(1);
        let posts: Result<Vec<_>, _> =
            (0..count).map(|number| post(name, number, &tasks, alive.clone())).collect();
        let posts = posts?;
        if are_watched {
            spawn(format!("{name}-watch"), move || watch_over(name, posts, &tasks, &unwatched))?;
        }
        let queue = RwLock::new(Some(queue));
        let reserve = if count > 1 { count.div_ceil(4) } else { 0 };
        let places = FairPool::new(u64::from(count - reserve), u64::from(reserve));
        let ended = tokio::sync::Mutex::new(ended);
        Ok(Self { queue, ended, patience, places, _watch: watch })
    }

    /// Runs `work` on one of the threads when it is the party's turn. Once begun it continues, even
    /// if the caller goes away.
    pub(super) async fn run(&self, party: Party, work: Blocking) -> Result<(), Error> {
        let (reply, outcome) = oneshot::channel();
        let deadline = Instant::now().checked_add(self.patience);
        let place = self.place(party).await?;
        self.hand_over(Task { deadline, work, reply, place }).await?;
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

/// Starts a thread, and returns its post. It drops `alive` when it ends.
fn post(
    name: &str,
    number: u32,
    tasks: &Tasks,
    alive: mpsc::Sender<()>,
) -> Result<Arc<Post>, OpenError> {
    let post = Arc::new(Post::default());
    let (own, tasks) = (Arc::clone(&post), Arc::clone(tasks));
    spawn(format!("{name}-{number}"), move || take_turns(&own, &tasks, alive))?;
    Ok(post)
}

/// The body of a thread.
fn take_turns(post: &Post, tasks: &Tasks, mut alive: mpsc::Sender<()>) {
    loop {
        // The lock is held while waiting, so that the threads take turns at the head of the queue.
        let task = tasks.lock().blocking_recv();
        let Some(Task { deadline, work, reply, place }) = task else { return };
        post.begin(InHand::new(reply, place, alive));
        let result = in_time(deadline).and_then(|()| unwound(|| work(post)));
        // If this thread was given up, another one has replaced it.
        let Some(InHand { reply, place: _place, alive: own, .. }) = post.end() else { return };
        alive = own;
        // A caller that went away wants no result.
        let _ = reply.send(result);
    }
}

/// Turns a panic into an error, so that the caller gets an answer and the thread survives. Work on a connection is guarded
/// where the connection is.
fn unwound(work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::internal("a panic in work at the database")))
}

/// The body of the thread that replaces the others if they do not come back from the database. Ends when the other end of
/// `unwatched` is dropped.
fn watch_over(
    name: &str,
    mut posts: Vec<Arc<Post>>,
    tasks: &Tasks,
    unwatched: &std::sync::mpsc::Receiver<()>,
) {
    while unwatched.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        for (number, place) in (0..).zip(&mut posts) {
            let Some(alive) = place.look() else { continue };
            match post(name, number, tasks, alive) {
                Ok(successor) => *place = successor,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(
                        error,
                        "a database thread did not answer and could not be replaced"
                    );
                }
            }
        }
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

    use super::{Post, Threads};

    #[tokio::test]
    async fn reads_that_never_end_leave_a_thread_to_another_account() {
        let threads =
            std::sync::Arc::new(Threads::start("test", 4, Duration::from_secs(60), false).unwrap());
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let (end, wait) = mpsc::channel::<()>();
        let wait = std::sync::Arc::new(parking_lot::Mutex::new(wait));
        let (began, begun) = tokio::sync::mpsc::unbounded_channel();
        let mut begun = begun;
        let reads: Vec<_> = (0..20)
            .map(|_| {
                let (threads, wait, began) = (threads.clone(), wait.clone(), began.clone());
                tokio::spawn(async move {
                    let work = Box::new(move |_: &Post| {
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
        threads.run(Some(other), Box::new(|_| Ok(()))).await.unwrap();
        threads.run(None, Box::new(|_| Ok(()))).await.unwrap();
        assert!(begun.try_recv().is_err(), "the flood has three of the four threads");
        drop(end);
        for read in reads {
            read.await.unwrap().unwrap();
        }
        threads.close().await;
    }
}
