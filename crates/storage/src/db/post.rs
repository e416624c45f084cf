//! The task of a thread, kept where another thread can end it if the database does not answer.
//!
//! A PostgreSQL server ends statements that take too long. If it does not even do that (it is suspended, or something
//! between here and there holds the bytes back), libpq waits without limit, and nothing can be done to its connection
//! from outside. Then the thread is given up: its caller gets an error, and its place among the threads and in the pool
//! goes to others. It ends when the server answers or its connection ends. As no connection can be made to a server that
//! does not answer, no more threads are given up at a time than the pool has places.

use std::time::Duration;

use cicerone_domain::Error;
use cicerone_domain::fairness::FairPermit;
use parking_lot::Mutex;
use r2d2::PooledConnection;
use tokio::sync::{mpsc, oneshot};

use super::{Party, TIMEOUTS};
use crate::connection::{AnyConnection, Manager};

/// How often threads are looked at. Time is counted in looks, so that work is not overdue because this process was
/// suspended.
pub(super) const LOOK: Duration = Duration::from_millis(500);
/// How much longer than its time limit work may take at a server that does not end it.
const GRACE: Duration = Duration::from_secs(5);

/// The post of one thread.
#[derive(Default)]
pub(super) struct Post(Mutex<Option<InHand>>);

/// A task that has begun. The thread that removes it from the post sends the reply.
pub(super) struct InHand {
    pub(super) reply: oneshot::Sender<Result<(), Error>>,
    pub(super) place: FairPermit<Party>,
    /// Closing the threads waits for it.
    pub(super) alive: mpsc::Sender<()>,
    lent: Option<Lent>,
}

/// The place of a connection in the pool while the thread works with the connection.
struct Lent {
    pooled: PooledConnection<Manager>,
    door: &'static str,
    looks_left: u128,
}

impl InHand {
    pub(super) fn new(
        reply: oneshot::Sender<Result<(), Error>>,
        place: FairPermit<Party>,
        alive: mpsc::Sender<()>,
    ) -> Self {
        Self { reply, place, alive, lent: None }
    }
}

impl Post {
    pub(super) fn begin(&self, task: InHand) {
        *self.0.lock() = Some(task);
    }

    /// The task, if the thread was not given up.
    pub(super) fn end(&self) -> Option<InHand> {
        self.0.lock().take()
    }

    /// Whether the thread was given up. Its result is discarded.
    pub(super) fn is_given_up(&self) -> bool {
        self.0.lock().is_none()
    }

    /// Runs `work`, which may take `limit`, with the connection of a place of the pool. Returns the place with its
    /// connection, or `None` if the thread was given up meanwhile.
    pub(super) fn with<T>(
        &self,
        mut pooled: PooledConnection<Manager>,
        (door, limit): (&'static str, Duration),
        work: impl FnOnce(&mut AnyConnection) -> T,
    ) -> Option<(T, PooledConnection<Manager>)> {
        let mut connection = pooled.connection.take()?;
        let looks_left = limit.saturating_add(GRACE).as_millis().div_ceil(LOOK.as_millis());
        self.0.lock().as_mut()?.lent = Some(Lent { pooled, door, looks_left });
        let outcome = work(&mut connection);
        let mut pooled = self.0.lock().as_mut()?.lent.take()?.pooled;
        pooled.connection = Some(connection);
        Some((outcome, pooled))
    }

    /// Counts a look, and gives the thread up if its time at the database is over. Returns the guard that its successor
    /// needs.
    pub(super) fn look(&self) -> Option<mpsc::Sender<()>> {
        let mut post = self.0.lock();
        let lent = post.as_mut()?.lent.as_mut()?;
        if lent.looks_left > 0 {
            lent.looks_left -= 1;
            return None;
        }
        let door = lent.door;
        let InHand { reply, alive, .. } = post.take()?;
        metrics::counter!(TIMEOUTS, "door" => door).increment(1);
        tracing::warn!(door, "the database does not answer; a connection to it was given up");
        // A caller that went away needs no answer.
        let _ = reply.send(Err(Error::unavailable("the database does not answer")));
        Some(alive)
    }
}
