//! A scripted feed, and the index over it.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use async_trait::async_trait;
use cicerone_domain::content::StoredPassage;
use cicerone_domain::ports::{AgentContent, PassageFeed, PassageIndex as _, Wanted, WholeContent};
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::{Error, Id, Passage, kind, limits};
use cicerone_language::Language;
use cicerone_retrieval::{Index, IndexConfig};
use parking_lot::Mutex;
use tempfile::TempDir;

/// The database: agents with a generation, and sources with a version and documents.
///
/// As in the real database, the upper half of a generation is a counter; the lower half
/// distinguishes the histories that begin with each restore.
/// that begin with each restore.
#[derive(Default)]
pub(crate) struct Rows {
    history: AtomicU64,
    agents: Mutex<BTreeMap<Id<kind::Agent>, AgentRow>>,
    /// How often passages were read.
    pub(crate) reads: AtomicUsize,
    /// The number of documents whose passages were read.
    pub(crate) documents_read: AtomicUsize,
    /// How often all passages of an agent were read.
    whole_reads: AtomicUsize,
    /// How often the documents of a source were listed.
    pub(crate) looks: AtomicUsize,
    /// Agents whose content is never returned.
    stalled: Mutex<HashSet<Id<kind::Agent>>>,
}

/// The state of the database at one time.
pub(crate) struct Backup(BTreeMap<Id<kind::Agent>, AgentRow>);

#[derive(Default, Clone)]
struct AgentRow {
    generation: u64,
    sources: BTreeMap<Id<kind::Source>, SourceRow>,
}

#[derive(Default, Clone)]
struct SourceRow {
    version: u64,
    documents: BTreeMap<i64, (u64, Vec<Passage>)>,
}

impl Rows {
    /// Gives a source new content of one document.
    pub(crate) fn put(&self, agent: Id<kind::Agent>, source: &str, passages: Vec<Passage>) {
        self.change(agent, source, |documents, version| {
            *documents = BTreeMap::from([(0, (version, passages))]);
        });
    }

    /// Changes documents of a source; those that are not touched stay as they are.
    pub(crate) fn change(
        &self,
        agent: Id<kind::Agent>,
        source: &str,
        change: impl FnOnce(&mut BTreeMap<i64, (u64, Vec<Passage>)>, u64),
    ) {
        let mut agents = self.agents.lock();
        let row = agents.entry(agent).or_default();
        row.generation = self.raised(row.generation);
        let source = row.sources.entry(source_id(source)).or_default();
        source.version = row.generation;
        change(&mut source.documents, row.generation);
    }

    /// Deletes a source.
    pub(crate) fn delete(&self, agent: Id<kind::Agent>, source: &str) {
        let mut agents = self.agents.lock();
        let row = agents.entry(agent).or_default();
        row.generation = self.raised(row.generation);
        row.sources.remove(&source_id(source));
    }

    /// Deletes an agent.
    pub(crate) fn delete_agent(&self, agent: Id<kind::Agent>) {
        self.agents.lock().remove(&agent);
    }

    /// The bytes of an agent's passages.
    fn stored(&self, agent: Id<kind::Agent>) -> usize {
        let agents = self.agents.lock();
        let sources = agents.get(&agent).into_iter().flat_map(|row| row.sources.values());
        let documents = sources.flat_map(|source| source.documents.values());
        documents.flat_map(|(_, passages)| passages).map(|passage| passage.text.len()).sum()
    }

    fn raised(&self, generation: u64) -> u64 {
        (((generation >> 32) + 1) << 32) | self.history.load(Ordering::Relaxed)
    }

    /// The current state.
    pub(crate) fn backup(&self) -> Backup {
        Backup(self.agents.lock().clone())
    }

    /// Restores a state, which begins a new history.
    pub(crate) fn restore(&self, backup: &Backup) {
        self.history.fetch_add(1, Ordering::Relaxed);
        *self.agents.lock() = backup.0.clone();
    }

    /// From now on, the content of these agents is never returned.
    pub(crate) fn stall(&self, agents: &[Id<kind::Agent>]) {
        self.stalled.lock().extend(agents);
    }

    /// How often all passages of an agent were read.
    pub(crate) fn whole_reads(&self) -> usize {
        self.whole_reads.load(Ordering::Relaxed)
    }

