//! `cargo trial eval hybrid`: search by words, by meaning and by both, on the question sets.
//!
//! Without `--embeddings`, vectors come from the embedder of the tests, which knows only spellings:
//! its figures show that the machinery works, not what a learned model finds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::meaning::{CurrentSpace, PAIRS, PROBE, Space, Vector, calibrate};
use cicerone_domain::ports::{
    AgentVectors, Embedder, PassageAt, PassageIndex as _, Purpose, SourceVectors, Stages,
    VectorFeed,
};
use cicerone_domain::retrieval::{AgentVersion, Query};
use cicerone_domain::{Error, Id, Passage, SystemClock, kind, limits};
use cicerone_llm::{Embeddings, EmbeddingsConfig};
use cicerone_retrieval::{Index, IndexConfig, MeaningConfig, MeaningPorts};
use cicerone_tests::embedder::TestEmbedder;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::collection::{Collection, Question};
use super::feed::{MemoryFeed, stored};
use super::{LINES, sets};

/// The weights of meaning that are tried: words alone, both, meaning alone.
const WEIGHTS: [f32; 7] = [0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0];
/// The numbers in a vector of the tests' embedder.
const DIMENSION: usize = 256;
/// Passages embedded at once.
const BATCH: usize = 64;

/// The upstream of an evaluation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Upstream {
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
}

pub(crate) fn run(data: &Path, wanted: &[String], upstream: &Upstream) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let test = runtime.block_on(TestEmbedder::start(DIMENSION));
    let config = EmbeddingsConfig {
        base_url: Some(upstream.url.clone().unwrap_or_else(|| test.url())),
        model: Some(upstream.model.clone().unwrap_or_else(|| "test".to_owned())),
        question_seconds: 30.0,
        ..EmbeddingsConfig::default()
    };
    let embeddings = Embeddings::new(&config, |_| None, Arc::new(SystemClock))?;
    let Some(embeddings) = embeddings else { anyhow::bail!("there is no upstream") };
    let embedder: Arc<dyn Embedder> = Arc::new(embeddings);
    let space = runtime.block_on(space(embedder.as_ref()))?;
    let Space { dimension, floor, margin, .. } = space;
    println!("dimension {dimension}, calibrated floor {floor:.3}, {margin:.3} above chance");
    print!("{:14} {:8}", "set", "measure");
    WEIGHTS.iter().for_each(|weight| print!(" {weight:>6.1}"));
    println!("   answered/refused by words, at .5");
    for name in sets::NAMES {
        let is_wanted = wanted.is_empty() || wanted.iter().any(|one| one == name);
        let lines: Vec<_> =
            LINES.iter().filter(|line| line.set == name && !line.measure.is_deep()).collect();
        if !is_wanted || lines.is_empty() {
            continue;
        }
        let collection = sets::load(data, name)?;
        let trial = Trial::new(&runtime, &embedder, &space, &collection)?;
        let mut rankings = Vec::new();
        for weight in WEIGHTS {
            rankings.push(trial.rank(&runtime, &collection.questions, weight)?);
        }
        for line in lines {
            print!("{name:14} {:8}", line.measure.name());
            for ranking in &rankings {
                print!(" {:>6.3}", line.measure.mean(&collection.questions, ranking));
            }
            println!();
        }
        let (half, missing) = collection.halved();
        if !missing.is_empty() {
            let trial = Trial::new(&runtime, &embedder, &space, &half)?;
            for weight in [0.0, 0.5] {
                let answered = trial.answered(&runtime, &half.questions, weight)?;
                let refused = 1.0 - trial.answered(&runtime, &missing, weight)?;
                println!(
                    "{:14} silence at {weight}: answered {answered:.3}, refused {refused:.3}",
                    ""
                );
            }
        }
    }
    Ok(())
}

async fn space(embedder: &dyn Embedder) -> anyhow::Result<Space> {
    let probe = embedder.embed(&[PROBE.to_owned()], Purpose::Passage).await?.remove(0);
    let texts = |second: bool| -> Vec<String> {
        PAIRS.iter().map(|(one, two)| if second { *two } else { *one }.to_owned()).collect()
    };
    let questions = embedder.embed(&texts(false), Purpose::Question).await?;
    let statements = embedder.embed(&texts(true), Purpose::Passage).await?;
    let (floor, margin) = calibrate(&questions, &statements);
    Ok(Space {
        id: 1,
        model: embedder.model().to_owned(),
        settings: embedder.settings(),
        dimension: probe.dimension(),
        probe,
        floor,
        margin,
    })
}

/// Vectors in memory.
struct MemoryVectors {
    source: Id<kind::Source>,
    passages: Vec<Passage>,
    vectors: Vec<Vector>,
}

#[async_trait]
impl VectorFeed for MemoryVectors {
    async fn agent_vectors(
        &self,
        _: Id<kind::Agent>,
        _: i64,
    ) -> Result<Option<AgentVectors>, Error> {
        let all = SourceVectors { id: self.source, version: 1, is_complete: true };
        Ok(Some(AgentVectors { generation: 1, sources: vec![all] }))
    }

