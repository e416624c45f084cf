//! How fast replies of an account are completed, and when further ones would take too long.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::id::{Id, kind};

/// The number of replies of an account that may always be in progress.
const ALWAYS: u32 = 64;
/// The shortest time over which the pace is measured.
const WINDOW: Duration = Duration::from_millis(100);
/// How long a flood lasts after its account was last seen to send more than the server can answer.
const FLOODED: Duration = Duration::from_secs(1);
/// At most this many replies per thread, or [`ALWAYS`] if that is more, may be in progress for the accounts that send
/// more than the server can answer. Each of them gets an equal part. Most of their messages are refused either way, and
/// the fewer wait, the sooner each is answered. Outside of a flood, callers who send a message only after the last reply
/// are not refused, as long as the longest wait is enough for them.
const REPLIES_PER_THREAD_WHILE_FLOODED: u32 = 32;
/// How many refusals per second and thread are answered to these accounts together. Callers who ignore `Retry-After` send the
/// next message as soon as they have the answer, and each message has to be read before it can be refused.
const REFUSALS_PER_THREAD: u32 = 4_000;
/// The longest time after which a refusal is answered.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// Refuses replies for which the server would need too long, from the pace of those before: by Little's law, one that
/// begins takes about as long as those in progress take to be done one after the other. Time in which a reply waits for
/// another machine does not count, because it does not load this one.
#[derive(Debug, Clone)]
pub(super) struct Paces {
    longest_wait: Duration,
    /// Threads that read and refuse messages.
    threads: u32,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Of the accounts with replies in progress, held refusals or a flood.
    accounts: HashMap<Id<kind::Account>, Pace>,
    /// When accounts whose floods are over were last removed.
    tidied: Option<Instant>,
    /// The number of accounts with held refusals.
    holding: u32,
    /// When a reply was last refused.
    refused: Option<Instant>,
}

#[derive(Debug, Default)]
struct Pace {
    in_progress: u32,
    /// The mean time from one reply to the next in the last window of at least [`WINDOW`], and in the one before it. Zero
    /// if it says nothing about what the server can do: there was no such window, or fewer than [`ALWAYS`] replies were in
    /// progress in it.
    between: [Duration; 2],
    /// When the current window began.
    since: Option<Instant>,
    /// The most replies that were in progress in it at once.
    most: u32,
    /// Replies that were done in it.
    done: u32,
    /// Replies that were refused in it.
    refused: u32,
    /// When the account was last seen to send more than the server can answer.
    flooded: Option<Instant>,
    /// Refusals that have not been answered yet.
    held: u32,
    /// The fewest of them in the current window.
    fewest_held: u32,
}

/// A refusal that counts as unanswered until this is dropped.
#[derive(Debug)]
pub struct HeldRefusal {
    paces: Paces,
    account: Id<kind::Account>,
    wait: Duration,
}

/// A reply in progress, until this is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    paces: Paces,
    account: Id<kind::Account>,
    is_counted: bool,
}

impl Paces {
    /// Refuses replies that would take longer than `longest_wait`, on a server that reads messages with `threads`.
    pub(super) fn new(longest_wait: Duration, threads: usize) -> Self {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX).max(1);
        Self { longest_wait, threads, state: Arc::default() }
    }

    /// Begins a reply, unless it would be done too late.
    pub(super) fn begin(&self, account: Id<kind::Account>) -> Option<Progress> {
        let mut state = self.lock();
        let most_while_flooded = self.most_while_flooded(state.holding);
        let pace = state.accounts.entry(account).or_default();
        let now = Instant::now();
        let is_too_slow = pace.is_slower_than(self.longest_wait);
        if is_too_slow || (pace.is_flooded(now) && pace.in_progress >= most_while_flooded) {
            pace.refuse(is_too_slow.then_some(now));
            state.refused = Some(now);
            return None;
        }
        pace.in_progress += 1;
        Some(Progress { paces: self.clone(), account, is_counted: true })
    }

    /// Notes that a reply was refused because too many are in progress.
    pub(super) fn refuse(&self, account: Id<kind::Account>) {
        let mut state = self.lock();
        let now = Instant::now();
        state.tidy(now);
        state.refused = Some(now);
        // Without replies in progress there is nothing that could be kept quick.
        if let Some(pace) = state.accounts.get_mut(&account) {
            pace.refuse(Some(now));
        }
    }

    /// Whether replies have been refused within the last second.
    pub(super) fn is_refusing(&self) -> bool {
        is_recent(self.lock().refused, Instant::now())
    }

    /// Holds the answer to a refused reply, if the account sends more than the server can answer.
    pub(super) fn hold(&self, account: Id<kind::Account>) -> Option<HeldRefusal> {
        let mut state = self.lock();
        let now = Instant::now();
        state.tidy(now);
        let State { accounts, holding, .. } = &mut *state;
        let pace = accounts.get_mut(&account).filter(|pace| pace.is_flooded(now))?;
        *holding += u32::from(pace.held == 0);
        pace.held += 1;
        // Each account has the same share of the rate.
        let before = pace.held.saturating_mul(*holding);
        let rate = REFUSALS_PER_THREAD.saturating_mul(self.threads);
        let wait = (Duration::from_secs(1) * before / rate).min(LONGEST_HOLD);
        Some(HeldRefusal { paces: self.clone(), account, wait })
    }

    /// The most replies in progress for each of the `accounts` that send more than the server can answer.
    fn most_while_flooded(&self, accounts: u32) -> u32 {
        let most = REPLIES_PER_THREAD_WHILE_FLOODED.saturating_mul(self.threads).max(ALWAYS);
        most.div_ceil(accounts.max(1))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement, even if a thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes accounts whose floods are over, from time to time.
    fn tidy(&mut self, now: Instant) {
        if self.tidied.is_none_or(|last| now.saturating_duration_since(last) >= FLOODED) {
            self.accounts.retain(|_, pace| pace.is_in_use(now));
            self.tidied = Some(now);
        }
    }

    /// Changes what is known of an account, and removes it if nothing of it is needed any more.
    fn change(&mut self, account: Id<kind::Account>, change: impl FnOnce(&mut Pace)) {
        if let Entry::Occupied(mut entry) = self.accounts.entry(account) {
            change(entry.get_mut());
            if !entry.get().is_in_use(Instant::now()) {
                entry.remove();
            }
        }
    }
}

