//! `cargo trial eval hybrid`: search by words, by meaning and by both, on the question sets.
//!
//! Without `--embeddings`, vectors come from the embedder of the tests, which knows only spellings:
//! its figures show that the machinery works, not what a learned model finds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::agent::AnswerFloor;
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
use super::measures::Measure;
use super::silence::Outcome;
use super::{LINES, manuals, sets, silence};

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
    pub(crate) question_prefix: String,
    pub(crate) passage_prefix: String,
}

/// What is measured in addition to the sets.
const OTHERS: [&str; 3] = ["languages", "silence", "manuals"];
/// The sets whose questions are asked of the passages of each other: translations of the same paragraphs.
const TRANSLATIONS: [&str; 4] = ["xquad-es", "xquad-zh", "xquad-ar", "xquad-hi"];

pub(crate) fn run(
    data: &Path,
    wanted: &[String],
    upstream: &Upstream,
    manuals: &[PathBuf],
) -> anyhow::Result<()> {
    let names = || sets::NAMES.into_iter().chain(OTHERS);
    if let Some(unknown) = wanted.iter().find(|one| !names().any(|name| name == *one)) {
        anyhow::bail!("there is no set `{unknown}`");
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let test = runtime.block_on(TestEmbedder::start(DIMENSION));
    let config = EmbeddingsConfig {
        base_url: Some(upstream.url.clone().unwrap_or_else(|| test.url())),
        model: Some(upstream.model.clone().unwrap_or_else(|| "test".to_owned())),
        question_prefix: upstream.question_prefix.clone(),
        passage_prefix: upstream.passage_prefix.clone(),
        question_seconds: 30.0,
        ..EmbeddingsConfig::default()
    };
    let weight = config.weight as f32;
    let embeddings = Embeddings::new(&config, |_| None, Arc::new(SystemClock))?;
    let Some(embeddings) = embeddings else { anyhow::bail!("there is no upstream") };
    let embedder: Arc<dyn Embedder> = Arc::new(embeddings);
    let space = runtime.block_on(space(embedder.as_ref()))?;
    let Space { dimension, chance, reach, .. } = space;
    println!("dimension {dimension}, chance {chance:.3}, reach {reach:.3}");
    let model = Model { runtime: &runtime, embedder: &embedder, space: &space };
    print!("{:20} {:8}", "set", "measure");
    WEIGHTS.iter().for_each(|weight| print!(" {weight:>6.1}"));
    println!();
    for name in sets::NAMES {
        let lines: Vec<_> =
            LINES.iter().filter(|line| line.set == name && !line.measure.is_deep()).collect();
        if is_wanted(name) && !lines.is_empty() {
            let measures: Vec<Measure> = lines.iter().map(|line| line.measure).collect();
            model.rank(name, &sets::load(data, name)?, &measures)?;
        }
    }
    if is_wanted("languages") {
        model.languages(data)?;
    }
    if is_wanted("silence") {
        let names_sets = wanted.iter().any(|one| sets::NAMES.iter().any(|name| name == one));
        model.silence(data, weight, &|name| !names_sets || is_wanted(name))?;
    }
    if is_wanted("manuals") {
        for (manual, _, passages) in manuals::installed(manuals)? {
            let passages = Collection { passages, ..Collection::new("manual") };
            let trial = Trial::new(&model, &passages)?;
            for weight in [0.0, weight] {
                let index = trial.index(weight)?;
                let search = |question: &Question| {
                    trial.ask(&runtime, &index, question, limits::REPLY_PASSAGES)
                };
                println!("{:20} at {weight}: {}", manual.name, manual.line(&search)?);
            }
        }
    }
    Ok(())
}

/// The model, and what its cosines mean.
struct Model<'a> {
    runtime: &'a Runtime,
    embedder: &'a Arc<dyn Embedder>,
    space: &'a Space,
}

