//! How fast replies of an account are completed, and when further ones would take too long.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::id::{Id, kind};

/// The number of replies of an account that may always be in progress.
const ALWAYS: u32 = 64;
/// The shortest time over which the pace is measured.
const WINDOW: Duration = Duration::from_millis(100);
/// How long after a refusal others are expected.
const REFUSING: Duration = Duration::from_secs(1);
/// While an account sends more than the server can answer, its accepted replies may take this fraction of the longest
/// wait: most of its messages are refused either way, and the fewer wait, the sooner each is answered. Callers who send
/// a message only after the last reply are not refused, as long as the whole wait is enough for them.
const SHARE_WHILE_FLOODED: u32 = 40;

/// Refuses replies for which the server would need too long, from the pace of those before: by Little's law, one that
/// begins takes about as long as those in progress take to be done one after the other. Time in which a reply waits for
/// another machine does not count, because it does not load this one.
#[derive(Debug, Clone)]
pub(super) struct Paces {
    longest_wait: Duration,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Of the accounts with replies in progress.
    accounts: HashMap<Id<kind::Account>, Pace>,
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
}

/// A reply in progress, until this is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    paces: Paces,
    account: Id<kind::Account>,
    is_counted: bool,
}

impl Paces {
    /// Refuses replies that would take longer than this.
    pub(super) fn new(longest_wait: Duration) -> Self {
        Self { longest_wait, state: Arc::default() }
    }

