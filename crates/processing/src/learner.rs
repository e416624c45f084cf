//! The learner: creates vectors of passages after their sources are trained.
//!
//! It works in the background, one batch at a time; until then, searches are by words. The database
//! records which sources lack vectors, so it continues after a crash where it stopped. Accounts
//! take turns, one batch each.

mod spaces;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::meaning::{
    Batch, CurrentSpace, PROBE, Space, Vector, reduced, wait_after_failure,
};
use cicerone_domain::ports::{
    EmbedError, EmbedFailure, Embedder, LackingVectors, PassageIndex, Purpose, VectorClaim,
    VectorStore, VectorWork, WorkSignal,
};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Clock, Error, Id, kind, limits};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::warmer::Warmer;

/// How often it looks for work that another server left.
const POLL: Duration = Duration::from_secs(5);
/// The first pause after a failure; each following one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause that a model may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(10 * 60);
/// How often it checks whether the model is still the same.
const CHECK: Duration = Duration::from_secs(60 * 60);
/// The shortest time between two checks that questions caused.
const DOUBTED: Duration = Duration::from_secs(5);
/// The database stores whole milliseconds, so a source is due slightly later than the wait.
const ROUNDING: Duration = Duration::from_millis(5);
/// How often the sources without vectors are counted while the learner is busy.
const COUNTED: Duration = Duration::from_secs(5);
/// How many sources are remembered for which a passage without a vector was logged.
const REPORTED: usize = 1_000;
/// Passages for which the model produces no vector.
const REFUSED: &str = "cicerone_passages_without_vector_total";

