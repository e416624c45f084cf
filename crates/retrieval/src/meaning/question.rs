//! The vectors of questions: requested with a short time limit, and cached for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use cicerone_domain::meaning::{PAIRS, Space, Vector};
use cicerone_domain::ports::{EmbedFailure, Purpose};
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
const AT_ONCE: u64 = 16;
/// A question waits for its place for this part of the time that the model has for its vector.
const PLACE_SHARE: u32 = 4;
/// The failures in a row after which the model is not asked for a while, so that replies do not
/// wait for it.
const FAILURES: u32 = 3;
/// How long it is not asked before one question tries it again.
const PAUSE: Duration = Duration::from_secs(5);
/// Failures are reported at most this often.
const REPORTED: Duration = Duration::from_secs(60);
/// If the model fails at a longer question, it is asked for the vector of so many characters at its end, where the
/// question is if the message before it is embedded too.
const SHORT_CHARS: usize = 500;
/// A question with fewer characters is embedded with the message before it.
const STANDS_ALONE_CHARS: usize = 30;
/// So many characters at the end of the message before it. A client's message may be long, and the question must be
/// within what the model reads.
const BEFORE_CHARS: usize = 1_000;

/// The text of a query that is embedded: the question and, if it is short, the end of the message before it.
pub(super) fn text(query: &Query) -> String {
    match query.context.first() {
        Some(before) if query.text.chars().count() < STANDS_ALONE_CHARS => {
            format!("{}\n{}", end(before, BEFORE_CHARS).unwrap_or(before), query.text)
        }
        _ => query.text.clone(),
    }
}

/// The last so many characters of a text; `None` if it has no more.
fn end(text: &str, chars: usize) -> Option<&str> {
    let (begin, _) = text.char_indices().nth_back(chars.checked_sub(1)?)?;
    text.get(begin..).filter(|_| begin > 0)
}

/// A question of an account in a space.
type Key = (Id<kind::Account>, i64, Box<str>);

/// The vectors of questions.
pub(super) struct Questions {
    patience: Duration,
    kept: Duration,
    cache: Cache<Key, Arc<KnownVector>, Weight>,
    places: FairPool<Id<kind::Account>>,
    state: Arc<Mutex<State>>,
}

struct KnownVector {
    vector: Vector,
    at: Instant,
}

/// How the model has answered recently.
#[derive(Default)]
struct State {
    /// In a row.
    failures: u32,
    /// Until when it is left alone.
    left_alone: Option<Instant>,
    /// Whether the failure was reported, so that its end is reported too.
    is_reported: bool,
    /// When a failure was reported last.
    reported: Option<Instant>,
    /// Until when an example is asked for, to learn whether the model or a question is slow.
    probed: Option<Instant>,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<KnownVector>> for Weight {
    fn weight(&self, (_, _, text): &Key, kept: &Arc<KnownVector>) -> u64 {
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
            state: Arc::default(),
        }
    }

    /// The vector of a question in a space; `None` if the model does not return it in time.
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
        if self.is_left_alone() {
            return None;
        }
        // An account that waits for a place because of its own questions learns nothing about the model.
        let place = self.places.acquire(account, 1, Urgency::Question);
        let place = tokio::time::timeout(self.patience / PLACE_SHARE, place).await.ok()?;
        if !self.may_ask() {
            return None;
        }
        let asked = tokio::time::timeout(self.patience, ask(ports, space, text)).await;
        match asked {
            Ok(Ok(vector)) => {
                self.state.lock().answered();
                let kept = KnownVector { vector: vector.clone(), at: Instant::now() };
                self.cache.insert(key, Arc::new(kept));
                Some(vector)
            }
            Ok(Err(NoVector::Text(message))) => {
                self.state.lock().answered();
                tracing::debug!(account_id = %account, message,
                    "the embeddings upstream returns no vector for a question; the search uses words only");
                None
            }
            Ok(Err(NoVector::Model(message))) => {
                self.state.lock().failed(1, &message);
                None
            }
            Err(_) => {
                self.probe(ports, space, place);
                None
            }
        }
    }

    /// Asks for the vector of an example after a question got none in time, without a caller that waits for it. The
    /// slow questions of one account must not make the model count as failing for everybody. There is one such request
    /// at a time, and it keeps the place of the question.
    fn probe(&self, ports: &MeaningPorts, space: &Space, place: FairPermit<Id<kind::Account>>) {
        let patience = self.patience;
        {
            let mut state = self.state.lock();
            let now = Instant::now();
            if state.probed.is_some_and(|until| now < until) {
                return;
            }
            state.probed = Some(now + patience * 2);
        }
        let (ports, space, state) = (ports.clone(), space.clone(), Arc::clone(&self.state));
        tokio::spawn(async move {
            let [(example, _), ..] = PAIRS;
            let asked = tokio::time::timeout(patience, one(&ports, &space, example)).await;
            drop(place);
            let mut state = state.lock();
            state.probed = None;
            match asked {
                Ok(Ok(_)) => state.answered(),
                // The question counts, too.
                Ok(Err(NoVector::Text(message) | NoVector::Model(message))) => {
                    state.failed(2, &message)
                }
                Err(_) => {
                    let patience = patience.as_secs_f64();
                    let message =
                        format!("the embeddings upstream returned no vector within {patience} s");
                    state.failed(2, &message);
                }
            }
        });
    }

    fn is_left_alone(&self) -> bool {
        self.state.lock().left_alone.is_some_and(|until| Instant::now() < until)
    }

    /// Whether the model is not left alone. After a pause, one question at a time tries it.
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
}

