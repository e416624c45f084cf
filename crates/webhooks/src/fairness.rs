//! Who may be sent something now.

use cicerone_domain::Id;
use cicerone_domain::kind::WebhookEndpoint;
use cicerone_domain::webhook::DueEndpoint;

/// Of all places, how many those may take together that are not known to answer: three fourths.
const fn for_doubtful(places: usize) -> usize {
    places - places / 4
}

/// The places of this process that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Taken {
    /// By endpoints that are not known to answer.
    pub(crate) by_doubtful: usize,
    /// By all.
    pub(crate) in_all: usize,
}

/// An endpoint and how many attempts may begin at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) endpoint: Id<WebhookEndpoint>,
    pub(crate) count: u32,
    pub(crate) is_doubtful: bool,
}

/// Shares the free of `places` out. One after the other gets one more, those known to answer first
/// and among them whoever waits the longest, until each has `per_endpoint` under way; one that is
/// doubtful gets one at a time, out of a part of the places.
pub(crate) fn share(
    mut due: Vec<DueEndpoint>,
    taken: Taken,
    places: usize,
    per_endpoint: u32,
) -> Vec<Share> {
    due.sort_by_key(|endpoint| (endpoint.health.is_doubtful(), endpoint.since));
    let mut free = places.saturating_sub(taken.in_all);
    let mut free_for_doubtful = for_doubtful(places).saturating_sub(taken.by_doubtful);
    let mut shares: Vec<Share> = Vec::new();
    for round in 1..=per_endpoint {
        for endpoint in &due {
            let is_doubtful = endpoint.health.is_doubtful();
            let most = if is_doubtful { 1 } else { per_endpoint };
            if endpoint.in_flight.saturating_add(round) > most || free == 0 {
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

    use super::{Share, Taken, share};

    fn endpoint(is_known: bool, since: i64, in_flight: u32) -> DueEndpoint {
        let succeeded_at = is_known.then(|| Timestamp::from_millis(0));
        DueEndpoint {
            id: Id::random(&SystemEntropy),
            since: Timestamp::from_millis(since),
            in_flight,
            health: EndpointHealth { succeeded_at, ..EndpointHealth::default() },
        }
    }

    fn counts(shares: &[Share]) -> Vec<u32> {
        shares.iter().map(|share| share.count).collect()
    }

    #[test]
    fn an_endpoint_gets_four_at_most_and_one_while_it_is_doubtful() {
        let none = Taken::default();
        assert_eq!(counts(&share(vec![endpoint(true, 0, 0)], none, 64, 4)), [4]);
        assert_eq!(counts(&share(vec![endpoint(true, 0, 3)], none, 64, 4)), [1]);
        assert!(share(vec![endpoint(true, 0, 4)], none, 64, 4).is_empty());
        assert_eq!(counts(&share(vec![endpoint(false, 0, 0)], none, 64, 4)), [1]);
        assert!(share(vec![endpoint(false, 0, 1)], none, 64, 4).is_empty());
    }

    #[test]
    fn the_doubtful_leave_places_for_the_others() {
        let many = (0..500).map(|since| endpoint(false, since, 0)).collect();
        let shares = share(many, Taken::default(), 64, 4);
        assert_eq!(shares.len(), 48);
        let taken = Taken { by_doubtful: 48, in_all: 48 };
        let late = endpoint(true, 1_000, 0);
        let more = vec![endpoint(false, 0, 0), late.clone()];
        let shares = share(more, taken, 64, 4);
        assert_eq!(shares, [Share { endpoint: late.id, count: 4, is_doubtful: false }]);
    }

    #[test]
    fn places_go_round_and_none_is_given_twice() {
        let many: Vec<_> = (0..20).map(|since| endpoint(true, since, 0)).collect();
        let shares = share(many.clone(), Taken { by_doubtful: 0, in_all: 34 }, 64, 4);
        assert_eq!(shares.iter().map(|share| share.count).sum::<u32>(), 30);
        let (first, last) = (many[0].id, many[19].id);
        assert_eq!(shares.iter().find(|s| s.endpoint == first).unwrap().count, 2);
        assert_eq!(shares.iter().find(|s| s.endpoint == last).unwrap().count, 1);
        assert!(share(many, Taken { by_doubtful: 0, in_all: 64 }, 64, 4).is_empty());
    }
}