    /// The agent's row.
    pub(crate) fn version(&self, agent: Id<kind::Agent>) -> AgentVersion {
        let generation = self.agents.lock().get(&agent).map_or(0, |row| row.generation);
        AgentVersion { id: agent, account_id: account_of(agent), generation }
    }
}

#[async_trait]
impl PassageFeed for Rows {
    async fn versions(&self, agents: &[Id<kind::Agent>]) -> Result<Vec<AgentVersion>, Error> {
        let there = agents.iter().filter(|agent| self.agents.lock().contains_key(agent));
        Ok(there.map(|agent| self.version(*agent)).collect())
    }

    async fn agent_content(&self, agent: Id<kind::Agent>) -> Result<Option<AgentContent>, Error> {
        if self.stalled.lock().contains(&agent) {
            std::future::pending::<()>().await;
        }
        Ok(self.agents.lock().get(&agent).map(|row| AgentContent {
            generation: row.generation,
            sources: row.sources.iter().map(|(id, source)| (*id, source.version)).collect(),
        }))
    }

    async fn whole_content(
        &self,
        agent: Id<kind::Agent>,
        wanted: Wanted,
    ) -> Result<Option<WholeContent>, Error> {
        if self.stalled.lock().contains(&agent) {
            std::future::pending::<()>().await;
        }
        let Some(row) = self.agents.lock().get(&agent).cloned() else { return Ok(None) };
        if !wanted.is_wanted(row.generation) {
            return Ok(Some(WholeContent { generation: row.generation, passages: None }));
        }
        self.whole_reads.fetch_add(1, Ordering::Relaxed);
        let mut passages = Vec::new();
        for (id, source) in row.sources {
            let documents = source.documents.into_values();
            let found = documents.flat_map(|(_, found)| found);
            passages.extend(found.map(|passage| (id, stored(id, passage))));
        }
        let stored: usize = passages.iter().map(|(_, stored)| stored.passage.text.len()).sum();
        let is_within = stored as u64 <= wanted.bytes;
        let passages = Some(passages);
        Ok(is_within.then_some(WholeContent { generation: row.generation, passages }))
    }

    async fn candidate_content(
        &self,
        _: Id<kind::Agent>,
        _: Id<kind::Source>,
        _: u64,
    ) -> Result<Option<WholeContent>, Error> {
        Ok(None)
    }

    async fn documents(
        &self,
        source: Id<kind::Source>,
        version: u64,
    ) -> Result<Option<Vec<(i64, u64)>>, Error> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        let row = self.at_version(source, version);
        Ok(row.map(|row| row.documents.iter().map(|(at, (version, _))| (*at, *version)).collect()))
    }

    async fn passages(
        &self,
        source: Id<kind::Source>,
        version: u64,
        documents: &[i64],
        after: Option<(i64, i64)>,
    ) -> Result<Option<Vec<(i64, StoredPassage)>>, Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if after.is_none() {
            self.documents_read.fetch_add(documents.len(), Ordering::Relaxed);
        }
        let Some(row) = self.at_version(source, version) else { return Ok(None) };
        let mut found = Vec::new();
        for at in documents {
            let (_, passages) = row.documents.get(at).unwrap();
            found.extend(passages.iter().map(|passage| (*at, passage.clone())));
        }
        found.retain(|(at, passage)| after.is_none_or(|after| (*at, passage.position) > after));
        found.truncate(limits::FEED_PASSAGES);
        let stored = |(at, passage)| (at, stored(source, passage));
        Ok(Some(found.into_iter().map(stored).collect()))
    }
}

/// The passage as one of the only document of its source.
fn stored(source: Id<kind::Source>, passage: Passage) -> StoredPassage {
    StoredPassage { document_id: Id::derived(&[source.suffix()]), passage }
}

impl Rows {
    fn at_version(&self, source: Id<kind::Source>, version: u64) -> Option<SourceRow> {
        let agents = self.agents.lock();
        let row = agents.values().find_map(|row| row.sources.get(&source));
        row.filter(|row| row.version == version).cloned()
    }

    /// The work so far: lists of documents, and documents read.
    pub(crate) fn work(&self) -> (usize, usize) {
        (self.looks.load(Ordering::Relaxed), self.documents_read.load(Ordering::Relaxed))
    }
}

/// The memory for indexes in memory: enough for all tests.
pub(crate) const MEMORY_BYTES: u64 = 64 * 1_024 * 1_024;