impl State {
    /// Records that the model works, and reports it if a failure was reported.
    fn answered(&mut self) {
        (self.failures, self.left_alone) = (0, None);
        if std::mem::take(&mut self.is_reported) {
            tracing::info!("searches use meaning again");
        }
    }

    /// Records so many failures, and reports one unless another was reported less than a minute ago.
    fn failed(&mut self, count: u32, failure: &str) {
        self.failures = self.failures.saturating_add(count);
        if !self.is_reported && self.reported.is_none_or(|at| at.elapsed() >= REPORTED) {
            (self.is_reported, self.reported) = (true, Some(Instant::now()));
            tracing::warn!(
                failure,
                "the embeddings upstream failed; searches use words only until it works again"
            );
        }
        if self.failures >= FAILURES {
            self.left_alone = Some(Instant::now() + PAUSE);
        }
    }
}

/// Why there is no vector of a question.
enum NoVector {
    /// The model makes vectors of other texts.
    Text(String),
    /// The model fails.
    Model(String),
}

/// Asks for the vector of a question. If the model fails, asks for the vector of the question's end, and then of an
/// example question: the model counts as failing only if it fails for the example too, so one text cannot cause that.
async fn ask(ports: &MeaningPorts, space: &Space, text: &str) -> Result<Vector, NoVector> {
    let mut refused = match one(ports, space, text).await {
        Err(NoVector::Text(message)) => message,
        outcome => return outcome,
    };
    if let Some(short) = end(text, SHORT_CHARS) {
        refused = match one(ports, space, short).await {
            Err(NoVector::Text(message)) => message,
            outcome => return outcome,
        };
    }
    let [(example, _), ..] = PAIRS;
    match one(ports, space, example).await {
        Ok(_) => Err(NoVector::Text(refused)),
        Err(NoVector::Text(_)) => Err(NoVector::Model(refused)),
        outcome => outcome,
    }
}

/// Asks for the vector of a text once. [`NoVector::Text`] may also be due to the model.
async fn one(ports: &MeaningPorts, space: &Space, text: &str) -> Result<Vector, NoVector> {
    let made = ports.embedder.embed(&[text.to_owned()], Purpose::Question).await;
    match made {
        Ok(vectors) => match vectors.into_iter().next() {
            Some(vector) if vector.dimension() == space.dimension => Ok(vector),
            Some(vector) => {
                ports.space.doubt();
                Err(NoVector::Model(format!(
                    "the embeddings upstream sent a vector of {} dimensions instead of {}",
                    vector.dimension(),
                    space.dimension
                )))
            }
            None => Err(NoVector::Text("the embeddings upstream sent no vector".to_owned())),
        },
        Err(error) => {
            let message = error.to_string();
            Err(match error.failure {
                EmbedFailure::Texts | EmbedFailure::Unclear => NoVector::Text(message),
                EmbedFailure::Later(_) | EmbedFailure::Settings => NoVector::Model(message),
            })
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

    #[test]
    fn of_a_long_message_before_it_the_end_is_embedded() {
        let asked = |before: String| Query {
            text: "How much is it?".to_owned(),
            context: vec![before],
            ..Query::default()
        };
        let thousand = format!("{}é", "🦀".repeat(999));
        let expected = format!("{thousand}\nHow much is it?");
        assert_eq!(text(&asked(thousand.clone())), expected);
        assert_eq!(text(&asked(format!("x{thousand}"))), expected);
        assert_eq!(text(&asked(format!("{}{thousand}", "é".repeat(30_000)))), expected);
    }
}
