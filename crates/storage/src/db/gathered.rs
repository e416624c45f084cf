//! Changes that are stored together on PostgreSQL.
//!
//! Changes that lock the same row wait for each other, each until the previous one is committed. While changes of one
//! such place are being stored, new ones are gathered, and are stored by the next transaction. A change that arrives
//! alone is stored immediately. Changes of different places never wait for each other here.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Changes, Db, closed, too_late};
use crate::connection::AnyConnection;
use crate::error::TransactionError;

/// Most changes of a transaction.
const CHANGES: usize = 64;
/// The bytes after which a transaction takes no further change.
const BYTES: usize = 256 * 1_024;
/// After so many transactions of a place, other places get the thread.
const TRANSACTIONS: usize = 8;

/// A change that can be stored together with others of its place.
pub(crate) trait Gather: Sized + Send + 'static {
    /// What is known after it was stored.
    type Stored: Send + 'static;

    /// How long it waits for its transaction.
    fn patience(db: &Db) -> Duration {
        db.patience()
    }

    /// The approximate bytes that it stores.
    fn bytes(&self) -> usize;

    /// Stores it.
    fn store(&self, c: &mut AnyConnection) -> Result<Self::Stored, TransactionError>;

    /// Stores changes of one place in their order, with an outcome for each. On an error none is stored.
    fn store_all(
        c: &mut AnyConnection,
        all: &[Self],
    ) -> Result<Vec<Result<Self::Stored, Error>>, TransactionError>;
}

/// Changes that wait, by place. A place has an entry as long as a task stores its changes.
pub(crate) struct Gathered<K, G: Gather>(Mutex<HashMap<K, VecDeque<Waiting<G>>>>);

struct Waiting<G: Gather> {
    change: G,
    since: Instant,
    reply: Reply<G>,
}

type Reply<G> = oneshot::Sender<Result<(G, <G as Gather>::Stored), Error>>;

impl<K, G: Gather> Default for Gathered<K, G> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash + Send + 'static, G: Gather> Gathered<K, G> {
    /// Stores a change, with others of its place if there are any, and returns it with what is known after it was stored.
    /// Once started, it continues even if the caller disconnects. Only if [changes are committed
    /// apart](Db::commits_apart).
    pub(crate) async fn store(
        self: &Arc<Self>,
        db: Db,
        place: K,
        change: G,
    ) -> Result<(G, G::Stored), Error> {
        let (reply, outcome) = oneshot::channel();
        if self.add(place, Waiting { change, since: Instant::now(), reply }) {
            tokio::spawn(store_waiting(db, Arc::clone(self), place));
        }
        outcome.await.map_err(|_| closed())?
    }

    /// Adds a change. Returns true if nothing stores changes of its place: then the caller must start to.
    fn add(&self, place: K, waiting: Waiting<G>) -> bool {
        let mut places = self.0.lock();
        let is_new = !places.contains_key(&place);
        places.entry(place).or_default().push_back(waiting);
        is_new
    }

    /// Whether changes of the place wait. If not, its entry is removed.
    fn are_left(&self, place: K) -> bool {
        let mut places = self.0.lock();
        let are_left = places.get(&place).is_some_and(|waiting| !waiting.is_empty());
        if !are_left {
            places.remove(&place);
        }
        are_left
    }

    /// Takes the changes of a transaction. Those that have waited longer than `patience` are refused.
    fn take(&self, place: K, patience: Duration) -> Vec<Waiting<G>> {
        let mut places = self.0.lock();
        let Some(waiting) = places.get_mut(&place) else { return Vec::new() };
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < CHANGES
            && bytes < BYTES
            && let Some(next) = waiting.pop_front()
        {
            if next.since.elapsed() > patience {
                deliver::<G>(next.reply, Err(too_late()));
                continue;
            }
            bytes += next.change.bytes();
            batch.push(next);
        }
        batch
    }

    /// Refuses the changes that have waited since `until`.
    fn refuse(&self, place: K, until: Instant, error: &Error) {
        let mut places = self.0.lock();
        let Some(waiting) = places.get_mut(&place) else { return };
        while waiting.front().is_some_and(|first| first.since <= until)
            && let Some(first) = waiting.pop_front()
        {
            deliver::<G>(first.reply, Err(Error::unavailable(error.to_string())));
        }
    }
}

