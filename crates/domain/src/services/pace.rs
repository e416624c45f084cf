//! How fast replies of an account are completed, and when further ones would take too long.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::id::{Id, kind};

/// The number of replies of an account that may always be in progress.
const ALWAYS: u32 = 64;
/// The shortest time over which the pace is measured.
const WINDOW: Duration = Duration::from_millis(100);
/// How long an account is expected to send too much after it was last seen to.
const FLOODED: Duration = Duration::from_secs(1);
/// In a flood, at least one message is refused for this many that are answered.
const ANSWERED_A_REFUSAL: u32 = 8;
/// How many replies per processor, but at least [`ALWAYS`], may be in progress for an account that sends more than the
/// server can answer: most of its messages are refused either way, and the fewer wait, the sooner each is answered.
/// Callers who send a message only after the last reply are not refused, as long as the longest wait is enough for them.
const A_PROCESSOR_WHILE_FLOODED: u32 = 32;
/// How many refusals per second and processor are answered to such an account. Callers who ignore `Retry-After` send the
/// next message as soon as they have the answer, and each message has to be read before it can be refused.
const REFUSALS_A_PROCESSOR: u32 = 4_000;
/// The longest time after which a refusal is answered.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// Refuses replies for which the server would need too long, from the pace of those before: by Little's law, one that
/// begins takes about as long as those in progress take to be done one after the other. Time in which a reply waits for
/// another machine does not count, because it does not load this one.
#[derive(Debug, Clone)]
pub(super) struct Paces {
    longest_wait: Duration,
    processors: u32,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Of the accounts with replies in progress, held refusals or a flood.
    accounts: HashMap<Id<kind::Account>, Pace>,
    /// When accounts whose floods are over were last removed.
    tidied: Option<Instant>,
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
    /// Refuses replies that would take longer than this.
    pub(super) fn new(longest_wait: Duration) -> Self {
        let processors = thread::available_parallelism().map_or(2, NonZero::get);
        let processors = u32::try_from(processors).unwrap_or(u32::MAX);
        Self { longest_wait, processors, state: Arc::default() }
    }

