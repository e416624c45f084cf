//! Passages, and questions for which the relevant passages are known.

use std::collections::BTreeSet;

use cicerone_domain::Passage;
use cicerone_language::Language;

#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    /// The numbers of the passages that answer it.
    pub(crate) relevant: BTreeSet<usize>,
}

/// A set of passages and questions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Collection {
    pub(crate) name: &'static str,
    /// In the order of their numbers.
    pub(crate) passages: Vec<Passage>,
    pub(crate) questions: Vec<Question>,
}

impl Collection {
    /// An empty set.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Adds a passage and returns its number.
    pub(crate) fn add_passage(&mut self, title: Option<&str>, text: &str, is_pair: bool) -> usize {
        let number = self.passages.len();
        let all = format!("{}\n{text}", title.unwrap_or_default());
        self.passages.push(Passage {
            position: i64::try_from(number).unwrap_or(i64::MAX),
            title: title.map(str::to_owned),
            heading: None,
            url: None,
            page: None,
            text: text.to_owned(),
            is_pair,
            language: Language::detect(&all).map(|language| language.code().to_owned()),
        });
        number
    }

    /// Adds a question that the passages with these numbers answer.
    pub(crate) fn ask(&mut self, text: &str, relevant: impl IntoIterator<Item = usize>) {
        let text = text.trim().to_owned();
        self.questions.push(Question { text, relevant: relevant.into_iter().collect() });
    }

    /// Every other passage with the questions that these answer, and the questions that only the
    /// omitted passages answer.
    pub(crate) fn alternated(&self) -> (Collection, Vec<Question>) {
        let mut alternated = Self::new(self.name);
        alternated.passages = self.passages.iter().step_by(2).cloned().collect();
        let mut missing = Vec::new();
        for question in &self.questions {
            let relevant = question.relevant.iter().filter(|number| *number % 2 == 0);
            let relevant: BTreeSet<usize> = relevant.map(|number| number / 2).collect();
            if relevant.is_empty() {
                missing.push(question.clone());
            } else {
                alternated.questions.push(Question { text: question.text.clone(), relevant });
            }
        }
        (alternated, missing)
    }

    /// The first half of the passages with the questions that these answer, and the questions that
    /// only the other half answers.
    pub(crate) fn halved(&self) -> (Collection, Vec<Question>) {
        let half = self.passages.len() / 2;
        let (answerable, unanswerable) = self
            .questions
            .iter()
            .cloned()
            .partition(|question| question.relevant.iter().any(|number| *number < half));
        let passages = self.passages.iter().take(half).cloned().collect();
        (Collection { name: self.name, passages, questions: answerable }, unanswerable)
    }
}
