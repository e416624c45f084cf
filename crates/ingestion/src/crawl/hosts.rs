//! Politeness: the number of concurrent requests to a host, and the pauses between them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use super::Party;

/// The hosts that are being crawled, so that two crawls of one host share its gate.
#[derive(Debug, Default)]
pub(super) struct Hosts(Mutex<HashMap<String, Weak<Gate>>>);

impl Hosts {
    /// The gate of a host, which lets `places` requests through at a time.
    pub(super) fn gate(&self, host: String, places: usize) -> Arc<Gate> {
        let mut gates = self.0.lock();
        gates.retain(|_, gate| gate.strong_count() > 0);
        if let Some(gate) = gates.get(&host).and_then(Weak::upgrade) {
            return gate;
        }
        let gate = Arc::new(Gate::new(places));
        gates.insert(host, Arc::downgrade(&gate));
        gate
    }
}

/// Limits the requests to one host. Accounts that crawl the same host share it. There is no
/// reserve, because a host does not tolerate more requests if more accounts crawl it.
#[derive(Debug)]
pub(super) struct Gate {
    places: FairPool<Party>,
    /// The place of requests that are sent one at a time.
    turns: FairPool<Party>,
    /// When the last of those was sent.
    last: Mutex<Option<Instant>>,
    /// No request passes before this time, because the host asked for a pause.
    closed_until: Mutex<Option<Instant>>,
}

/// Permission for one request, while it is held.
#[derive(Debug)]
pub(super) struct Pass {
    _place: FairPermit<Party>,
    _turn: Option<FairPermit<Party>>,
}

impl Gate {
    fn new(places: usize) -> Self {
        Self {
            places: FairPool::new(u64::try_from(places).unwrap_or(u64::MAX), 0),
            turns: FairPool::new(1, 0),
            last: Mutex::default(),
            closed_until: Mutex::default(),
        }
    }

    /// Waits for a place. With a `delay`, requests are sent one at a time, at least that long after each other.
    pub(super) async fn enter(&self, party: Party, delay: Option<Duration>) -> Pass {
        let mut turn = None;
        if let Some(delay) = delay {
            turn = Some(self.turns.acquire(party, 1, Urgency::Learning).await);
            let last = *self.last.lock();
            if let Some(last) = last {
                sleep_until(last + delay).await;
            }
        }
        let place = self.places.acquire(party, 1, Urgency::Learning).await;
        self.until_open().await;
        if turn.is_some() {
            *self.last.lock() = Some(Instant::now());
        }
        Pass { _place: place, _turn: turn }
    }

    /// Holds all requests for a while.
    pub(super) fn close(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut closed = self.closed_until.lock();
        *closed = (*closed).max(Some(until));
    }

    async fn until_open(&self) {
        loop {
            let until = *self.closed_until.lock();
            match until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                Some(_) | None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use cicerone_domain::{Id, SystemEntropy};
    use futures_util::future::join_all;
    use parking_lot::Mutex;
    use tokio::time::Instant;

    use super::Hosts;

    const SECOND: Duration = Duration::from_secs(1);

    /// When each of `count` requests of a second began, in seconds.
    async fn beginnings(hosts: &Hosts, delay: Option<Duration>, count: usize) -> Vec<u64> {
        let (gate, start) = (hosts.gate("a".to_owned(), 4), Instant::now());
        let account = Some(Id::random(&SystemEntropy));
        let request = || async {
            let _pass = gate.enter(account, delay).await;
            let begun = start.elapsed().as_secs();
            tokio::time::sleep(SECOND).await;
            begun
        };
        let mut begun = join_all((0..count).map(|_| request())).await;
        begun.sort_unstable();
        begun
    }

    #[tokio::test(start_paused = true)]
    async fn four_requests_go_at_a_time() {
        assert_eq!(beginnings(&Hosts::default(), None, 9).await, [0, 0, 0, 0, 1, 1, 1, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn with_a_delay_one_goes_at_a_time() {
        let hosts = Hosts::default();
        assert_eq!(beginnings(&hosts, Some(3 * SECOND), 3).await, [0, 3, 6]);
        assert_eq!(beginnings(&hosts, Some(SECOND / 2), 3).await, [0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn crawls_of_one_host_share_its_places() {
        let hosts = Hosts::default();
        let (first, second) = (hosts.gate("a".to_owned(), 1), hosts.gate("a".to_owned(), 1));
        assert!(Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &hosts.gate("b".to_owned(), 1)));
    }

    /// Whose requests began, in order, if `a` asks for twelve and then `b` for three.
    async fn order(delay: Option<Duration>) -> String {
        let gate = Hosts::default().gate("a".to_owned(), 4);
        let began = Mutex::new(String::new());
        let request = |account, name| {
            let (gate, began) = (&gate, &began);
            async move {
                let _pass = gate.enter(account, delay).await;
                began.lock().push(name);
                tokio::time::sleep(SECOND).await;
            }
        };
        let (a, b) = (Some(Id::random(&SystemEntropy)), Some(Id::random(&SystemEntropy)));
        let all = (0..12).map(|_| request(a, 'a')).chain((0..3).map(|_| request(b, 'b')));
        join_all(all).await;
        began.into_inner()
    }

    #[tokio::test(start_paused = true)]
    async fn accounts_that_crawl_the_same_host_share_it() {
        let order = order(None).await;
        assert_eq!(order.get(..4), Some("aaaa"));
        let second = order.get(4..8).unwrap_or_default();
        assert_eq!(second.matches('b').count(), 2, "two share halves: {order}");
        assert_eq!(super::tests::order(Some(SECOND)).await.get(..7), Some("abababa"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_gate_lets_nobody_pass_for_a_while() {
        let hosts = Hosts::default();
        let gate = hosts.gate("a".to_owned(), 4);
        gate.close(5 * SECOND);
        gate.close(SECOND);
        assert_eq!(beginnings(&hosts, None, 2).await, [5, 5]);
    }
}
