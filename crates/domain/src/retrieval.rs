//! Searches in an agent's passages, and their results.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::agent::{Agent, AnswerFloor};
use crate::error::FieldError;
use crate::id::{Id, kind};
use crate::limits;

/// Which version of an agent's content a search must use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentVersion {
    /// The agent whose content is searched.
    pub id: Id<kind::Agent>,
    /// The account that it belongs to.
    pub account_id: Id<kind::Account>,
    /// Its generation, as just read from its row.
    pub generation: u64,
}

impl AgentVersion {
    /// The version of an agent whose row was just read.
    pub fn of(agent: &Agent) -> Self {
        Self { id: agent.id, account_id: agent.account_id, generation: agent.index_generation }
    }
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// The question itself.
    pub text: String,
    /// The latest messages before it, newest first, to interpret a follow-up such as "and how much
    /// is it?". They weigh less than the question.
    pub context: Vec<String>,
    /// How certain the search must be for hits to be relevant.
    pub floor: AnswerFloor,
}

/// Most hits of a search: 1 to 50, and 10 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimit(u32);

impl SearchLimit {
    /// Checks the value of the field `limit`.
    ///
    /// # Errors
    ///
    /// Returns the requirement if the number is out of range.
    pub fn parse(value: i64) -> Result<Self, FieldError> {
        let (low, high) = limits::SEARCH_LIMIT_RANGE;
        let number = u32::try_from(value).ok().filter(|number| (low..=high).contains(number));
        number.map(Self).ok_or_else(|| {
            FieldError::new("limit", format!("must be an integer between {low} and {high}"))
        })
    }

    /// The number of hits.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for SearchLimit {
    fn default() -> Self {
        Self(limits::SEARCH_LIMIT_DEFAULT)
    }
}

/// A passage that was found. Its texts are shared with caches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The source that it belongs to.
    pub source_id: Id<kind::Source>,
    /// The document that it is a part of.
    pub document_id: Id<kind::Document>,
    /// Its number within the source, from 0.
    pub position: i64,
    /// The title that a citation of it shows.
    pub title: Option<Arc<str>>,
    /// The headings above it.
    pub heading: Option<Arc<str>>,
    /// The address that it came from, for a page of a website.
    pub url: Option<Arc<str>>,
    /// Its page; `None` if the format has no pages.
    pub page: Option<u32>,
    /// Its text; for a pair the answer.
    pub text: Arc<str>,
    /// Whether it is a question/answer pair.
    pub is_pair: bool,
    /// Its language as an ISO 639-3 code.
    pub language: Option<Arc<str>>,
    /// How well it matches; comparable only within one search.
    pub score: f32,
    /// The share of the question's weight (by rarity of its words) that the passage contains, 0 to 1.
    pub coverage: f32,
    /// How sure it is that the passage answers the question, from 0 to 1.
    pub confidence: f32,
    /// Whether it matches well enough for a reply to be based on it.
    pub is_relevant: bool,
}

/// A word of the question in the form that is compared: analysed, with its rarity.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The form that the language analysis produces.
    pub text: String,
    /// How well it distinguishes passages: its inverse document frequency, lower for context.
    pub weight: f32,
    /// Whether it occurs in earlier messages and not in the question itself.
    pub is_context: bool,
    /// The number of the word. The forms that a word has in several languages share it.
    pub word: usize,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The question's words.
    pub terms: Vec<QueryTerm>,
    /// How certain it is that the hits answer the question, from 0 to 1. Below the floor no hit is relevant.
    pub confidence: f32,
    /// The lowest confidence at which the question is answered.
    pub floor: f32,
    /// Identifies the result if it is kept for the next search with the same question, context and number of hits: a model on
    /// this machine can then keep its reply, too.
    pub id: Option<ResultId>,
    /// Whether the question is a greeting, thanks or the like, which asks for nothing, and no pair has it word by word.
    pub is_small_talk: bool,
    /// The language of most passages, as an ISO 639-3 code.
    pub language: Option<&'static str>,
}

/// Identifies the result of a search: two results of this process with the same id have the same hits and terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResultId(u64);

impl ResultId {
    /// An id that no other result of this process has.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::SearchLimit;

    #[test]
    fn a_search_gives_1_to_50_hits_and_10_by_default() {
        assert_eq!(SearchLimit::default().get(), 10);
        for limit in [1, 50] {
            assert_eq!(i64::from(SearchLimit::parse(limit).unwrap().get()), limit);
        }
        for limit in [0, 51, -1, i64::MAX] {
            assert_eq!(SearchLimit::parse(limit).unwrap_err().param, "limit");
        }
    }
}