    /// Begins a reply, unless it would be done too late.
    pub(super) fn begin(&self, account: Id<kind::Account>) -> Option<Progress> {
        let mut state = self.lock();
        let pace = state.accounts.entry(account).or_default();
        let now = Instant::now();
        if pace.is_slower_than(pace.bound(self.longest_wait, now)) {
            pace.refuse(pace.is_slower_than(self.longest_wait).then_some(now));
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
        if !is_recent(state.refused, now) {
            state.forget(now);
        }
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

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent after every statement, even if a thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets accounts whose floods are over and that have no replies in progress.
    fn forget(&mut self, now: Instant) {
        self.accounts.retain(|_, pace| pace.in_progress > 0 || is_recent(pace.flooded, now));
    }
}

/// Whether further refusals are expected after one at this time.
fn is_recent(refused: Option<Instant>, now: Instant) -> bool {
    refused.is_some_and(|last| now.saturating_duration_since(last) < REFUSING)
}

impl Pace {
    /// How long replies may take now.
    fn bound(&self, longest: Duration, now: Instant) -> Duration {
        if is_recent(self.flooded, now) { longest / SHARE_WHILE_FLOODED } else { longest }
    }

    /// Counts a refusal. `flooded` is its time, if even the longest wait or the number of replies in progress was
    /// exceeded. Other refusals prolong a flood only if they are many, so that after a burst, callers who wait for
    /// their replies soon have the whole wait again.
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
            if self.refused > self.done / 2 && self.flooded.is_some() {
                self.flooded = Some(now);
            }
            let between = if self.most < ALWAYS { Duration::ZERO } else { window / self.done };
            self.between = [between, self.between[0]];
            self.since = Some(now);
            self.most = self.in_progress;
            self.done = 0;
            self.refused = 0;
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
        let mut state = self.paces.lock();
        let Some(pace) = state.accounts.get_mut(&self.account) else { return };
        pace.leave(done);
        // During a flood, all accepted replies are often stored at the same moment.
        if pace.in_progress == 0 && !is_recent(pace.flooded, Instant::now()) {
            state.accounts.remove(&self.account);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.leave(None);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::{Duration, Instant};

    use super::{ALWAYS, Pace, Paces, REFUSING, SHARE_WHILE_FLOODED, WINDOW};
    use crate::clock::SystemEntropy;
    use crate::id::Id;

    const LONGEST: Duration = Duration::from_millis(100);
    const EACH: Duration = Duration::from_millis(1);

    #[test]
    fn replies_that_would_come_too_late_are_refused() {
        let mut pace = Pace { in_progress: 600, ..Pace::default() };
        let mut now = Instant::now();
        let mut end = |pace: &mut Pace, count: u32, each: Duration| {
            for _ in 0..count {
                now += each;
                pace.leave(Some(now));
            }
        };
        end(&mut pace, 200, EACH);
        assert!(!pace.is_slower_than(LONGEST), "too little is known yet: {pace:?}");
        end(&mut pace, 1, EACH);
        assert!(pace.is_slower_than(LONGEST), "{pace:?}");
        end(&mut pace, 298, EACH);
        assert!(pace.is_slower_than(LONGEST), "{pace:?}");
        end(&mut pace, 2, EACH);
        assert!(!pace.is_slower_than(LONGEST), "{pace:?}");
    }

    #[test]
    fn interruptions_and_few_replies_are_no_overload() {
        let mut pace = Pace { in_progress: 500, ..Pace::default() };
        let mut now = Instant::now();
        for interruption in [15, 150, 1_500] {
            for each in [EACH * interruption].into_iter().chain([EACH / 10; 2_500]) {
                now += each;
                pace.leave(Some(now));
                pace.in_progress = 500;
                assert!(!pace.is_slower_than(LONGEST), "{pace:?}");
            }
        }
        for _ in 0..5 {
            now += Duration::from_secs(1);
            pace.leave(Some(now));
        }
        pace.in_progress = ALWAYS - 1;
        assert!(!pace.is_slower_than(LONGEST), "{pace:?}");
        pace.in_progress = ALWAYS;
        assert!(pace.is_slower_than(LONGEST), "{pace:?}");
    }

    #[test]
    fn how_fast_few_replies_are_done_says_nothing_about_many() {
        let mut pace = Pace { in_progress: ALWAYS - 1, ..Pace::default() };
        let mut now = Instant::now();
        let mut end = |pace: &mut Pace| {
            now += EACH * 60;
            let in_progress = pace.in_progress;
            pace.leave(Some(now));
            pace.in_progress = in_progress;
        };
        (0..20).for_each(|_| end(&mut pace));
        pace.in_progress = 500;
        assert!(!pace.is_slower_than(LONGEST), "nothing is known of many: {pace:?}");
        (0..5).for_each(|_| end(&mut pace));
        assert!(pace.is_slower_than(LONGEST), "{pace:?}");
    }

    #[test]
    fn the_last_reply_of_an_account_changes_nothing_for_others() {
        let paces = Paces::new(LONGEST);
        let [one, other] = [(); 2].map(|()| Id::random(&SystemEntropy));
        let (reply, _other) = (paces.begin(one).unwrap(), paces.begin(other).unwrap());
        reply.end();
        let state = paces.lock();
        assert!(!state.accounts.contains_key(&one));
        assert_eq!(state.accounts.get(&other).map(|pace| pace.in_progress), Some(1));
    }

    #[test]
    fn a_reply_counts_until_it_ends_unless_it_waits_for_another_machine() {
        let (paces, account) = (Paces::new(LONGEST), Id::random(&SystemEntropy));
        let in_progress = || paces.lock().accounts.get(&account).map(|pace| pace.in_progress);
        let mut first = paces.begin(account).unwrap();
        let second = paces.begin(account).unwrap();
        assert_eq!(in_progress(), Some(2));
        {
            let mut waits = pin!(first.elsewhere(std::future::pending::<()>()));
            let mut context = Context::from_waker(Waker::noop());
            assert!(waits.as_mut().poll(&mut context).is_pending());
            assert_eq!(in_progress(), Some(1));
        }
        drop(first);
        assert_eq!(in_progress(), Some(1));
        second.end();
        assert_eq!(in_progress(), None);
    }

    #[test]
    fn while_an_account_sends_too_much_its_accepted_replies_are_few() {
        let (paces, accounts) = (Paces::new(LONGEST), [(); 2].map(|()| Id::random(&SystemEntropy)));
        let pace = || Pace { in_progress: 80, between: [EACH; 2], ..Pace::default() };
        paces.lock().accounts.extend(accounts.map(|account| (account, pace())));
        let [flooding, other] = accounts;
        assert!(paces.begin(flooding).is_some(), "80 replies take 80 ms of 100");
        paces.refuse(flooding);
        assert!(paces.begin(flooding).is_none(), "80 replies take 80 ms of 2.5");
        assert!(paces.begin(other).is_some(), "the other account does not send too much");
    }

    #[test]
    fn a_flood_is_remembered_while_no_reply_is_in_progress() {
        let (paces, account) = (Paces::new(LONGEST), Id::random(&SystemEntropy));
        let reply = paces.begin(account).unwrap();
        paces.refuse(account);
        reply.end();
        let is_known = || paces.lock().accounts.contains_key(&account);
        assert!(is_known());
        paces.lock().forget(Instant::now());
        assert!(is_known());
        paces.lock().forget(Instant::now() + REFUSING);
        assert!(!is_known());
    }

    #[test]
    fn a_flood_lasts_while_many_are_refused() {
        let begin = Instant::now();
        let mut pace = Pace { in_progress: 500, since: Some(begin), ..Pace::default() };
        pace.refuse(Some(begin));
        let mut window = |now: Instant, refused: u32| {
            (pace.done, pace.refused) = (99, refused);
            pace.leave(Some(now));
            pace.bound(LONGEST, now)
        };
        let mut now = begin;
        for _ in 0..30 {
            now += WINDOW;
            assert_eq!(window(now, 300), LONGEST / SHARE_WHILE_FLOODED);
        }
        for _ in 0..9 {
            now += WINDOW;
            assert_eq!(window(now, 3), LONGEST / SHARE_WHILE_FLOODED);
        }
        assert_eq!(window(now + WINDOW, 3), LONGEST);
    }

    #[test]
    fn refusals_are_remembered_for_a_while_and_concern_one_account() {
        let (paces, account) = (Paces::new(LONGEST), Id::random(&SystemEntropy));
        assert!(!paces.is_refusing());
        let pace = Pace { in_progress: 600, between: [EACH; 2], ..Pace::default() };
        paces.lock().accounts.insert(account, pace);
        assert!(paces.begin(account).is_none());
        assert!(paces.is_refusing());
        assert!(paces.begin(Id::random(&SystemEntropy)).is_some());
    }
}