/// Delivers an outcome, unless the caller has disconnected.
fn deliver<G: Gather>(reply: Reply<G>, outcome: Result<(G, G::Stored), Error>) {
    let _ = reply.send(outcome);
}

/// Stores the changes of a place until none is waiting.
async fn store_waiting<K: Copy + Eq + Hash + Send + 'static, G: Gather>(
    db: Db,
    gathered: Arc<Gathered<K, G>>,
    place: K,
) {
    let mut entry = Entry { gathered, place, is_there: true };
    loop {
        if !entry.gathered.are_left(place) {
            entry.is_there = false;
            return;
        }
        let (began, patience) = (Instant::now(), G::patience(&db));
        let gathered = Arc::clone(&entry.gathered);
        let replies: Replies<G> = Arc::default();
        let own = Arc::clone(&replies);
        let work = move |changes: &Changes<'_>| {
            for _ in 0..TRANSACTIONS {
                if changes.are_given_up() {
                    return;
                }
                let batch = gathered.take(place, patience);
                if batch.is_empty() {
                    return;
                }
                store_batch(changes, batch, &own);
            }
        };
        if let Err(error) = db.with_changes(work).await {
            refuse::<G>(&replies, || Error::unavailable(error.to_string()));
            entry.gathered.refuse(place, began, &error);
        }
    }
}

/// The callers whose changes are being stored. If the database does not answer, they get an error and are removed from
/// here, so the thread has nobody to answer when it continues.
type Replies<G> = Arc<Mutex<VecDeque<Reply<G>>>>;

/// Stores changes in one transaction. If one of them is refused, each is stored alone.
fn store_batch<G: Gather>(changes: &Changes<'_>, batch: Vec<Waiting<G>>, replies: &Replies<G>) {
    let (all, callers): (Vec<G>, VecDeque<Reply<G>>) =
        batch.into_iter().map(|waiting| (waiting.change, waiting.reply)).unzip();
    *replies.lock() = callers;
    if all.len() == 1 {
        return store_alone(changes, all, replies);
    }
    // A failed commit may have succeeded.
    let mut may_be_stored = false;
    let outcome = changes.write(|c| {
        may_be_stored = false;
        let stored = G::store_all(c, &all)?;
        may_be_stored = true;
        Ok(stored)
    });
    match outcome {
        Ok(stored) => {
            let replies = std::mem::take(&mut *replies.lock());
            for ((change, stored), reply) in all.into_iter().zip(stored).zip(replies) {
                deliver::<G>(reply, stored.map(|stored| (change, stored)));
            }
        }
        Err(Error::Unavailable(cause)) => {
            let cause = cause.to_string();
            refuse::<G>(replies, || Error::unavailable(cause.clone()));
        }
        Err(_) if !may_be_stored => store_alone(changes, all, replies),
        Err(error) => {
            let cause = error.to_string();
            refuse::<G>(replies, || Error::internal(cause.clone()));
        }
    }
}

/// Stores each change in its own transaction. Once the database or the row of the place is unavailable, the rest is refused
/// for the same reason, instead of waiting for it one after the other.
fn store_alone<G: Gather>(changes: &Changes<'_>, all: Vec<G>, replies: &Replies<G>) {
    let mut unavailable: Option<String> = None;
    for change in all {
        let stored = match &unavailable {
            Some(cause) => Err(Error::unavailable(cause.clone())),
            None => changes.write(|c| change.store(c)),
        };
        if let Err(Error::Unavailable(cause)) = &stored {
            unavailable.get_or_insert_with(|| cause.to_string());
        }
        let Some(reply) = replies.lock().pop_front() else { return };
        deliver::<G>(reply, stored.map(|stored| (change, stored)));
    }
}

fn refuse<G: Gather>(replies: &Replies<G>, error: impl Fn() -> Error) {
    let replies = std::mem::take(&mut *replies.lock());
    replies.into_iter().for_each(|reply| deliver::<G>(reply, Err(error())));
}

/// Removes the entry of a place if its task ends early, for whatever reason. Changes that still wait get an error.
struct Entry<K: Copy + Eq + Hash, G: Gather> {
    gathered: Arc<Gathered<K, G>>,
    place: K,
    /// False after it was removed, when another task may have made a new one.
    is_there: bool,
}

impl<K: Copy + Eq + Hash, G: Gather> Drop for Entry<K, G> {
    fn drop(&mut self) {
        if self.is_there {
            self.gathered.0.lock().remove(&self.place);
        }
    }
}
