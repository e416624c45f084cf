//! A snapshot of an index, which any number of threads can search.

use std::sync::{Arc, OnceLock};

use cicerone_domain::retrieval::{Found, Hit, Query};
use cicerone_language::{Language, SmallTalk, Subject};

use super::content::{Content, InMemory, Segments};
use super::question::Question;
use super::ranking::{Ranked, rank, stored};
use super::recent::{Recent, SnapshotRecent};
use super::results::{Outcome, PackedTerms};
use super::weights::{DEFINES, EXACT, floor};
use crate::store::{Store, Unusable};

/// This many passages more than wanted are ranked, in place of those that repeat another one.
const SPARE: usize = 8;
/// The number of best passages that are compared with each other.
const COMPARED: usize = 64;
/// The same if the question asks for a definition, because a passage that only defines its subject may be far behind.
const DEFINING: usize = 24;
/// The lines of a passage in which a definition is looked for. Most passages have fewer.
const LINES: usize = 64;

/// With more pairs than these, their words are weighed where blocking is allowed, and not by the thread that answers the first question:
/// 20,000 long questions take a tenth of a second.
const MANY_PAIRS: u64 = 1_000;

/// An index in the state of its last update.
pub(crate) struct Snapshot {
    generation: u64,
    languages: Vec<Option<Language>>,
    pub(super) passages: u64,
    /// How many of the passages are question/answer pairs.
    pub(super) question_answer_pairs: u64,
    /// The total weight of the words of each pair's question, by the number of the passage.
    weighed: OnceLock<Box<[f32]>>,
    pub(super) content: Content,
    /// The approximate bytes of memory that it takes, if it is in memory.
    bytes: Option<usize>,
    recent: SnapshotRecent,
}

impl Snapshot {
    /// Takes a snapshot of `store`. This function blocks.
    pub(crate) fn new(store: &Store, recent: &Recent) -> Result<Self, Unusable> {
        let recent = recent.of_snapshot();
        let content = Content::Segments(Segments::new(store, recent.clone())?);
        let snapshot = Self::of(content, store.generation()?, None, recent)?;
        if snapshot.question_answer_pairs > MANY_PAIRS {
            snapshot.weighed()?;
        }
        Ok(snapshot)
    }

    /// A snapshot that is in memory only.
    pub(crate) fn in_memory(
        index: InMemory,
        generation: u64,
        recent: &Recent,
    ) -> tantivy::Result<Self> {
        let bytes = index.bytes() + size_of::<Self>();
        Self::of(Content::Memory(Box::new(index)), generation, Some(bytes), recent.of_snapshot())
    }

    fn of(
        content: Content,
        generation: u64,
        bytes: Option<usize>,
        recent: SnapshotRecent,
    ) -> tantivy::Result<Self> {
        Ok(Self {
            generation,
            languages: content.languages()?,
            passages: content.passages(),
            question_answer_pairs: content.question_answer_pairs(),
            weighed: OnceLock::new(),
            content,
            bytes,
            recent,
        })
    }

    /// The total weight of the words of each pair's question, by the number of the passage. It is computed for the first
    /// question that finds a pair, or with the snapshot if there are [`MANY_PAIRS`].
    pub(super) fn weighed(&self) -> tantivy::Result<&[f32]> {
        if let Some(weighed) = self.weighed.get() {
            return Ok(weighed);
        }
        let weighed = stored::weigh(self)?;
        Ok(self.weighed.get_or_init(|| weighed.into()))
    }

    /// The generation of its content.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of passages.
    pub(crate) fn passages(&self) -> u64 {
        self.passages
    }

    /// Whether it is on the disk in more segments than are needed.
    pub(crate) fn is_scattered(&self) -> bool {
        match &self.content {
            Content::Segments(segments) => segments.are_scattered(),
            Content::Memory(_) => false,
        }
    }

