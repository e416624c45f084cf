//! The learner: makes vectors of passages after their sources are trained.
//!
//! It works in the background, one batch at a time; until then, searches are by words. The database
//! records which sources lack vectors, so it continues after a crash where it stopped. Accounts
//! take turns, one batch each.

mod batch;
mod spaces;

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::meaning::{CurrentSpace, Space, Vector};
use cicerone_domain::ports::{
    EmbedError, EmbedFailure, Embedder, LackingVectors, PassageIndex, VectorStore, VectorWork,
    WorkSignal,
};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Clock, Error, Id, kind, limits};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often it looks for work that another server left.
const POLL: Duration = Duration::from_secs(5);
/// The first pause after a failure; each following one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause that a model may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(10 * 60);
/// How often it checks whether the model is still the same.
const CHECK: Duration = Duration::from_secs(60 * 60);
/// The shortest time between two checks that questions caused.
const DOUBTED: Duration = Duration::from_secs(5);
/// How long a source waits if its account may not store more bytes.
const OVER_QUOTA_MILLIS: i64 = 60 * 60 * 1_000;

/// The ports of a learner.
#[derive(Clone)]
pub struct LearnerPorts {
    /// The sources that lack vectors, and the stored vectors.
    pub vectors: Arc<dyn VectorStore>,
    /// The model.
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
    /// The least cosine of a passage that answers a question in other words; `None` to calibrate
    /// it.
    floor: Option<f32>,
    state: Arc<Mutex<State>>,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// No source lacks vectors.
    Nothing,
    /// A batch was made, or a source was completed.
    Some,
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
enum Trouble {
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
}

impl Learner {
    /// A learner over these ports. `floor` is the least cosine of a passage that answers a question
    /// in other words; if it is `None`, it is calibrated for each space.
    pub fn new(ports: LearnerPorts, floor: Option<f32>) -> Self {
        Self { ports, floor, state: Arc::default() }
    }

    /// Makes vectors until `stop`. A batch in progress is abandoned: its source is claimed again.
    pub async fn run(&self, stop: CancellationToken) {
        let mut trained = self.ports.trained.listen();
        let mut doubts = self.ports.space.doubts();
        while let Some(step) = stop.run_until_cancelled(self.step()).await {
            let pause = match step {
                Ok(Learned::Some) => {
                    self.recovered();
                    continue;
                }
                Ok(Learned::Nothing) => {
                    self.recovered();
                    None
                }
                Err(trouble) => Some(self.failed(&trouble)),
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
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }

    /// Makes one batch.
    ///
    /// # Errors
    ///
    /// Those of the store, and [`Error::Unavailable`] if the model returned no vectors.
    pub async fn run_one(&self) -> Result<Learned, Error> {
        self.step().await.map_err(|trouble| match trouble {
            Trouble::Store(error) => error,
            Trouble::Model(error) => Error::unavailable(error),
        })
    }

    async fn step(&self) -> Result<Learned, Trouble> {
        let space = self.space().await?;
        let now = self.ports.clock.now();
        let until = now.plus_millis(limits::VECTOR_LEASE_MILLIS);
        let (last, count) = (self.state.lock().last, self.ports.embedder.batch());
        let work = self.ports.vectors.claim_vectors(space.id, last, count, now, until).await?;
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
                let index = Arc::clone(&self.ports.index);
                tokio::spawn(async move {
                    if let Err(error) = index.synchronise(version).await {
                        tracing::warn!(agent_id = %agent, error = &error as &dyn std::error::Error,
                            "the index was not brought up to date; the next question does it");
                    }
                });
                account
            }
            Some(VectorWork::Gone { account }) => account,
        };
        self.state.lock().last = Some(account);
        Ok(Learned::Some)
    }

    /// Makes vectors of claimed passages and stores them.
    async fn learn(&self, space: &Space, lacking: LackingVectors) -> Result<(), Trouble> {
        let made = match batch::make(self.ports.embedder.as_ref(), &lacking.passages).await {
            Ok(made) => made,
            Err(error) => {
                // Released at once, so that the next step can claim it.
                self.ports.vectors.postpone_vectors(lacking.source, self.ports.clock.now()).await?;
                return Err(error.into());
            }
        };
        let is_of_space = |vector: &Vector| vector.dimension() == space.dimension;
        if !made.iter().filter_map(|(_, vector)| vector.as_ref()).all(is_of_space) {
            // The model has changed. The next step finds out which one it is.
            self.state.lock().checked = None;
            self.ports.vectors.postpone_vectors(lacking.source, self.ports.clock.now()).await?;
            return Ok(());
        }
        let now = self.ports.clock.now();
        match self.ports.vectors.store_vectors(&lacking, space.id, made, now).await {
            Err(error @ Error::BytesExceeded { .. }) => {
                tracing::warn!(account_id = %lacking.account, source_id = %lacking.source,
                    error = &error as &dyn std::error::Error,
                    "an account may not keep the vectors of a source, which is found by its words only");
                let until = now.plus_millis(OVER_QUOTA_MILLIS);
                Ok(self.ports.vectors.postpone_vectors(lacking.source, until).await?)
            }
            Err(error) => {
                // If this fails too, the claim expires.
                let _ = self.ports.vectors.postpone_vectors(lacking.source, now).await;
                Err(error.into())
            }
            Ok(()) => Ok(()),
        }
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
            tracing::info!("vectors of passages are made again");
        }
    }

    /// Records a failure, reports it if it is the first one in a row, and returns the pause before
    /// the next step.
    fn failed(&self, trouble: &Trouble) -> Duration {
        let mut state = self.state.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures == 1 {
            tracing::warn!(
                error = trouble as &dyn std::error::Error,
                "vectors of passages cannot be made at present; searches go by words meanwhile"
            );
        }
        let doubled = FIRST_PAUSE.saturating_mul(1 << (state.failures - 1).min(8));
        let asked = match trouble {
            Trouble::Model(EmbedError { failure: EmbedFailure::Later(asked), .. }) => *asked,
            Trouble::Model(_) | Trouble::Store(_) => None,
        };
        doubled.min(LONGEST_PAUSE).max(asked.unwrap_or_default().min(LONGEST_ASKED))
    }

    async fn measure(&self) {
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
