//! Limits concurrent name lookups, for the process and for each domain.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The number of names that are looked up at once in the process. Each occupies a thread for blocking work until the
/// system's resolver gives up, which may take longer than any request waits. Give the runtime more such threads than
/// this, so that names without an answer do not delay other work.
pub const LOOKUPS_AT_ONCE: usize = 96;
/// The number of these for names of one registered domain, so that a domain whose name servers do not answer leaves
/// places for others.
const LOOKUPS_PER_DOMAIN: usize = 8;
/// The longest wait for a place.
const WAIT: Duration = Duration::from_secs(5);

/// Places for lookups.
pub(crate) struct Lookups {
    places: Arc<Semaphore>,
    per_domain: usize,
    domains: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// Permits one lookup while it is held.
#[derive(Debug)]
pub(crate) struct LookupPermit {
    _of_domain: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Lookups {
    pub(crate) fn new() -> Self {
        Self::of(LOOKUPS_AT_ONCE, LOOKUPS_PER_DOMAIN)
    }

    fn of(at_once: usize, per_domain: usize) -> Self {
        let places = Arc::new(Semaphore::new(at_once));
        Self { places, per_domain, domains: Mutex::default() }
    }

    /// Waits at most five seconds for a place to look up `host`.
    pub(crate) async fn enter(&self, host: &str) -> io::Result<LookupPermit> {
        let domain = self.domain(domain_of(host));
        let places = async {
            // The domain's place comes first: a lookup that waits for it must not occupy a place of the process.
            let of_domain = domain.acquire_owned().await.map_err(io::Error::other)?;
            let of_all = Arc::clone(&self.places).acquire_owned().await;
            Ok(LookupPermit { _of_domain: of_domain, _of_all: of_all.map_err(io::Error::other)? })
        };
        timeout(WAIT, places).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// The places of a domain, for as long as one of them is taken or waited for.
    fn domain(&self, domain: &str) -> Arc<Semaphore> {
        let mut domains = self.domains.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = domains.get(domain).and_then(Weak::upgrade) {
            return places;
        }
        domains.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(self.per_domain));
        domains.insert(domain.to_owned(), Arc::downgrade(&places));
        places
    }
}

/// The second labels below which countries register domains.
const CATEGORIES: [&str; 14] =
    ["ac", "co", "com", "edu", "go", "gob", "gov", "gouv", "mil", "ne", "net", "nom", "or", "org"];

/// The registered domain, judging by its form: the last two labels of a name, or the last three below one of a country's
/// [`CATEGORIES`].
fn domain_of(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let Some(last) = dots.next() else { return host };
    let Some(second) = dots.next() else { return host };
    let is_country = host.len() - last == 3;
    let label = host.get(second + 1..last).unwrap_or_default();
    let is_category = CATEGORIES.iter().any(|category| category.eq_ignore_ascii_case(label));
    let from = if is_country && is_category { dots.next() } else { Some(second) };
    from.and_then(|dot| host.get(dot + 1..)).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::{Lookups, WAIT, domain_of};

    #[test]
    fn the_domain_of_a_name_is_told_by_its_form() {
        for (host, domain) in [
            ("example.com", "example.com"),
            ("a.b.example.com.", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("example.co.uk", "example.co.uk"),
            ("a.b.museum.de", "museum.de"),
            ("1.abc.de", "abc.de"),
            ("2.ab.de", "ab.de"),
            ("a.B.example.COM.Au", "example.COM.Au"),
            ("localhost", "localhost"),
            ("", ""),
        ] {
            assert_eq!(domain_of(host), domain, "{host}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn names_of_a_domain_that_does_not_answer_leave_places_to_others() {
        let lookups = Lookups::of(4, 2);
        let slow = [lookups.enter("a.slow.example").await, lookups.enter("b.slow.example").await];
        let began = Instant::now();
        let third = lookups.enter("c.slow.example").await;
        assert_eq!(third.map(drop).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), WAIT, "nobody waits for longer");

        let began = Instant::now();
        let quick = [lookups.enter("fine.example").await, lookups.enter("other.example").await];
        assert!(began.elapsed() < Duration::from_secs(1));
        assert_eq!(slow.iter().chain(&quick).filter(|place| place.is_ok()).count(), 4);
        assert!(lookups.enter("one.more.example").await.is_err(), "the process has a bound too");
        drop(slow);
        assert!(lookups.enter("c.slow.example").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_is_given_back_goes_to_who_waits() {
        let lookups = Lookups::of(1, 1);
        let place = lookups.enter("a.example").await.unwrap();
        let wait = lookups.enter("a.example");
        let back = async {
            sleep(Duration::from_secs(1)).await;
            drop(place);
        };
        let (waited, ()) = tokio::join!(wait, back);
        assert!(waited.is_ok());
        assert!(lookups.domains.lock().unwrap().len() == 1);
    }
}