/// Whether this happened within the last second, so that more of it is expected.
fn is_recent(time: Option<Instant>, now: Instant) -> bool {
    time.is_some_and(|last| now.saturating_duration_since(last) < FLOODED)
}

impl Pace {
    /// Whether the account sends more than the server can answer.
    fn is_flooded(&self, now: Instant) -> bool {
        is_recent(self.flooded, now)
    }

    /// Whether something about the account is still needed. That of a flood is, even if no reply is in progress: all
    /// accepted replies are often stored at the same moment.
    fn is_in_use(&self, now: Instant) -> bool {
        self.in_progress > 0 || self.held > 0 || self.is_flooded(now)
    }

    /// Counts a refusal. `flooded` is its time, if even the longest wait or the number of replies in progress was
    /// exceeded. Other refusals prolong a flood only if they are many or if many callers always wait for one, so that after
    /// a burst, callers who wait for their replies soon have the whole wait again.
    fn refuse(&mut self, flooded: Option<Instant>) {
        self.refused += 1;
        self.flooded = flooded.or(self.flooded);
    }

    /// Whether those in progress take longer than this at the better pace of the last two windows. An interruption, such
    /// as a commit that waits for the disk or a machine that stands still, is not an overload: a window ends with a reply, so
    /// even a long one slows only one window.
    fn is_slower_than(&self, longest: Duration) -> bool {
        let [last, before] = self.between;
        let between = last.min(before);
        self.in_progress >= ALWAYS && between.saturating_mul(self.in_progress) > longest
    }

    /// Counts one reply in progress less. `done` is when it was completed; `None` if it was not.
    fn leave(&mut self, done: Option<Instant>) {
        self.most = self.most.max(self.in_progress);
        self.in_progress = self.in_progress.saturating_sub(1);
        let Some(now) = done else { return };
        let window = now.saturating_duration_since(*self.since.get_or_insert(now));
        self.done += 1;
        if window >= WINDOW {
            // Callers who ignore `Retry-After` always wait for a refusal; those who come back later do not.
            let is_flood = self.refused > self.done / 2 || self.fewest_held >= ALWAYS;
            if is_flood && self.is_flooded(now) {
                self.flooded = Some(now);
            }
            let between = if self.most < ALWAYS { Duration::ZERO } else { window / self.done };
            self.between = [between, self.between[0]];
            self.since = Some(now);
            self.most = self.in_progress;
            self.done = 0;
            self.refused = 0;
            self.fewest_held = self.held;
        }
    }
}

impl Progress {
    /// Waits for another machine.
    pub(super) async fn elsewhere<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.leave(None);
        let outcome = work.await;
        self.paces.lock().accounts.entry(self.account).or_default().in_progress += 1;
        self.is_counted = true;
        outcome
    }

    /// The reply is done.
    pub(super) fn end(mut self) {
        self.leave(Some(Instant::now()));
    }

    fn leave(&mut self, done: Option<Instant>) {
        if !std::mem::take(&mut self.is_counted) {
            return;
        }
        self.paces.lock().change(self.account, |pace| pace.leave(done));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.leave(None);
    }
}

impl HeldRefusal {
    /// The time until the refusal should be answered, at most a second.
    pub fn wait(&self) -> Duration {
        self.wait
    }
}

impl Drop for HeldRefusal {
    fn drop(&mut self) {
        let mut state = self.paces.lock();
        let mut is_last = false;
        state.change(self.account, |pace| {
            pace.held = pace.held.saturating_sub(1);
            pace.fewest_held = pace.fewest_held.min(pace.held);
            is_last = pace.held == 0;
        });
        state.holding = state.holding.saturating_sub(u32::from(is_last));
    }
}
