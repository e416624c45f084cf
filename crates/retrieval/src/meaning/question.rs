//! The vectors of questions: requested with a short time limit, and cached for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::fairness::{FairPool, Urgency};
use cicerone_domain::meaning::{Space, Vector};
use cicerone_domain::ports::Purpose;
use cicerone_domain::retrieval::Query;
use cicerone_domain::{Id, kind};
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::MeaningPorts;

/// The size of the cache in bytes, for all accounts together.
const BYTES: u64 = 8 * 1_024 * 1_024;
/// The size of an entry in addition to its content.
const OVERHEAD: usize = 128;
/// The expected number of entries, which only sizes the bookkeeping.
const ENTRIES: usize = 1_024;
/// Questions that are embedded at the same time, and as many in reserve for accounts below their
/// share.
const AT_ONCE: u64 = 32;
/// The failures in a row after which the model is not asked for a while, so that replies do not
/// wait for it.
const FAILURES: u32 = 3;
/// How long it is not asked before one question tries it again.
const PAUSE: Duration = Duration::from_secs(5);
/// A question with fewer characters is embedded with the message before it.
const STANDS_ALONE_CHARS: usize = 30;

/// The text of a query that is embedded: the question and, if it is short, the message before it.
pub(super) fn text(query: &Query) -> String {
    match query.context.first() {
        Some(before) if query.text.chars().count() < STANDS_ALONE_CHARS => {
            format!("{before}\n{}", query.text)
        }
        _ => query.text.clone(),
    }
}

/// A question of an account in a space.
type Key = (Id<kind::Account>, i64, Box<str>);

/// The vectors of questions.
pub(super) struct Questions {
    patience: Duration,
    kept: Duration,
    cache: Cache<Key, Arc<Kept>, Weight>,
    places: FairPool<Id<kind::Account>>,
    state: Mutex<State>,
}

struct Kept {
    vector: Vector,
    at: Instant,
}

/// How the model has answered recently.
#[derive(Default)]
struct State {
    failures: u32,
    /// The model is not asked before this time.
    left_alone: Option<Instant>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<Kept>> for Weight {
    fn weight(&self, (_, _, text): &Key, kept: &Arc<Kept>) -> u64 {
        (text.len() + kept.vector.dimension() * 4 + OVERHEAD) as u64
    }
}

impl Questions {
    pub(super) fn new(patience: Duration, kept: Duration) -> Self {
        Self {
            patience,
            kept,
            cache: Cache::with_weighter(ENTRIES, BYTES, Weight),
            places: FairPool::new(AT_ONCE, AT_ONCE),
            state: Mutex::default(),
        }
    }

    /// The vector of a question in a space; `None` if the model does not return one in time.
    pub(super) async fn vector(
        &self,
        ports: &MeaningPorts,
        space: &Space,
        account: Id<kind::Account>,
        text: &str,
    ) -> Option<Vector> {
        let key: Key = (account, space.id, text.into());
        if let Some(kept) = self.cache.get(&key).filter(|kept| kept.at.elapsed() < self.kept) {
            return Some(kept.vector.clone());
        }
        if !self.may_ask() {
            return None;
        }
        let ask = async {
            let _place = self.places.acquire(account, 1, Urgency::Question).await;
            ports.embedder.embed(&[text.to_owned()], Purpose::Question).await
        };
        let failure = match tokio::time::timeout(self.patience, ask).await {
            Ok(Ok(vectors)) => match vectors.into_iter().next() {
                Some(vector) if vector.dimension() == space.dimension => {
                    self.answered();
                    let kept = Kept { vector: vector.clone(), at: Instant::now() };
                    self.cache.insert(key, Arc::new(kept));
                    return Some(vector);
                }
                Some(vector) => {
                    ports.space.doubt();
                    format!(
                        "it sent a vector of {} dimensions instead of {}",
                        vector.dimension(),
                        space.dimension
                    )
                }
                None => "it sent no vector".to_owned(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it gave no vector within {} s", self.patience.as_secs_f64()),
        };
        self.failed(&failure);
        None
    }

    /// Whether the model may be asked. After a pause, one question at a time tries it.
    fn may_ask(&self) -> bool {
        let mut state = self.state.lock();
        match state.left_alone {
            Some(until) if Instant::now() < until => false,
            Some(_) => {
                state.left_alone = Some(Instant::now() + PAUSE);
                true
            }
            None => true,
        }
    }

    fn answered(&self) {
        let mut state = self.state.lock();
        if state.failures > 0 {
            tracing::info!("questions are searched by meaning again");
        }
        *state = State::default();
    }

    /// Records a failure, and reports it if it is the first one in a row.
    fn failed(&self, failure: &str) {
        let mut state = self.state.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures == 1 {
            tracing::warn!(
                failure,
                "the embeddings upstream failed; questions are searched by words meanwhile"
            );
        }
        if state.failures >= FAILURES {
            state.left_alone = Some(Instant::now() + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::retrieval::Query;

    use super::text;

    #[test]
    fn a_short_follow_up_is_embedded_with_the_message_before_it() {
        let context = vec!["Do you sell bread?".to_owned(), "Earlier".to_owned()];
        let asked = |text: &str| Query {
            text: text.to_owned(),
            context: context.clone(),
            ..Query::default()
        };
        assert_eq!(text(&asked("How much is it?")), "Do you sell bread?\nHow much is it?");
        let whole = "How much does a loaf of rye bread cost?";
        assert_eq!(text(&asked(whole)), whole);
    }
}