/// An index on the disk over content that a test changes. A second index, in memory over the same
/// content, is asked the same questions and must find the same passages.
pub(crate) struct World {
    pub(crate) rows: Arc<Rows>,
    pub(crate) index: Index,
    pub(crate) agent: Id<kind::Agent>,
    pub(crate) directory: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_open_agents(16)
    }

    pub(crate) fn with_open_agents(open_agents: u64) -> Self {
        let directory = TempDir::new().unwrap();
        let rows = Arc::new(Rows::default());
        let index = open(&directory, &rows, open_agents, 0);
        Self { rows, index, agent: "agent_0000000001".parse().unwrap(), directory }
    }

    /// Another index over the same folder and content, as after a restart.
    pub(crate) fn restart(&mut self) {
        self.index = open(&self.directory, &self.rows, 16, 0);
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.directory.path().join(self.agent.to_string())
    }

    /// Removes the folder at once, even if something is being written into it.
    pub(crate) fn remove_folder(&self) {
        let aside = tempfile::tempdir().unwrap().keep();
        std::fs::rename(self.folder(), &aside).unwrap();
        // Files that are still being written remain in the temporary folder.
        let _ = std::fs::remove_dir_all(aside);
    }

    pub(crate) fn put(&self, source: &str, passages: Vec<Passage>) {
        self.rows.put(self.agent, source, passages);
    }

    pub(crate) async fn ask(&self, question: &str) -> Found {
        self.ask_after(question, &[]).await
    }

    pub(crate) async fn ask_after(&self, question: &str, context: &[&str]) -> Found {
        let query = Query {
            text: question.to_owned(),
            context: context.iter().map(|message| (*message).to_owned()).collect(),
            ..Query::default()
        };
        let found = self.index.search(self.rows.version(self.agent), &query, 5).await.unwrap();
        self.compare(&query, &found).await;
        found
    }

    /// Asks the index in memory the same question.
    async fn compare(&self, query: &Query, found: &Found) {
        if self.rows.stored(self.agent) > SMALL_BYTES {
            return;
        }
        let aside = tempfile::tempdir().unwrap();
        let in_memory = open(&aside, &self.rows, 1, MEMORY_BYTES);
        let also = in_memory.search(self.rows.version(self.agent), query, 5).await.unwrap();
        assert_eq!(std::fs::read_dir(aside.path()).unwrap().count(), 0, "nothing is on the disk");
        let scores = |found: &Found| -> Vec<(f32, f32, bool)> {
            let of = found.hits.iter().map(|hit| (hit.score, hit.coverage, hit.is_relevant));
            of.collect()
        };
        assert_eq!(scores(&also), scores(found), "{query:?}");
        assert_eq!((also.confidence, also.terms), (found.confidence, found.terms.clone()));
        for (one, other) in also.hits.iter().zip(&found.hits) {
            let are_equal = found.hits.iter().filter(|hit| hit.score == other.score).count() > 1;
            assert!(are_equal || one == other, "{one:?} instead of {other:?}");
        }
    }
}

/// The most stored bytes of an agent whose index is in memory.
const SMALL_BYTES: usize = 64 * 1_024;

pub(crate) fn open(
    directory: &TempDir,
    rows: &Arc<Rows>,
    open_agents: u64,
    memory_bytes: u64,
) -> Index {
    let directory = directory.path().to_path_buf();
    let config = IndexConfig { directory, open_agents, memory_bytes };
    Index::open(config, Arc::clone(rows) as Arc<dyn PassageFeed>).unwrap()
}

/// The id of a source by a short name.
pub(crate) fn source_id(name: &str) -> Id<kind::Source> {
    format!("src_{name:0>10}").parse().unwrap()
}

/// A passage of running text.
pub(crate) fn passage(position: i64, text: &str) -> Passage {
    Passage {
        position,
        title: None,
        heading: None,
        url: None,
        page: None,
        text: text.to_owned(),
        is_pair: false,
        language: Language::detect(text).map(|language| language.code().to_owned()),
    }
}

/// A question/answer pair.
pub(crate) fn pair(position: i64, question: &str, answer: &str) -> Passage {
    let mut passage = passage(position, answer);
    passage.title = Some(question.to_owned());
    passage.is_pair = true;
    passage
}

/// The account of an agent: each has its own, with the same characters in its id.
fn account_of(agent: Id<kind::Agent>) -> Id<kind::Account> {
    let agent = agent.to_string();
    format!("acct_{}", agent.trim_start_matches("agent_")).parse().unwrap()
}
