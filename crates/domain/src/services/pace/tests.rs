//! Tests of the pace of replies and of refusals.

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
    let paces = Paces::new(LONGEST, 2);
    let [one, other] = [(); 2].map(|()| Id::random(&SystemEntropy));
    let (reply, _other) = (paces.begin(one).unwrap(), paces.begin(other).unwrap());
    reply.end();
    let state = paces.lock();
    assert!(!state.accounts.contains_key(&one));
    assert_eq!(state.accounts.get(&other).map(|pace| pace.in_progress), Some(1));
}

#[test]
fn a_reply_counts_until_it_ends_unless_it_waits_for_another_machine() {
    let (paces, account) = (Paces::new(LONGEST, 2), Id::random(&SystemEntropy));
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
    let (paces, accounts) = (Paces::new(LONGEST, 2), [(); 2].map(|()| Id::random(&SystemEntropy)));
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
    paces.threads = 3;
    assert!(paces.begin(flooding).is_some(), "three threads may have 96");
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

    paces.refuse(other);
    let shared = paces.hold(other).unwrap();
    assert_eq!(shared.wait().as_micros(), 250, "two accounts share the rate");
    let begin = |in_progress| {
        paces.lock().change(other, |pace| pace.in_progress = in_progress);
        paces.begin(other).is_some()
    };
    assert_eq!([31, 32].map(begin), [true, false], "and the replies in progress");
    drop((longest, held));
    drop(paces.hold(other).unwrap());
    assert_eq!(paces.hold(other).unwrap().wait().as_micros(), 250, "it is alone, and the second");
    drop(shared);
    assert_eq!(paces.lock().holding, 0);
}

#[test]
fn a_flood_is_remembered_while_no_reply_is_in_progress() {
    let (paces, account) = (Paces::new(LONGEST, 2), Id::random(&SystemEntropy));
    let reply = paces.begin(account).unwrap();
    paces.refuse(account);
    reply.end();
    let begin = Instant::now();
    let is_known_after = |time: Duration| {
        let mut state = paces.lock();
        state.tidy(begin + time);
        state.accounts.contains_key(&account)
    };
    paces.lock().tidied = None;
    assert!(is_known_after(Duration::ZERO));
    let held = paces.hold(account).unwrap();
    assert!(is_known_after(FLOODED), "its refusal is not answered yet");
    drop(held);
    assert!(is_known_after(FLOODED * 3 / 2), "accounts were tidied a moment ago");
    assert!(!is_known_after(FLOODED * 2));
}

/// An account whose flood has just begun, and the end of a window of 80 replies in which so many were refused: whether the
/// flood still lasts.
fn a_flood_in_windows(held: u32) -> impl FnMut(u32) -> bool {
    let mut now = Instant::now();
    let mut pace = Pace { in_progress: 500, since: Some(now), held, ..Pace::default() };
    pace.refuse(Some(now));
    move |refused| {
        now += WINDOW;
        (pace.done, pace.refused) = (79, refused);
        pace.leave(Some(now));
        pace.is_flooded(now)
    }
}

#[test]
fn a_flood_lasts_while_many_are_refused() {
    let mut window = a_flood_in_windows(0);
    assert!((0..30).all(|_| window(41)));
    assert!((0..9).all(|_| window(40)));
    assert!(!window(40));
    assert!(!window(400), "it does not begin again by itself");
}

#[test]
fn a_flood_lasts_while_many_callers_always_wait_for_a_refusal() {
    let (mut many, mut few) = (a_flood_in_windows(ALWAYS), a_flood_in_windows(ALWAYS - 1));
    assert!((0..30).all(|_| many(10)));
    assert!((0..9).all(|_| few(10)));
    assert!(!few(10));
}

#[test]
fn callers_who_come_back_later_do_not_keep_a_flood_up() {
    let (paces, account) = (Paces::new(LONGEST, 2), Id::random(&SystemEntropy));
    let begin = Instant::now();
    let pace = Pace { since: Some(begin), flooded: Some(begin), ..Pace::default() };
    paces.lock().accounts.insert(account, pace);
    let held: Vec<_> = (0..=ALWAYS).map(|_| paces.hold(account).unwrap()).collect();
    let fewest = |paces: &Paces| paces.lock().accounts.get(&account).map(|pace| pace.fewest_held);
    let end = |paces: &Paces, time| {
        paces.lock().change(account, |pace| pace.leave(Some(begin + time)));
    };
    end(&paces, WINDOW);
    assert_eq!(fewest(&paces), Some(ALWAYS + 1));
    drop(held);
    let _later: Vec<_> = (0..=ALWAYS).map(|_| paces.hold(account).unwrap()).collect();
    assert_eq!(fewest(&paces), Some(0), "for a moment, nobody waited");
}

#[test]
fn refusals_concern_one_account() {
    let (paces, account) = (Paces::new(LONGEST, 2), Id::random(&SystemEntropy));
    let pace = Pace { in_progress: 600, between: [EACH; 2], ..Pace::default() };
    paces.lock().accounts.insert(account, pace);
    assert!(!paces.is_refusing());
    assert!(paces.begin(account).is_none());
    assert!(paces.is_refusing());
    assert!(paces.begin(Id::random(&SystemEntropy)).is_some());
}
