use std::collections::HashMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::{FairPermit, FairPool, Urgency, Vacancy};

const A: u8 = b'a';
const B: u8 = b'b';
const C: u8 = b'c';

type Pool = FairPool<u8>;
type Waiting = std::pin::Pin<Box<dyn Future<Output = FairPermit<u8>>>>;

fn places(pool: &Pool, party: u8, count: usize) -> Vec<FairPermit<u8>> {
    (0..count).map_while(|_| pool.try_acquire(party, 1)).collect()
}

/// A request that has taken its place in the queue.
fn waiting(pool: &Pool, party: u8, units: u64, urgency: Urgency) -> Waiting {
    let pool = pool.clone();
    let mut request: Waiting = Box::pin(async move { pool.acquire(party, units, urgency).await });
    assert!(poll(&mut request).is_none());
    request
}

fn poll(request: &mut Waiting) -> Option<FairPermit<u8>> {
    match request.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(permit) => Some(permit),
        Poll::Pending => None,
    }
}

#[test]
fn a_party_alone_takes_everything_and_no_more() {
    let pool = Pool::new(8, 8);
    let held = places(&pool, A, 100);
    assert_eq!((held.len(), pool.in_use(), pool.held_by(A)), (8, 8, 8));
    drop(held);
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn a_newcomer_gets_its_share_while_another_holds_everything() {
    let pool = Pool::new(8, 8);
    let mut a = places(&pool, A, 100);
    let b = places(&pool, B, 100);
    assert_eq!((a.len(), b.len()), (8, 4));
    // The flood gets nothing until it is down to what is left for it.
    a.truncate(5);
    assert!(pool.try_acquire(A, 1).is_none());
    a.truncate(3);
    assert!(pool.try_acquire(A, 1).is_some());
    // A third party is entitled to a third.
    assert_eq!(places(&pool, C, 100).len(), 2);
}

#[test]
fn a_further_request_of_several_units_counts_its_own_party_for_the_share() {
    let pool = Pool::new(4, 4);
    let _a = places(&pool, A, 4);
    let b = pool.try_acquire(B, 1);
    assert!(pool.try_acquire(B, 2).is_none(), "of two parties each may have two units");
    let more = pool.try_acquire(B, 1);
    assert!(b.is_some() && more.is_some());
}

/// The pool that refused everything: files of 10 units that are held for minutes, and answers that take 12.
#[test]
fn of_three_parties_the_third_is_served_even_if_its_request_is_larger_than_its_share() {
    let pool = Pool::new(24, 24);
    let _files = (pool.try_acquire(A, 10).unwrap(), pool.try_acquire(B, 10).unwrap());
    let c = pool.try_acquire(C, 12).unwrap();
    assert!(pool.try_acquire(C, 1).is_none(), "it holds more than its share");
    drop(c);
    assert!(pool.try_acquire(C, 8).is_some());
}

#[test]
fn a_single_large_request_leaves_half_of_the_reserve_to_others() {
    let pool = Pool::new(12, 8);
    let _a = places(&pool, A, 12);
    assert!(pool.try_acquire(B, 7).is_none());
    assert!(pool.try_acquire(B, 6).is_some());
    let _b = pool.try_acquire(B, 4).unwrap();
    // That half is taken, and a share is a third of the capacity.
    assert!(pool.try_acquire(C, 5).is_none());
    assert!(pool.try_acquire(C, 4).is_some());
}

#[test]
fn each_of_ten_parties_gets_its_share_of_a_reserve_of_twice_the_capacity() {
    let pool = Pool::new(320, 640);
    let mut held = Vec::new();
    for (party, parties) in (0..10).zip(1_usize..) {
        let got = places(&pool, party, 1_000);
        assert_eq!(got.len(), 320 / parties, "party {party}");
        held.push(got);
    }
    assert!(pool.in_use() <= 960);
}

#[test]
fn ten_parties_that_hold_large_requests_leave_the_share_of_a_newcomer() {
    let pool = Pool::new(240, 480);
    let mut held = Vec::new();
    for party in 0..10 {
        // Each takes requests of half the capacity, as many as it gets, and then small ones.
        held.extend(std::iter::from_fn(|| pool.try_acquire(party, 120)));
        held.extend(std::iter::from_fn(|| pool.try_acquire(party, 1)));
        assert!(pool.held_by(party) > 0, "party {party}");
    }
}

#[test]
fn a_request_that_grows_step_by_step_gets_what_it_would_get_at_once() {
    let pool = Pool::new(24, 24);
    let mut held = places(&pool, A, 12);
    held.extend(places(&pool, B, 12));
    let mut growing: Vec<FairPermit<u8>> = Vec::new();
    for own in 0..12 {
        let pool = pool.clone();
        let mut step: Waiting =
            Box::pin(async move { pool.acquire_more(C, 1, own, Urgency::Question).await });
        growing.push(poll(&mut step).unwrap_or_else(|| panic!("{own} units")));
    }
    assert!(pool.try_acquire(C, 1).is_none(), "a second request would be beyond its share");
}

#[test]
fn a_newcomer_is_next_however_many_requests_wait() {
    let pool = Pool::new(24, 24);
    let mut held: Vec<_> = (0..3).map(|party| pool.try_acquire(party, 12).unwrap()).collect();
    let mut flood: Vec<_> =
        (0..30).map(|number| waiting(&pool, number % 3, 12, Urgency::Question)).collect();
    let mut newcomer = waiting(&pool, 9, 12, Urgency::Question);
    held.pop();
    let served = poll(&mut newcomer);
    assert!(served.is_some() && flood.iter_mut().all(|request| poll(request).is_none()));
}

#[test]
fn the_last_free_units_go_even_to_a_party_beyond_its_share() {
    let pool = Pool::new(4, 0);
    let _a = pool.try_acquire(A, 1).unwrap();
    assert!(pool.try_acquire(B, 3).is_some());
}

#[test]
fn of_those_that_wait_the_one_that_holds_least_is_served_first() {
    let pool = Pool::new(2, 0);
    let (_a, b) = (pool.try_acquire(A, 1).unwrap(), pool.try_acquire(B, 1).unwrap());
    let mut first = waiting(&pool, A, 1, Urgency::Question);
    let mut second = waiting(&pool, B, 1, Urgency::Question);
    drop(b);
    assert!(poll(&mut first).is_none(), "A holds a unit, B none");
    assert!(poll(&mut second).is_some());
}

#[test]
fn the_reserve_is_a_bound_too() {
    let pool = Pool::new(4, 1);
    let _a = places(&pool, A, 4);
    assert_eq!(places(&pool, B, 4).len(), 1);
    let _b = places(&pool, B, 4);
    assert!(pool.try_acquire(C, 1).is_none());
}

#[test]
fn a_pool_says_whom_it_would_serve() {
    let pool = Pool::new(2, 1);
    assert_eq!(pool.vacancy(), Vacancy::Anybody);
    let _a = (pool.hold(A, 1), pool.hold(A, 1));
    assert_eq!(pool.vacancy(), Vacancy::Newcomer);
    let b = pool.hold(B, 1);
    assert_eq!((pool.vacancy(), pool.in_use()), (Vacancy::Nobody, 3));
    drop(b);
    assert_eq!(pool.vacancy(), Vacancy::Newcomer);
}

#[test]
fn a_thousand_waiting_requests_do_not_come_before_one() {
    let pool = Pool::new(1, 0);
    let mut held = pool.try_acquire(A, 1);
    let mut flood: Vec<_> = (0..1_000).map(|_| waiting(&pool, A, 1, Urgency::Question)).collect();
    let mut rounds = 0;
    let mut victim = waiting(&pool, B, 1, Urgency::Question);
    for _ in 0..20 {
        drop(held.take());
        held = poll(&mut victim);
        if held.is_some() {
            rounds += 1;
            victim = waiting(&pool, B, 1, Urgency::Question);
        } else {
            held = flood.iter_mut().find_map(poll);
            drop(flood.remove(0));
        }
        assert!(held.is_some());
    }
    assert_eq!(rounds, 10, "two parties share halves");
}

#[test]
fn parties_that_come_and_go_do_not_starve_one_that_waits() {
    let pool = Pool::new(1, 0);
    let mut held = pool.try_acquire(C, 1);
    let mut patient = waiting(&pool, A, 1, Urgency::Question);
    let mut others =
        [waiting(&pool, B, 1, Urgency::Question), waiting(&pool, C, 1, Urgency::Question)];
    for turn in 0..4 {
        drop(held.take());
        if poll(&mut patient).is_some() {
            return;
        }
        for (other, party) in others.iter_mut().zip([B, C]) {
            if let Some(permit) = poll(other) {
                held = Some(permit);
                *other = waiting(&pool, party, 1, Urgency::Question);
            }
        }
        assert!(held.is_some(), "turn {turn}");
    }
    panic!("it was passed over four times by two others");
}

#[test]
fn questions_come_before_learning() {
    let pool = Pool::new(1, 0);
    let held = pool.try_acquire(A, 1);
    let mut learning = waiting(&pool, B, 1, Urgency::Learning);
    let mut question = waiting(&pool, A, 1, Urgency::Question);
    drop(held);
    let asked = poll(&mut question);
    assert!(asked.is_some() && poll(&mut learning).is_none());
    drop(asked);
    assert!(poll(&mut learning).is_some());
}

#[test]
fn a_large_request_is_served_at_last() {
    let pool = Pool::new(10, 0);
    let small = places(&pool, A, 10);
    let mut large = waiting(&pool, B, 8, Urgency::Question);
    for (count, permit) in (1..).zip(small) {
        drop(permit);
        // What becomes free is kept for it.
        assert!(pool.try_acquire(C, 10).is_none());
        if count < 8 {
            assert!(poll(&mut large).is_none());
        }
    }
    assert_eq!(poll(&mut large).unwrap().units(), 8);
    let more_than_all = pool.try_acquire(A, 1_000).unwrap();
    assert_eq!(more_than_all.units(), 10);
}

#[test]
fn a_request_that_is_dropped_leaves_the_queue_and_loses_nothing() {
    let pool = Pool::new(1, 0);
    let held = pool.try_acquire(A, 1);
    let given_up = waiting(&pool, B, 1, Urgency::Question);
    let mut next = waiting(&pool, C, 1, Urgency::Question);
    drop(given_up);
    drop(held);
    let permit = poll(&mut next).unwrap();
    // Granted, and dropped before anybody saw the grant.
    let unseen = waiting(&pool, A, 1, Urgency::Question);
    drop(permit);
    assert_eq!(pool.in_use(), 1);
    drop(unseen);
    assert_eq!(pool.in_use(), 0);
    assert!(pool.try_acquire(B, 1).is_some());
}

#[test]
fn a_permit_grows_and_shrinks() {
    let pool = Pool::new(10, 0);
    let mut permit = pool.try_acquire(A, 2).unwrap();
    assert!(permit.try_grow(8));
    assert!(!permit.try_grow(1));
    permit.shrink_to(3);
    assert_eq!((permit.units(), pool.in_use()), (3, 3));
    drop(permit);
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn a_pool_is_idle_when_the_last_unit_is_back() {
    let pool = Pool::new(2, 0);
    let held = pool.try_acquire(A, 1);
    let mut idle = pin!(pool.idle());
    let context = &mut Context::from_waker(Waker::noop());
    assert!(idle.as_mut().poll(context).is_pending());
    drop(held);
    assert!(idle.as_mut().poll(context).is_ready());
    assert!(pin!(pool.idle()).poll(context).is_ready());
}

/// Random requests of several parties: the books agree with what is held, nothing goes beyond capacity and
/// reserve, and whatever waits is served once the others are gone.
#[test]
fn the_books_hold_whatever_happens() {
    for seed in 1..200_u64 {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (capacity, reserve) = (1 + random(12), random(6));
        let pool = Pool::new(capacity, reserve);
        let mut held: Vec<(u8, FairPermit<u8>)> = Vec::new();
        let mut queued: Vec<(u8, Waiting)> = Vec::new();
        for _ in 0..200 {
            let party = u8::try_from(random(4)).unwrap();
            match random(5) {
                0 | 1 => {
                    let units = 1 + random(4);
                    let urgency =
                        if random(2) == 0 { Urgency::Question } else { Urgency::Learning };
                    let of = pool.clone();
                    let mut request: Waiting =
                        Box::pin(async move { of.acquire(party, units, urgency).await });
                    match poll(&mut request) {
                        Some(permit) => held.push((party, permit)),
                        None => queued.push((party, request)),
                    }
                }
                2 => held
                    .extend(pool.try_acquire(party, 1 + random(3)).map(|permit| (party, permit))),
                3 if !held.is_empty() => {
                    let index = usize::try_from(random(held.len() as u64)).unwrap();
                    drop(held.swap_remove(index));
                }
                _ if !queued.is_empty() => {
                    let index = usize::try_from(random(queued.len() as u64)).unwrap();
                    drop(queued.swap_remove(index));
                }
                _ => {}
            }
            queued.retain_mut(|(party, request)| match poll(request) {
                Some(permit) => {
                    held.push((*party, permit));
                    false
                }
                None => true,
            });
            let mut books: HashMap<u8, u64> = HashMap::new();
            for (party, permit) in &held {
                *books.entry(*party).or_default() += permit.units();
            }
            assert_eq!(pool.in_use(), books.values().sum::<u64>(), "seed {seed}");
            assert!(pool.in_use() <= capacity + reserve, "seed {seed}");
            assert!((0..4).all(|party| {
                pool.held_by(party) == books.get(&party).copied().unwrap_or_default()
            }));
        }
        while !queued.is_empty() {
            held.clear();
            let before = queued.len();
            queued.retain_mut(|(party, request)| match poll(request) {
                Some(permit) => {
                    held.push((*party, permit));
                    false
                }
                None => true,
            });
            assert!(queued.len() < before, "seed {seed}: nobody is served though nothing is held");
        }
    }
}
