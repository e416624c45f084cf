//! Limits concurrent name lookups, for the process, for each domain and for each party.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task_local;
use tokio::time::{Instant, timeout};

/// The number of names that are looked up at once in the process. Each occupies a thread of its own until the system's
/// resolver gives up, which may take longer than any request waits.
const AT_ONCE: usize = 96;
/// The number of these for names of one registered domain, so that a domain whose name servers do not answer leaves
/// places for others.
const PER_DOMAIN: usize = 8;
/// The longest wait for a place.
const WAIT: Duration = Duration::from_secs(5);
/// After this time, callers no longer wait for a lookup, and no other one of the same name begins.
const SLOW: Duration = Duration::from_secs(5);
/// How long a name is refused after a slow lookup of it failed.
const SILENCE: Duration = Duration::from_secs(30);
/// The number of such names that are remembered.
const SILENT_NAMES: usize = 4_096;

/// The party that a lookup is for, as a hash; `None` if it is not known.
type Party = Option<u64>;

task_local! {
    static PARTY: Party;
}

/// Runs `work`, whose name lookups count for `party`, usually an account. A party leaves places for others however many
/// of its names are not answered.
pub async fn on_behalf_of<F: Future>(party: impl Hash, work: F) -> F::Output {
    let mut hasher = DefaultHasher::new();
    party.hash(&mut hasher);
    PARTY.scope(Some(hasher.finish()), work).await
}

/// The party of the task that calls this.
pub(crate) fn party() -> Party {
    PARTY.try_with(|party| *party).unwrap_or_default()
}

/// Runs `work` for a party that was found with [`party`].
pub(crate) async fn for_party<F: Future>(party: Party, work: F) -> F::Output {
    PARTY.scope(party, work).await
}

/// Places for lookups.
pub(crate) struct Lookups(Arc<Shared>);

struct Shared {
    at_once: usize,
    per_domain: usize,
    state: Mutex<State>,
    /// Notified whenever a place becomes free.
    freed: Notify,
}

#[derive(Default)]
struct State {
    taken: usize,
    parties: HashMap<Party, usize>,
    domains: HashMap<String, usize>,
    /// The names that are being looked up: how often, and since when.
    running: HashMap<String, (usize, Instant)>,
    /// Names whose last lookup was slow and failed, and until when they are refused.
    silent: HashMap<String, Instant>,
}

/// Permits one lookup while it is held.
pub(crate) struct LookupPlace {
    shared: Arc<Shared>,
    host: String,
    party: Party,
    began: Instant,
    has_failed: bool,
}

impl Lookups {
    pub(crate) fn new() -> Self {
        Self::of(AT_ONCE, PER_DOMAIN)
    }

