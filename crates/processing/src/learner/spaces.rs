//! The space of the model's vectors. The model is checked at the start, every hour, and if a vector
//! does not fit.

use cicerone_domain::meaning::{PAIRS, PROBE, Space, calibrate};
use cicerone_domain::ports::{EmbedError, EmbedFailure, Purpose};
use tokio::time::Instant;

use super::{CHECK, LearnError, Learner};

impl Learner {
    /// The space of the model, which is checked first if that is due.
    pub(super) async fn space(&self) -> Result<Space, LearnError> {
        let checked = self.state.lock().checked;
        if checked.is_some_and(|at| at.elapsed() < CHECK)
            && let Some(space) = self.ports.space.get()
        {
            return Ok(space.as_ref().clone());
        }
        let space = self.look().await?;
        if self.ports.space.get().is_none_or(|known| known.id != space.id) {
            let marked = self.ports.vectors.enter_space(space.id).await?;
            tracing::info!(
                model = space.model,
                dimension = space.dimension,
                reach = space.reach,
                sources_to_embed_again = marked,
                "vectors are made by this model"
            );
        }
        self.ports.space.set(space.clone());
        self.state.lock().checked = Some(Instant::now());
        Ok(space)
    }

    /// Recognises the space of the model by its vector of a fixed text, or creates a new one.
    async fn look(&self) -> Result<Space, LearnError> {
        let embedder = self.ports.embedder.as_ref();
        let texts = [PROBE.to_owned()];
        let probes = embedder.embed(&texts, Purpose::Passage).await?;
        let Some(probe) = probes.into_iter().next() else {
            return Err(nothing().into());
        };
        let settings = embedder.settings();
        let known = self.ports.vectors.spaces(embedder.model(), &settings).await?;
        let mut space = match known.into_iter().find(|space| space.holds(&probe)) {
            // An earlier version calibrated it in another way.
            Some(space) if space.reach <= 0.0 => {
                let (chance, reach) = self.calibrate().await?;
                Space { chance, reach, ..space }
            }
            Some(space) => space,
            None => {
                let (chance, reach) = self.calibrate().await?;
                let space = Space {
                    id: 0,
                    model: embedder.model().to_owned(),
                    settings,
                    dimension: probe.dimension(),
                    probe,
                    chance,
                    reach,
                    floor: None,
                };
                self.ports.vectors.add_space(space, self.ports.clock.now()).await?
            }
        };
        space.floor = self.floor;
        Ok(space)
    }

    async fn calibrate(&self) -> Result<(f32, f32), EmbedError> {
        let embedder = self.ports.embedder.as_ref();
        let (mut questions, mut statements) = (Vec::new(), Vec::new());
        for pairs in PAIRS.chunks(embedder.batch().max(1)) {
            let texts: Vec<String> = pairs.iter().map(|(asked, _)| (*asked).to_owned()).collect();
            questions.extend(embedder.embed(&texts, Purpose::Example).await?);
            let texts: Vec<String> = pairs.iter().map(|(_, said)| (*said).to_owned()).collect();
            statements.extend(embedder.embed(&texts, Purpose::Passage).await?);
        }
        Ok(calibrate(&questions, &statements))
    }
}

fn nothing() -> EmbedError {
    EmbedError {
        failure: EmbedFailure::Later(None),
        message: "the embedding model made no vector".to_owned(),
        source: None,
    }
}