/// What a learner reads, calls and changes.
#[derive(Clone)]
pub struct LearnerPorts {
    /// The sources that lack vectors, and the stored vectors.
    pub vectors: Arc<dyn VectorStore>,
    /// Makes the vectors of passages.
    pub embedder: Arc<dyn Embedder>,
    /// The index, to be brought up to date before the first question.
    pub index: Arc<dyn PassageIndex>,
    /// The space of the model, for searches.
    pub space: CurrentSpace,
    /// Notified when a source was trained.
    pub trained: WorkSignal,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Makes vectors. Clones share one learner.
#[derive(Clone)]
pub struct Learner {
    ports: LearnerPorts,
    /// The cosine from which a passage answers, if the settings name one.
    floor: Option<f32>,
    state: Arc<Mutex<State>>,
    warmer: Warmer,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// No source lacks vectors.
    Nothing,
    /// A batch was processed, or a source was completed.
    Some,
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
enum LearnError {
    #[error(transparent)]
    Store(#[from] Error),
    #[error(transparent)]
    Model(#[from] EmbedError),
}

#[derive(Default)]
struct State {
    /// The account that had the last turn.
    last: Option<Id<kind::Account>>,
    /// When the model was last checked.
    checked: Option<Instant>,
    /// Failures in a row.
    failures: u32,
    /// How often batches are halved because the model requested pauses.
    reduced: u32,
    /// When the sources without vectors were counted last.
    counted: Option<Instant>,
    /// When the next source is due again that was put off for a moment.
    due: Option<Instant>,
    /// The sources for which a passage without a vector was logged.
    reported: HashSet<Id<kind::Source>>,
}

/// The result of a model for texts.
enum Made {
    /// A vector for each.
    Vectors(Vec<Vector>),
    /// No vectors, although it produces one for another text: it fails on these.
    Fails(EmbedError),
    /// Vectors of another space.
    OtherSpace,
}

impl Learner {
    /// A learner over these ports. `floor` is the cosine from which a passage answers, if the settings
    /// name one.
    pub fn new(ports: LearnerPorts, floor: Option<f32>) -> Self {
        let warmer = Warmer::new(Arc::clone(&ports.index));
        Self { ports, floor, state: Arc::default(), warmer }
    }

    /// Makes vectors until `stop`. A batch in progress is abandoned: its source is claimed again.
    pub async fn run(&self, stop: CancellationToken) {
        let mut trained = self.ports.trained.listen();
        let mut doubts = self.ports.space.doubts();
        while let Some(step) = stop.run_until_cancelled(self.step()).await {
            let pause = match step {
                Ok(Learned::Some) => {
                    self.recovered();
                    self.count_if_due().await;
                    continue;
                }
                Ok(Learned::Nothing) => {
                    self.recovered();
                    None
                }
                Err(error) => Some(self.failed(&error)),
            };
            self.measure().await;
            if let Some(pause) = pause {
                stop.run_until_cancelled(tokio::time::sleep(pause)).await;
                continue;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = trained.wait() => {}
                () = doubts.wait() => self.doubted(),
                () = tokio::time::sleep(self.idle()) => {}
            }
        }
    }

    /// Makes one batch.
    ///
    /// # Errors
    ///
    /// Those of the store, and [`Error::Unavailable`] if the model returned no vectors.
    pub async fn run_one(&self) -> Result<Learned, Error> {
        self.step().await.map_err(|error| match error {
            LearnError::Store(error) => error,
            LearnError::Model(error) => Error::unavailable(error),
        })
    }

    async fn step(&self) -> Result<Learned, LearnError> {
        let space = self.space().await?;
        let now = self.ports.clock.now();
        let claim = VectorClaim {
            space: space.id,
            after: self.state.lock().last,
            count: self.ports.embedder.batch(),
            now,
            until: now.plus_millis(limits::VECTOR_LEASE_MILLIS),
            over_quota_until: now.plus_millis(limits::VECTOR_OVER_QUOTA_MILLIS),
        };
        let work = self.ports.vectors.claim_vectors(claim).await?;
        let account = match work {
            None => return Ok(Learned::Nothing),
            Some(VectorWork::Lacking(lacking)) => {
                let account = lacking.account;
                self.state.lock().last = Some(account);
                self.learn(&space, lacking).await?;
                account
            }
            Some(VectorWork::Complete { account, agent, generation }) => {
                let version = AgentVersion { id: agent, account_id: account, generation };
                self.warmer.warm(version);
                account
            }
            Some(VectorWork::Gone { account }) => account,
            Some(VectorWork::OverQuota { account, sources }) => {
                tracing::warn!(account_id = %account, sources,
                    "an account has no room for the vectors of its sources, which are found by their words only");
                account
            }
        };
        self.state.lock().last = Some(account);
        Ok(Learned::Some)
    }

    /// Makes vectors of the first claimed passages and stores them.
    async fn learn(&self, space: &Space, lacking: LackingVectors) -> Result<(), LearnError> {
        let halvings = self.state.lock().reduced;
        let batch = Batch::of(&lacking, self.ports.embedder.batch(), halvings);
        let began = Instant::now();
        match self.make(space, &batch).await {
            Ok(Made::Vectors(vectors)) => {
                self.reduce(|reduced| reduced.saturating_sub(1));
                self.store(space, &lacking, batch.with(vectors), batch.after_success()).await
            }
            Ok(Made::Fails(error)) => match batch.after_failure() {
                Some(halvings) => {
                    let wait = wait_after_failure(began.elapsed());
                    self.give_back(&lacking, halvings, wait).await
                }
                None => {
                    self.report(&lacking, &error);
                    let made = batch.without_vectors();
                    self.store(space, &lacking, made, batch.after_success()).await
                }
            },
            Ok(Made::OtherSpace) => {
                // The model has changed. The next step finds out which one it is.
                self.doubted();
                self.give_back(&lacking, lacking.halvings, DOUBTED).await
            }
            Err(error) => {
                self.reduce(reduced);
                // Released at once, so that the next step can claim it.
                self.give_back(&lacking, lacking.halvings, Duration::ZERO).await?;
                Err(error.into())
            }
        }
    }

    /// Requests the vectors of a batch. If that fails, the vector of [`PROBE`] is requested, which shows whether the
    /// texts are the cause. The status alone does not: some servers answer 500 to a text that is too long, and some
    /// answer 400 to every text while they start.
    ///
    /// Returns an error if the model does not produce vectors at the moment.
    async fn make(&self, space: &Space, batch: &Batch) -> Result<Made, EmbedError> {
        let embedder = self.ports.embedder.as_ref();
        let texts = batch.texts();
        let failure = match embedder.embed(&texts, Purpose::Passage).await {
            Ok(vectors) => {
                let is_of_space = |vector: &Vector| vector.dimension() == space.dimension;
                if vectors.len() == texts.len() && vectors.iter().all(is_of_space) {
                    return Ok(Made::Vectors(vectors));
                }
                let message =
                    "the embedding model returned vectors with a different number of dimensions"
                        .to_owned();
                EmbedError { failure: EmbedFailure::Unclear, message, source: None }
            }
            Err(error) => match error.failure {
                EmbedFailure::Texts | EmbedFailure::Unclear => error,
                EmbedFailure::Later(_) | EmbedFailure::Settings => return Err(error),
            },
        };
        match embedder.embed(&[PROBE.to_owned()], Purpose::Passage).await {
            Ok(probes) => match probes.first() {
                Some(probe) if space.holds(probe) => Ok(Made::Fails(failure)),
                Some(_) => Ok(Made::OtherSpace),
                None => Err(failure),
            },
            Err(error) => {
                tracing::debug!(
                    error = &failure as &dyn std::error::Error,
                    "the embedding model failed on a batch, and then on a text that had succeeded before"
                );
                Err(error)
            }
        }
    }

    async fn store(
        &self,
        space: &Space,
        lacking: &LackingVectors,
        made: Vec<(i64, Option<Vector>)>,
        halvings: u32,
    ) -> Result<(), LearnError> {
        let (vectors, now) = (&self.ports.vectors, self.ports.clock.now());
        match vectors.store_vectors(lacking, space.id, made, halvings, now).await {
            Ok(()) => Ok(()),
            // The next claim looks at the quota, and puts off what else the account has.
            Err(Error::BytesExceeded { .. }) => {
                let until = now.plus_millis(limits::VECTOR_OVER_QUOTA_MILLIS);
                Ok(vectors.postpone_vectors(lacking.source, halvings, until).await?)
            }
            Err(error) => {
                // If this fails too, the claim expires.
                let _ = vectors.postpone_vectors(lacking.source, lacking.halvings, now).await;
                Err(error.into())
            }
        }
    }

    /// Gives a source back, to be claimed after a wait.
    async fn give_back(
        &self,
        lacking: &LackingVectors,
        halvings: u32,
        wait: Duration,
    ) -> Result<(), LearnError> {
        self.due_at(Instant::now() + wait + ROUNDING);
        let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        let until = self.ports.clock.now().plus_millis(wait);
        Ok(self.ports.vectors.postpone_vectors(lacking.source, halvings, until).await?)
    }

    /// Counts a passage that gets no vector, and reports the first one of a source.
    fn report(&self, lacking: &LackingVectors, error: &EmbedError) {
        metrics::counter!(REFUSED).increment(1);
        let mut state = self.state.lock();
        if state.reported.len() >= REPORTED {
            state.reported.clear();
        }
        if state.reported.insert(lacking.source) {
            tracing::warn!(account_id = %lacking.account, source_id = %lacking.source,
                error = error as &dyn std::error::Error,
                "the embedding model returns no vector for a passage, which is found by its words only; \
                 further ones of this source are only counted");
        }
    }

    /// How long to wait if nothing is due: until the next postponed source is due, at most [`POLL`].
    fn idle(&self) -> Duration {
        let due = self.state.lock().due.take();
        due.map_or(POLL, |due| due.saturating_duration_since(Instant::now()).min(POLL))
    }

    fn due_at(&self, due: Instant) {
        let mut state = self.state.lock();
        state.due = Some(state.due.map_or(due, |known| known.min(due)));
    }

    /// Changes how often batches are halved.
    fn reduce(&self, change: impl FnOnce(u32) -> u32) {
        let mut state = self.state.lock();
        state.reduced = change(state.reduced);
    }

    /// Makes the next step check the model, unless it was checked a moment ago.
    fn doubted(&self) {
        let mut state = self.state.lock();
        if state.checked.is_none_or(|at| at.elapsed() >= DOUBTED) {
            state.checked = None;
        }
    }

    fn recovered(&self) {
        if std::mem::take(&mut self.state.lock().failures) > 0 {
            tracing::info!("vectors of passages can be created again");
        }
    }

    /// Records a failure, reports it if it is the first one in a row, and returns the pause before
    /// the next step.
    fn failed(&self, error: &LearnError) -> Duration {
        let mut state = self.state.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures == 1 {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "cannot create vectors at the moment; searches use words only"
            );
        }
        let doubled = FIRST_PAUSE.saturating_mul(1 << (state.failures - 1).min(8));
        let asked = match error {
            LearnError::Model(EmbedError { failure: EmbedFailure::Later(asked), .. }) => *asked,
            LearnError::Model(_) | LearnError::Store(_) => None,
        };
        doubled.min(LONGEST_PAUSE).max(asked.unwrap_or_default().min(LONGEST_ASKED))
    }

    /// Counts the sources without vectors, unless that was a moment ago.
    async fn count_if_due(&self) {
        let counted = self.state.lock().counted;
        if counted.is_none_or(|at| at.elapsed() >= COUNTED) {
            self.measure().await;
        }
    }

    async fn measure(&self) {
        self.state.lock().counted = Some(Instant::now());
        match self.ports.vectors.lacking_vectors().await {
            Ok(lacking) => {
                metrics::gauge!("cicerone_sources_without_vectors").set(lacking as f64);
            }
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the sources without vectors could not be counted"
            ),
        }
    }
}