    /// Begins a reply, unless it would be done too late.
    pub(super) fn begin(&self, account: Id<kind::Account>) -> Option<Progress> {
        let mut state = self.lock();
        let pace = state.accounts.entry(account).or_default();
        let now = Instant::now();
        let is_too_slow = pace.is_slower_than(self.longest_wait);
        if is_too_slow || (pace.is_flooded(now) && pace.in_progress >= self.most_while_flooded()) {
            pace.refuse(is_too_slow.then_some(now));
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
        // Without replies in progress there is nothing that could be kept quick.
        if let Some(pace) = state.accounts.get_mut(&account) {
            pace.refuse(Some(now));
        }
    }

    /// Holds the answer to a refused reply, if the account sends more than the server can answer.
    pub(super) fn hold(&self, account: Id<kind::Account>) -> Option<HeldRefusal> {
        let mut state = self.lock();
        let pace = state.accounts.get_mut(&account)?;
        if !pace.is_flooded(Instant::now()) {
            return None;
        }
        pace.held += 1;
        let a_second = REFUSALS_A_PROCESSOR.saturating_mul(self.processors);
        let wait = (Duration::from_secs(1) * pace.held / a_second).min(LONGEST_HOLD);
        Some(HeldRefusal { paces: self.clone(), account, wait })
    }

    /// The most replies in progress for an account that sends more than the server can answer.
    fn most_while_flooded(&self) -> u32 {
        A_PROCESSOR_WHILE_FLOODED.saturating_mul(self.processors).max(ALWAYS)
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

impl Pace {
    /// Whether the account sends more than the server can answer.
    fn is_flooded(&self, now: Instant) -> bool {
        self.flooded.is_some_and(|last| now.saturating_duration_since(last) < FLOODED)
    }

    /// Whether something about the account is still needed.
    fn is_in_use(&self, now: Instant) -> bool {
        self.in_progress > 0 || self.held > 0 || self.is_flooded(now)
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
            if self.refused > self.done / ANSWERED_A_REFUSAL && self.flooded.is_some() {
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
        // During a flood, all accepted replies are often stored at the same moment.
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
        self.paces.lock().change(self.account, |pace| pace.held = pace.held.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::{Duration, Instant};

    use super::{ALWAYS, FLOODED, LONGEST_HOLD, Pace, Paces, WINDOW};
    use crate::clock::SystemEntropy;
    use crate::id::{Id, kind};

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

    /// An account that sends too much, and one that does not, both with as many replies in progress as the former may have.
    fn a_flood() -> (Paces, [Id<kind::Account>; 2]) {
        let (mut paces, accounts) =
            (Paces::new(LONGEST), [(); 2].map(|()| Id::random(&SystemEntropy)));
        paces.processors = 2;
        let pace = || Pace { in_progress: ALWAYS, between: [EACH; 2], ..Pace::default() };
        paces.lock().accounts.extend(accounts.map(|account| (account, pace())));
        (paces, accounts)
    }

    #[test]
    fn while_an_account_sends_too_much_its_accepted_replies_are_few() {
        let (mut paces, [flooding, other]) = a_flood();
        assert!(paces.begin(flooding).is_some(), "64 replies take 64 ms of 100");
        paces.refuse(flooding);
        assert!(paces.begin(flooding).is_none(), "there are 64");
        assert!(paces.begin(other).is_some(), "the other account does not send too much");
        paces.processors = 3;
        assert!(paces.begin(flooding).is_some(), "96 keep three processors busy");
    }

    #[test]
    fn while_an_account_sends_too_much_its_refusals_are_answered_at_a_steady_rate() {
        let (paces, [flooding, other]) = a_flood();
        assert!(paces.hold(flooding).is_none(), "nothing was refused yet");
        paces.refuse(flooding);
        let held: Vec<_> = (0..8_000).map(|_| paces.hold(flooding).unwrap()).collect();
        let waits = [0, 7, 799, 7_999].map(|index| held[index].wait().as_micros());
        assert_eq!(waits, [125, 1_000, 100_000, 1_000_000]);
        let longest = paces.hold(flooding).unwrap();
        assert_eq!(longest.wait(), LONGEST_HOLD);
        assert!(paces.hold(other).is_none(), "the other account does not send too much");
        drop(longest);
        drop(held);
        assert_eq!(paces.hold(flooding).unwrap().wait().as_micros(), 125);
    }

    #[test]
    fn a_flood_is_remembered_while_no_reply_is_in_progress() {
        let (paces, account) = (Paces::new(LONGEST), Id::random(&SystemEntropy));
        let reply = paces.begin(account).unwrap();
        paces.refuse(account);
        reply.end();
        let is_known = |paces: &Paces| paces.lock().accounts.contains_key(&account);
        assert!(is_known(&paces));
        let begin = Instant::now();
        paces.lock().tidy(begin);
        assert!(is_known(&paces));
        let held = paces.hold(account).unwrap();
        paces.lock().tidy(begin + FLOODED);
        assert!(is_known(&paces), "its refusal is not answered yet");
        drop(held);
        assert!(is_known(&paces));
        paces.lock().tidy(begin + FLOODED + FLOODED / 2);
        assert!(is_known(&paces), "it was tidied a moment ago");
        paces.lock().tidy(begin + FLOODED * 2);
        assert!(!is_known(&paces));
    }

    #[test]
    fn a_flood_lasts_while_many_are_refused() {
        let begin = Instant::now();
        let mut pace = Pace { in_progress: 500, since: Some(begin), ..Pace::default() };
        pace.refuse(Some(begin));
        let mut window = |now: Instant, refused: u32| {
            (pace.done, pace.refused) = (79, refused);
            pace.leave(Some(now));
            pace.is_flooded(now)
        };
        let mut now = begin;
        for _ in 0..30 {
            now += WINDOW;
            assert!(window(now, 11));
        }
        for _ in 0..9 {
            now += WINDOW;
            assert!(window(now, 10));
        }
        assert!(!window(now + WINDOW, 10));
    }

    #[test]
    fn refusals_concern_one_account() {
        let (paces, account) = (Paces::new(LONGEST), Id::random(&SystemEntropy));
        let pace = Pace { in_progress: 600, between: [EACH; 2], ..Pace::default() };
        paces.lock().accounts.insert(account, pace);
        assert!(paces.begin(account).is_none());
        assert!(paces.begin(Id::random(&SystemEntropy)).is_some());
    }
}
