//! Decides which endpoints are sent something next.

use cicerone_domain::Id;
use cicerone_domain::kind::WebhookEndpoint;
use cicerone_domain::webhook::DueEndpoint;
use tokio::time::Instant;

/// The most places that all endpoints which are not known to answer may occupy together: three
/// fourths.
const fn for_doubtful(places: usize) -> usize {
    places - places / 4
}

/// The occupied places of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// By endpoints that are not known to answer.
    pub(crate) by_doubtful: usize,
    /// By all endpoints.
    pub(crate) in_all: usize,
}

/// An endpoint and how many attempts at it may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) endpoint: Id<WebhookEndpoint>,
    pub(crate) count: u32,
    pub(crate) is_doubtful: bool,
}

/// The places that second and further attempts at an endpoint leave to first ones: a fourth.
const fn for_first(places: usize) -> usize {
    places / 4
}

/// An endpoint with due deliveries, and when this process last sent it something.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) due: DueEndpoint,
    pub(crate) served: Option<Instant>,
}

/// Distributes the free places. Endpoints that are known to answer come before the others, and within each group the
/// one that was served the longest ago comes first, however many deliveries are waiting for it. An endpoint has at most
/// `per_endpoint` attempts in progress, and more than one only while more than a quarter of the places is free. A
/// doubtful endpoint has at most one, and only from a part of the places.
pub(crate) fn share(
    mut waiting: Vec<Waiting>,
    taken: Taken,
    places: usize,
    per_endpoint: u32,
) -> Vec<Share> {
    waiting.sort_by_key(|one| (one.due.health.is_doubtful(), one.served, one.due.since));
    let mut free = places.saturating_sub(taken.in_all);
    let mut free_for_doubtful = for_doubtful(places).saturating_sub(taken.by_doubtful);
    let mut shares: Vec<Share> = Vec::new();
    for round in 1..=per_endpoint {
        for Waiting { due: endpoint, .. } in &waiting {
            let is_doubtful = endpoint.health.is_doubtful();
            let most = if is_doubtful { 1 } else { per_endpoint };
            let number = endpoint.in_flight.saturating_add(round);
            let needed = if number > 1 { for_first(places) } else { 0 };
            if number > most || free <= needed {
                continue;
            }
            if is_doubtful {
                if free_for_doubtful == 0 {
                    continue;
                }
                free_for_doubtful -= 1;
            }
            free -= 1;
            match shares.iter_mut().find(|share| share.endpoint == endpoint.id) {
                Some(share) => share.count += 1,
                None => shares.push(Share { endpoint: endpoint.id, count: 1, is_doubtful }),
            }
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use cicerone_domain::webhook::{DueEndpoint, EndpointHealth};
    use cicerone_domain::{Id, SystemEntropy, Timestamp};
    use tokio::time::{Duration, Instant};

    use super::{Share, Taken, Waiting, share};

    /// An endpoint that was served this many seconds before the others.
    fn endpoint(is_known: bool, served: Option<u64>, in_flight: u32) -> Waiting {
        let succeeded_at = is_known.then(|| Timestamp::from_millis(0));
        let due = DueEndpoint {
            id: Id::random(&SystemEntropy),
            since: Timestamp::from_millis(0),
            in_flight,
            health: EndpointHealth { succeeded_at, ..EndpointHealth::default() },
        };
        let now = Instant::now() + Duration::from_secs(10_000);
        Waiting { due, served: served.map(|ago| now - Duration::from_secs(ago)) }
    }

    fn counts(shares: &[Share]) -> Vec<u32> {
        shares.iter().map(|share| share.count).collect()
    }

    #[test]
    fn an_endpoint_gets_four_at_most_and_one_while_it_is_doubtful() {
        let none = Taken::default();
        assert_eq!(counts(&share(vec![endpoint(true, None, 0)], none, 64, 4)), [4]);
        assert_eq!(counts(&share(vec![endpoint(true, None, 3)], none, 64, 4)), [1]);
        assert!(share(vec![endpoint(true, None, 4)], none, 64, 4).is_empty());
        assert_eq!(counts(&share(vec![endpoint(false, None, 0)], none, 64, 4)), [1]);
        assert!(share(vec![endpoint(false, None, 1)], none, 64, 4).is_empty());
    }

    #[test]
    fn the_doubtful_leave_places_for_the_others() {
        let many = (0..500).map(|ago| endpoint(false, Some(ago), 0)).collect();
        let shares = share(many, Taken::default(), 64, 4);
        assert_eq!(shares.len(), 48);
        let taken = Taken { by_doubtful: 48, in_all: 48 };
        let known = endpoint(true, Some(0), 0);
        let more = vec![endpoint(false, None, 0), known.clone()];
        let shares = share(more, taken, 64, 4);
        assert_eq!(shares, [Share { endpoint: known.due.id, count: 1, is_doubtful: false }]);
    }

    #[test]
    fn whoever_was_served_the_longest_ago_comes_first_and_a_new_one_before_all() {
        let mut many: Vec<_> = (1..100).map(|ago| endpoint(false, Some(ago), 0)).collect();
        let new = endpoint(false, None, 0);
        many.push(new.clone());
        let shares = share(many.clone(), Taken { by_doubtful: 46, in_all: 46 }, 64, 4);
        let served: Vec<_> = shares.iter().map(|share| share.endpoint).collect();
        assert_eq!(served, [new.due.id, many[98].due.id]);
    }

    #[test]
    fn a_first_attempt_finds_a_place_whatever_the_others_have_to_send() {
        let many: Vec<_> = (0..16).map(|ago| endpoint(true, Some(ago), 0)).collect();
        let shares = share(many, Taken::default(), 64, 4);
        let taken: u32 = shares.iter().map(|share| share.count).sum();
        assert_eq!(taken, 48, "a fourth is left");
        let taken = Taken { by_doubtful: 0, in_all: 48 };
        let late = endpoint(true, Some(0), 0);
        let shares = share(vec![endpoint(true, None, 3), late.clone()], taken, 64, 4);
        assert_eq!(shares, [Share { endpoint: late.due.id, count: 1, is_doubtful: false }]);
        assert!(share(vec![late], Taken { by_doubtful: 0, in_all: 64 }, 64, 4).is_empty());
    }
}