    async fn vectors(
        &self,
        _: Id<kind::Source>,
        _: u64,
        _: i64,
        after: Option<i64>,
    ) -> Result<Option<Vec<(i64, Option<Vector>)>>, Error> {
        let begin = after.map_or(0, |after| usize::try_from(after + 1).unwrap_or(usize::MAX));
        let rows = (0..).zip(&self.vectors).skip(begin).take(limits::FEED_PASSAGES);
        Ok(Some(rows.map(|(position, vector)| (position, Some(vector.clone()))).collect()))
    }

    async fn passages_at(
        &self,
        _: Id<kind::Account>,
        places: &[PassageAt],
    ) -> Result<Vec<(Id<kind::Source>, StoredPassage)>, Error> {
        let is_wanted =
            |passage: &&Passage| places.iter().any(|at| at.position == passage.position);
        let wanted = self.passages.iter().filter(is_wanted);
        Ok(wanted.map(|passage| (self.source, stored(self.source, passage))).collect())
    }
}

struct Trial {
    folder: TempDir,
    agent: AgentVersion,
    ports: MeaningPorts,
    feed: Arc<MemoryFeed>,
}

impl Trial {
    fn new(
        runtime: &Runtime,
        embedder: &Arc<dyn Embedder>,
        space: &Space,
        collection: &Collection,
    ) -> anyhow::Result<Self> {
        let source: Id<kind::Source> = "src_evaluation".parse()?;
        // Half of a set keeps the passage numbers of the whole set.
        let passages: Vec<Passage> = (0..)
            .zip(&collection.passages)
            .map(|(position, passage)| Passage { position, ..passage.clone() })
            .collect();
        let mut vectors = Vec::with_capacity(passages.len());
        for some in passages.chunks(BATCH) {
            let texts: Vec<String> = some.iter().map(text).collect();
            vectors.extend(runtime.block_on(embedder.embed(&texts, Purpose::Passage))?);
        }
        let current = CurrentSpace::default();
        current.set(space.clone());
        let feed = Arc::new(MemoryFeed { source, passages: passages.clone() });
        let memory = MemoryVectors { source, passages, vectors };
        let embedder = Arc::clone(embedder);
        Ok(Self {
            folder: TempDir::new()?,
            agent: AgentVersion {
                id: "agent_evaluation".parse()?,
                account_id: "acct_evaluation".parse()?,
                generation: 1,
            },
            ports: MeaningPorts { embedder, feed: Arc::new(memory), space: current },
            feed,
        })
    }

    fn index(&self, weight: f32) -> anyhow::Result<Index> {
        let config = IndexConfig {
            directory: self.folder.path().to_path_buf(),
            open_agents: 1,
            memory_bytes: 0,
        };
        let how = MeaningConfig {
            weight,
            patience: Duration::from_secs(30),
            kept: Duration::from_secs(3_600),
        };
        let meaning = (weight > 0.0).then(|| (self.ports.clone(), how));
        Ok(Index::open_with(config, self.feed.clone(), meaning)?)
    }

    fn rank(
        &self,
        runtime: &Runtime,
        questions: &[Question],
        weight: f32,
    ) -> anyhow::Result<Vec<Vec<usize>>> {
        let index = self.index(weight)?;
        let mut rankings = Vec::with_capacity(questions.len());
        for question in questions {
            let found = self.ask(runtime, &index, question, 10)?;
            let places = found.hits.iter().map(|hit| usize::try_from(hit.position));
            rankings.push(places.collect::<Result<_, _>>()?);
        }
        Ok(rankings)
    }

    fn ask(
        &self,
        runtime: &Runtime,
        index: &Index,
        question: &Question,
        limit: usize,
    ) -> anyhow::Result<cicerone_domain::retrieval::Found> {
        let query = Query { text: question.text.clone(), ..Query::default() };
        Ok(runtime.block_on(async {
            let vector = index.meaning(self.agent, &query, &Stages::default()).await;
            index.search_with(self.agent, &query, vector, limit).await
        })?)
    }

    /// The share of the questions that are answered.
    fn answered(
        &self,
        runtime: &Runtime,
        questions: &[Question],
        weight: f32,
    ) -> anyhow::Result<f64> {
        let index = self.index(weight)?;
        let mut answered = 0.0;
        for question in questions {
            let found = self.ask(runtime, &index, question, limits::REPLY_PASSAGES)?;
            answered += f64::from(u8::from(found.hits.iter().any(|hit| hit.is_relevant)));
        }
        Ok(answered / questions.len().max(1) as f64)
    }
}

fn text(passage: &Passage) -> String {
    match &passage.title {
        Some(title) => format!("{title}\n{}", passage.text),
        None => passage.text.clone(),
    }
}