    /// Whether it is in memory only.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.bytes.is_some()
    }

    /// The approximate bytes of memory that it takes; `None` if it is mapped from the disk.
    pub(crate) fn bytes(&self) -> Option<usize> {
        self.bytes
    }

    /// The `limit` best passages for `query`, best first.
    pub(crate) fn search(&self, query: &Query, limit: usize) -> tantivy::Result<Found> {
        let outcome = self.recent.result(query, limit, || self.rank(query, limit))?;
        let floor = floor(query.floor);
        let is_answered = outcome.confidence >= floor;
        let mut hits = Vec::with_capacity(outcome.best.len());
        for ranked in &outcome.best {
            hits.push(self.hit(ranked, is_answered && ranked.confidence >= floor)?);
        }
        let is_exact = hits.first().is_some_and(|hit| hit.score >= EXACT);
        let is_small_talk = !is_exact && self.is_small_talk(&query.text, &hits);
        Ok(Found {
            hits,
            terms: outcome.terms.unpacked(),
            confidence: outcome.confidence,
            floor,
            id: outcome.id,
            is_small_talk,
            language: self.language().map(Language::code),
        })
    }

    /// Whether a message asks for nothing. A single word that is small talk in another language than that of the content, such as
    /// "salve", asks for what the content says about it, if that has the word.
    fn is_small_talk(&self, message: &str, hits: &[Hit]) -> bool {
        let usual = self.language();
        SmallTalk::of(message, usual).is_some_and(|(_, language)| {
            let is_foreign = usual.is_some() && language != usual;
            !is_foreign || !has_word(hits, message)
        })
    }

    /// The language of most passages.
    fn language(&self) -> Option<Language> {
        self.languages.first().copied().flatten()
    }

    /// Whether a search takes no more than reading the passages that it finds.
    pub(crate) fn is_known(&self, query: &Query, limit: usize) -> bool {
        self.recent.has_result(query, limit)
    }

    fn rank(&self, query: &Query, limit: usize) -> tantivy::Result<Outcome> {
        let question = Question::new(query, &self.languages);
        let spare = if question.subject.is_some() { DEFINING } else { SPARE };
        let mut ranking = rank(self, &question, limit + spare)?;
        if let Some(subject) = &question.subject {
            self.raise_definitions(&mut ranking.best, subject)?;
            ranking.best.truncate(limit + SPARE);
        }
        self.leave_out_repetitions(&mut ranking.best)?;
        ranking.best.truncate(limit);
        let terms = ranking.words.iter().enumerate().flat_map(|(number, word)| {
            let forms = word.forms.iter().chain(&word.joined);
            forms.map(move |form| (form.as_str(), number, word.weight, word.is_context))
        });
        Ok(Outcome {
            best: ranking.best.into(),
            terms: PackedTerms::of(terms),
            confidence: ranking.confidence,
            id: None,
        })
    }

    /// Raises the passages that define the subject of a question, or have a section about it, and the pairs that ask for it.
    fn raise_definitions(&self, best: &mut [Ranked], subject: &Subject) -> tantivy::Result<()> {
        for ranked in best.iter_mut() {
            let record = self.content.record(ranked.number)?;
            let defines = match (record.is_pair, record.title.as_deref()) {
                (true, title) => title.is_some_and(|question| subject.is_asked_by(question)),
                (false, _) => defines(&record.text, subject),
            };
            if defines {
                ranked.score *= DEFINES;
            }
        }
        best.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(())
    }

    /// Leaves out passages with the text of a better one, which some websites have on many pages.
    fn leave_out_repetitions(&self, best: &mut Vec<Ranked>) -> tantivy::Result<()> {
        let mut texts: Vec<Arc<str>> = Vec::with_capacity(best.len().min(COMPARED));
        let mut kept = Vec::with_capacity(best.len());
        for ranked in best.iter().take(COMPARED) {
            let record = self.content.record(ranked.number)?;
            if record.is_pair || !texts.contains(&record.text) {
                texts.push(Arc::clone(&record.text));
                kept.push(*ranked);
            }
        }
        best.splice(..best.len().min(COMPARED), kept);
        Ok(())
    }

    fn hit(&self, ranked: &Ranked, is_relevant: bool) -> tantivy::Result<Hit> {
        let record = self.content.record(ranked.number)?;
        Ok(Hit {
            source_id: record.source,
            document_id: record.document,
            position: record.position,
            title: record.title.clone(),
            heading: record.heading.clone(),
            url: record.url.clone(),
            page: record.page,
            text: Arc::clone(&record.text),
            is_pair: record.is_pair,
            language: record.language.clone(),
            score: ranked.score,
            coverage: ranked.coverage,
            confidence: ranked.confidence,
            is_relevant,
        })
    }
}

/// Whether a message is a word that a relevant passage has as it is.
fn has_word(hits: &[Hit], message: &str) -> bool {
    let lower = |text: &str| text.to_lowercase();
    let words = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(lower).collect::<Vec<String>>()
    };
    let asked = words(message);
    let mut relevant = hits.iter().filter(|hit| hit.is_relevant);
    asked.len() == 1 && relevant.any(|hit| asked.iter().all(|word| words(&hit.text).contains(word)))
}

/// Whether a passage defines a subject, or has a section about it.
fn defines(text: &str, subject: &Subject) -> bool {
    if !subject.may_be_in(text.as_bytes()) {
        return false;
    }
    let mut is_code = false;
    let mut lines = text.lines().take(LINES).peekable();
    while let Some(line) = lines.next() {
        is_code ^= line.starts_with("```") || line.starts_with("~~~");
        let is_header = line.starts_with('|')
            && lines.peek().is_some_and(|next| next.starts_with("|-") || next.starts_with("| -"));
        if is_code || is_header || !subject.may_be_in(line.as_bytes()) {
            continue;
        }
        let is_heading = line.starts_with('#');
        if is_heading && subject.is_heading(line) || !is_heading && subject.is_term_of(line) {
            return true;
        }
    }
    false
}