    fn of(at_once: usize, per_domain: usize) -> Self {
        let (state, freed) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { at_once, per_domain, state, freed }))
    }

    /// Waits at most five seconds for a place to look up `host`. A name that did not answer lately is refused at once.
    pub(crate) async fn enter(&self, host: &str, party: Party) -> io::Result<LookupPlace> {
        let place = async {
            loop {
                let freed = self.0.freed.notified();
                tokio::pin!(freed);
                // Registered before the check, so that no notification in between is lost.
                freed.as_mut().enable();
                if let Some(place) = self.try_enter(host, party)? {
                    return Ok(place);
                }
                freed.await;
            }
        };
        timeout(WAIT, place).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// A place, if there is one for the domain and the party.
    fn try_enter(&self, host: &str, party: Party) -> io::Result<Option<LookupPlace>> {
        let Shared { at_once, per_domain, .. } = *self.0;
        let mut state = self.0.lock();
        let now = Instant::now();
        if state.is_silent(host, now) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let domain = domain_of(host);
        let of_domain = state.domains.get(domain).copied().unwrap_or_default();
        let of_party = state.parties.get(&party).copied().unwrap_or_default();
        let free = at_once.saturating_sub(state.taken);
        // A party has at most half as many as are free. So one alone has a third of all, each further one a third less
        // than the one before, and there are some left after ten.
        if of_domain >= per_domain || of_party >= free.div_ceil(2) {
            return Ok(None);
        }
        state.taken += 1;
        *state.domains.entry(domain.to_owned()).or_default() += 1;
        *state.parties.entry(party).or_default() += 1;
        state.running.entry(host.to_owned()).or_insert((0, now)).0 += 1;
        drop(state);
        let (shared, host) = (Arc::clone(&self.0), host.to_owned());
        Ok(Some(LookupPlace { shared, host, party, began: now, has_failed: false }))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether a lookup of this name would only wait, as far as is known.
    fn is_silent(&self, host: &str, now: Instant) -> bool {
        let is_slow = self.running.get(host).is_some_and(|(_, since)| now - *since >= SLOW);
        is_slow || self.silent.get(host).is_some_and(|until| now < *until)
    }

    fn remember_silent(&mut self, host: String, now: Instant) {
        if self.silent.len() >= SILENT_NAMES {
            self.silent.retain(|_, until| now < *until);
        }
        if self.silent.len() < SILENT_NAMES {
            self.silent.insert(host, now + SILENCE);
        }
    }
}

impl LookupPlace {
    /// The name that is looked up.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Records that the resolver has failed.
    pub(crate) fn failed(&mut self) {
        self.has_failed = true;
    }
}

impl Drop for LookupPlace {
    fn drop(&mut self) {
        let (host, now) = (std::mem::take(&mut self.host), Instant::now());
        let mut state = self.shared.lock();
        state.taken = state.taken.saturating_sub(1);
        give_back(&mut state.domains, domain_of(&host));
        give_back(&mut state.parties, &self.party);
        if let Some((count, _)) = state.running.get_mut(&host) {
            *count -= 1;
            if *count == 0 {
                state.running.remove(&host);
            }
        }
        if self.has_failed && now - self.began >= SLOW {
            state.remember_silent(host, now);
        } else {
            state.silent.remove(&host);
        }
        drop(state);
        self.shared.freed.notify_waiters();
    }
}

/// Counts one place less, and forgets who has none.
fn give_back<K, Q>(held: &mut HashMap<K, usize>, key: &Q)
where
    K: Hash + Eq + std::borrow::Borrow<Q>,
    Q: Hash + Eq + ?Sized,
{
    if let Some(count) = held.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            held.remove(key);
        }
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

    use super::{Lookups, SILENCE, SLOW, WAIT, domain_of, on_behalf_of, party};

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
        let lookups = Lookups::of(12, 2);
        let enter = async |host: &str| lookups.enter(host, Some(1)).await;
        let slow = [enter("a.slow.example").await, enter("b.slow.example").await];
        let began = Instant::now();
        let third = enter("c.slow.example").await;
        assert_eq!(third.map(drop).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), WAIT, "nobody waits for longer");

        let began = Instant::now();
        let quick = [enter("fine.example").await, enter("other.example").await];
        assert!(began.elapsed() < Duration::from_secs(1));
        assert_eq!(slow.iter().chain(&quick).filter(|place| place.is_ok()).count(), 4);
        assert!(enter("one.more.example").await.is_err(), "a party has a bound too");
        drop(slow);
        assert!(enter("c.slow.example").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn parties_whose_names_are_not_answered_leave_places_to_an_eleventh() {
        let lookups = Lookups::new();
        let mut held = Vec::new();
        let mut counts = Vec::new();
        for party in 0..10 {
            let before = held.len();
            for number in 0..96 {
                let host = format!("slow{party}-{number}.example");
                held.extend(lookups.try_enter(&host, Some(party)).unwrap());
            }
            counts.push(held.len() - before);
        }
        assert_eq!(counts, [32, 22, 14, 10, 6, 4, 3, 2, 1, 1]);
        let began = Instant::now();
        let place = lookups.enter("www.fine.example", Some(11)).await;
        assert!(place.is_ok() && began.elapsed().is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_does_not_answer_is_refused_at_once_for_a_while() {
        let lookups = Lookups::new();
        let enter = async || lookups.enter("www.slow.example", None).await;
        let mut place = enter().await.unwrap();
        sleep(Duration::from_secs(3)).await;
        drop(enter().await.unwrap());
        sleep(Duration::from_secs(3)).await;
        let began = Instant::now();
        assert!(enter().await.is_err(), "one is running already");
        place.failed();
        drop(place);
        assert!(enter().await.is_err() && began.elapsed().is_zero());
        assert!(lookups.enter("mail.slow.example", None).await.is_ok(), "another name");
        sleep(SILENCE).await;
        let mut place = enter().await.unwrap();
        place.failed();
        drop(place);
        assert!(enter().await.is_ok(), "a failure that comes quickly costs nothing");
        let slow = enter().await.unwrap();
        sleep(SLOW).await;
        drop(slow);
        assert!(enter().await.is_ok(), "it has answered at last");
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_is_given_back_goes_to_who_waits_and_nothing_is_kept() {
        let lookups = Lookups::of(1, 1);
        let place = lookups.enter("a.example", None).await.unwrap();
        let wait = lookups.enter("a.example", None);
        let back = async {
            sleep(Duration::from_secs(1)).await;
            drop(place);
        };
        let (waited, ()) = tokio::join!(wait, back);
        assert!(waited.is_ok());
        drop(waited);
        let state = lookups.0.lock();
        assert!(state.taken == 0 && state.domains.is_empty() && state.parties.is_empty());
        assert!(state.running.is_empty() && state.silent.is_empty());
    }

    #[tokio::test]
    async fn a_task_looks_names_up_for_its_party() {
        assert_eq!(party(), None);
        let of = async |name: &str| on_behalf_of(name, async { party() }).await;
        assert!(of("a").await.is_some() && of("a").await == of("a").await);
        assert_ne!(of("a").await, of("b").await);
    }
}
