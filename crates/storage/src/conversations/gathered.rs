//! Turns that are stored together on PostgreSQL.
//!
//! Turns of one account wait for each other at the rows that count its usage, each until the previous one is committed.
//! While turns of an account are being stored, new ones are gathered, and are stored by the next transaction. A turn
//! that arrives alone is stored immediately. Turns of different accounts never wait for each other here.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::conversation::Turn;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::turn::{self, Rows, Stored};
use crate::connection::AnyConnection;
use crate::db::{Changes, Db, closed, too_late};
use crate::storage::Storage;
use crate::usage::Counted;

/// Most turns of a transaction.
const TURNS: usize = 64;
/// The bytes of texts after which a transaction takes no further turn.
const BYTES: usize = 256 * 1_024;
/// Transactions after which an account takes its turn at the threads again.
const TRANSACTIONS: usize = 8;

/// The turns that wait, by account. An account has an entry as long as a task stores its turns.
#[derive(Default)]
pub(crate) struct GatheredTurns(Mutex<HashMap<Id<kind::Account>, VecDeque<Waiting>>>);

struct Waiting {
    turn: Turn,
    since: Instant,
    reply: oneshot::Sender<Result<Turn, Error>>,
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.turn.question.content.len() + self.turn.reply.content.len()
    }

    /// Delivers the outcome, unless the caller has disconnected.
    fn deliver(self, outcome: Result<Turn, Error>) {
        let _ = self.reply.send(outcome);
    }
}

impl Storage {
    /// Stores a turn.
    pub(super) async fn append(
        &self,
        turn: Turn,
        completion: Option<Completion<Turn>>,
    ) -> Result<Turn, Error> {
        if completion.is_none() && self.db.commits_apart() && turn::can_be_gathered(&turn) {
            return self.append_gathered(turn).await;
        }
        let (account, counted) = (turn.conversation.account_id, Counted::of(&turn));
        let rows = if self.db.commits_apart() { None } else { Some(Rows::of(&turn)?) };
        let turn = Arc::new(turn);
        let whole = Arc::clone(&turn);
        let completion = completion.map(|completion| {
            completion.over(move |stored: &Stored| stored.of(Turn::clone(&whole)))
        });
        let to_store = Arc::clone(&turn);
        let append = move |c: &mut AnyConnection| match &rows {
            Some(rows) => turn::append_rows(c, &to_store, rows),
            None => turn::append(c, &to_store),
        };
        let stored = self.db.of(account).write_turn(counted, completion, append).await?;
        // The work is done, and has been dropped.
        Ok(stored.of(Arc::unwrap_or_clone(turn)))
    }

    /// Stores a turn, with others of its account if there are any. Once started, it continues even if the caller
    /// disconnects.
    async fn append_gathered(&self, turn: Turn) -> Result<Turn, Error> {
        let account = turn.conversation.account_id;
        let (reply, outcome) = oneshot::channel();
        if self.gathered.add(account, Waiting { turn, since: Instant::now(), reply }) {
            tokio::spawn(store_all(self.db.of(account), Arc::clone(&self.gathered), account));
        }
        outcome.await.map_err(|_| closed())?
    }
}

/// Stores the turns of an account until none is waiting.
async fn store_all(db: Db, gathered: Arc<GatheredTurns>, account: Id<kind::Account>) {
    let mut entry = Entry { gathered, account, is_there: true };
    loop {
        if !entry.gathered.are_left(account) {
            entry.is_there = false;
            return;
        }
        let (began, patience) = (Instant::now(), db.patience());
        let gathered = Arc::clone(&entry.gathered);
        let work = move |changes: &Changes| {
            for _ in 0..TRANSACTIONS {
                let batch = gathered.take(account, patience);
                if batch.is_empty() {
                    return;
                }
                store(changes, batch);
            }
        };
        if let Err(error) = db.with_changes(work).await {
            entry.gathered.refuse(account, began, &error);
        }
    }
}

/// Stores turns in one transaction. If one of them is refused, each is stored alone.
fn store(changes: &Changes, batch: Vec<Waiting>) {
    if batch.len() == 1 {
        return store_alone(changes, batch);
    }
    let turns: Vec<Turn> = batch.iter().map(|waiting| waiting.turn.clone()).collect();
    // Whether the transaction was rolled back. A failed commit may have succeeded.
    let mut is_rolled_back = false;
    let outcome = changes.write(|c| {
        let stored = turn::append_all(c, &turns);
        is_rolled_back = stored.is_err();
        stored
    });
    match outcome {
        Ok(stored) => {
            batch.into_iter().zip(stored).for_each(|(waiting, turn)| waiting.deliver(turn));
        }
        Err(Error::Unavailable(cause)) => {
            let cause = cause.to_string();
            refuse(batch, || Error::unavailable(cause.clone()));
        }
        Err(_) if is_rolled_back => store_alone(changes, batch),
        Err(error) => {
            let cause = error.to_string();
            refuse(batch, || Error::internal(cause.clone()));
        }
    }
}

/// Stores each turn in its own transaction.
fn store_alone(changes: &Changes, batch: Vec<Waiting>) {
    for waiting in batch {
        let Waiting { turn, since: _, reply } = waiting;
        let stored = changes.write(|c| turn::append(c, &turn));
        // The caller may have disconnected.
        let _ = reply.send(stored.map(|stored| stored.of(turn)));
    }
}

fn refuse(batch: Vec<Waiting>, error: impl Fn() -> Error) {
    batch.into_iter().for_each(|waiting| waiting.deliver(Err(error())));
}

impl GatheredTurns {
    /// Adds a turn. Returns true if nothing stores turns of its account: then the caller has to see to it.
    fn add(&self, account: Id<kind::Account>, waiting: Waiting) -> bool {
        let mut accounts = self.0.lock();
        let is_new = !accounts.contains_key(&account);
        accounts.entry(account).or_default().push_back(waiting);
        is_new
    }

    /// Whether turns of the account wait. If not, its entry is removed.
    fn are_left(&self, account: Id<kind::Account>) -> bool {
        let mut accounts = self.0.lock();
        let are_left = accounts.get(&account).is_some_and(|waiting| !waiting.is_empty());
        if !are_left {
            accounts.remove(&account);
        }
        are_left
    }

    /// Takes the turns of a transaction. Those that have waited longer than `patience` are refused.
    fn take(&self, account: Id<kind::Account>, patience: Duration) -> Vec<Waiting> {
        let mut accounts = self.0.lock();
        let Some(waiting) = accounts.get_mut(&account) else { return Vec::new() };
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < TURNS
            && bytes < BYTES
            && let Some(next) = waiting.pop_front()
        {
            if next.since.elapsed() > patience {
                next.deliver(Err(too_late()));
                continue;
            }
            bytes += next.bytes();
            batch.push(next);
        }
        batch
    }

    /// Refuses the turns that have waited since `until`.
    fn refuse(&self, account: Id<kind::Account>, until: Instant, error: &Error) {
        let mut accounts = self.0.lock();
        let Some(waiting) = accounts.get_mut(&account) else { return };
        while waiting.front().is_some_and(|first| first.since <= until)
            && let Some(first) = waiting.pop_front()
        {
            first.deliver(Err(Error::unavailable(error.to_string())));
        }
    }
}

/// Removes the entry of an account if its task ends early, for whatever reason. Turns that still wait get an error.
struct Entry {
    gathered: Arc<GatheredTurns>,
    account: Id<kind::Account>,
    /// False after it was removed, when another task may have made a new one.
    is_there: bool,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.is_there {
            self.gathered.0.lock().remove(&self.account);
        }
    }
}