impl Model<'_> {
    /// Prints how often the right passage is found with each weight.
    fn rank(&self, name: &str, set: &Collection, measures: &[Measure]) -> anyhow::Result<()> {
        let trial = Trial::new(self, set)?;
        let mut rankings = Vec::new();
        for weight in WEIGHTS {
            rankings.push(trial.rank(self.runtime, &set.questions, weight)?);
        }
        for measure in measures {
            print!("{name:20} {:8}", measure.name());
            for ranking in &rankings {
                print!(" {:>6.3}", measure.mean(&set.questions, ranking));
            }
            println!();
        }
        Ok(())
    }

    /// Asks questions of passages in another language.
    fn languages(&self, data: &Path) -> anyhow::Result<()> {
        for asked in TRANSLATIONS {
            for read in TRANSLATIONS.into_iter().filter(|read| *read != asked) {
                let questions = sets::load(data, asked)?.questions;
                let set = Collection { questions, ..sets::load(data, read)? };
                let name = format!("{asked} of {}", read.trim_start_matches("xquad-"));
                self.rank(&name, &set, &[Measure::First, Measure::InFive])?;
            }
        }
        Ok(())
    }

    /// Prints what is answered and refused by words and by both, for each floor, if half of a set is searched.
    fn silence(
        &self,
        data: &Path,
        weight: f32,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> anyhow::Result<()> {
        println!("answered / refused: cautious, balanced, eager; refused where 95 % are answered");
        let mut outcomes: [[Vec<Outcome>; 2]; 2] = Default::default();
        let names = silence::SETS.into_iter().chain(["stackfaq", "covid-short"]);
        for name in names.filter(|name| is_wanted(name)) {
            let set = sets::load(data, name)?;
            let halves = [set.halved(), set.alternated()];
            for ((half, missing), (kind, outcomes)) in
                halves.iter().zip(silence::HALVES.iter().zip(&mut outcomes))
            {
                if missing.is_empty() {
                    continue;
                }
                let trial = Trial::new(self, half)?;
                for (weight, outcomes) in [0.0, weight].into_iter().zip(outcomes) {
                    let index = trial.index(weight)?;
                    let mut floors = [0.0; AnswerFloor::ALL.len()];
                    for (value, floor) in floors.iter_mut().zip(AnswerFloor::ALL) {
                        let query = Query { text: "floor".to_owned(), floor, ..Query::default() };
                        let found = self.runtime.block_on(index.search(trial.agent, &query, 1))?;
                        *value = f64::from(found.floor);
                    }
                    let search = |question: &Question| {
                        trial.ask(self.runtime, &index, question, limits::REPLY_PASSAGES)
                    };
                    let outcome = Outcome::of(floors, half, missing, &search)?;
                    println!("{name:14} {kind:6} {weight:.1}  {}", outcome.line());
                    outcomes.push(outcome);
                }
            }
        }
        for (kind, outcomes) in silence::HALVES.iter().zip(&outcomes) {
            for (weight, outcomes) in [0.0, weight].iter().zip(outcomes) {
                let mean = Outcome::mean(outcomes);
                println!("{:14} {kind:6} {weight:.1}  {}", "mean", mean.line());
            }
        }
        Ok(())
    }
}

async fn space(embedder: &dyn Embedder) -> anyhow::Result<Space> {
    let probe = embedder.embed(&[PROBE.to_owned()], Purpose::Passage).await?.remove(0);
    let texts = |second: bool| -> Vec<String> {
        PAIRS.iter().map(|(one, two)| if second { *two } else { *one }.to_owned()).collect()
    };
    let questions = embedder.embed(&texts(false), Purpose::Question).await?;
    let statements = embedder.embed(&texts(true), Purpose::Passage).await?;
    let (chance, reach) = calibrate(&questions, &statements);
    Ok(Space {
        id: 1,
        model: embedder.model().to_owned(),
        settings: embedder.settings(),
        dimension: probe.dimension(),
        probe,
        chance,
        reach,
        floor: None,
    })
}

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
    fn new(model: &Model<'_>, collection: &Collection) -> anyhow::Result<Self> {
        let Model { runtime, embedder, space } = model;
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
        current.set((*space).clone());
        let feed = Arc::new(MemoryFeed { source, passages: passages.clone() });
        let memory = MemoryVectors { source, passages, vectors };
        let embedder = Arc::clone(*embedder);
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
}

/// The text of a passage that is embedded, as the learner has it.
fn text(passage: &Passage) -> String {
    let about = [passage.title.as_deref(), passage.heading.as_deref()].into_iter().flatten();
    let about = about.filter(|part| !passage.text.starts_with(part));
    about.chain([passage.text.as_str()]).collect::<Vec<_>>().join("\n")
}
