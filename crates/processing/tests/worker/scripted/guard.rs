//! Checks whose answers are scripted, for the new content and for the present one.

use std::sync::Arc;

use async_trait::async_trait;
use cicerone_domain::check::{Check, CheckList, CheckResult, GivenCheck};
use cicerone_domain::ports::{AskChecks, PassageIndex};
use cicerone_domain::{Error, Id, kind};

use super::Script;

/// An answer to a question, by the number of the attempt.
type Answer = Box<dyn Fn(&str, bool, usize) -> Result<bool, Error> + Send>;

/// What a guarded website is compared by.
#[derive(Default)]
pub(crate) struct Guarded {
    checks: Vec<Check>,
    is_too_large: bool,
    answer: Option<Answer>,
    /// The questions so far, and whether each was searched for in the new content.
    asked: Vec<(String, bool)>,
    new: Option<Arc<dyn PassageIndex>>,
}

impl Script {
    /// Guards all websites by checks with these questions. `answer` says whether a question is answered: by the new
    /// content, or by the present one.
    #[expect(
        clippy::expect_used,
        reason = "a test that names checks which are not valid must fail"
    )]
    pub(crate) fn guard(
        &self,
        questions: &[&str],
        answer: impl Fn(&str, bool, usize) -> Result<bool, Error> + Send + 'static,
    ) {
        let given = |question: &&str| GivenCheck {
            question: Some((*question).to_owned()),
            answered: Some(true),
            ..GivenCheck::default()
        };
        let checks = CheckList::parse(questions.iter().map(given).collect());
        let mut guard = self.0.guard.lock();
        guard.checks = checks.expect("the checks of a test are valid").into_vec();
        guard.answer = Some(Box::new(answer));
    }

    /// Lets the agents be too large to be compared.
    pub(crate) fn is_too_large(&self) {
        self.0.guard.lock().is_too_large = true;
    }

    /// The questions that were asked, and whether each was searched for in the new content.
    pub(crate) fn asked(&self) -> Vec<(String, bool)> {
        self.0.guard.lock().asked.clone()
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        self.0.guard.lock().checks.clone()
    }

    /// The index of the new content: another worker of the script, distinguished from the current one by its address.
    pub(super) fn new_content(&self) -> Option<Arc<dyn PassageIndex>> {
        let new: Arc<dyn PassageIndex> = Arc::new(Self::new());
        let mut guard = self.0.guard.lock();
        guard.new = (!guard.is_too_large).then_some(new);
        guard.new.clone()
    }
}

#[async_trait]
impl AskChecks for Script {
    async fn ask_check(
        &self,
        _: (Id<kind::Account>, Id<kind::Agent>),
        check: &Check,
        index: Option<Arc<dyn PassageIndex>>,
    ) -> Result<CheckResult, Error> {
        let mut guard = self.0.guard.lock();
        let is_new = match (&index, &guard.new) {
            (Some(index), Some(new)) => Arc::ptr_eq(index, new),
            _ => false,
        };
        let attempt = guard.asked.iter().filter(|(asked, _)| asked == check.question()).count();
        guard.asked.push((check.question().to_owned(), is_new));
        let passed = match &guard.answer {
            Some(answer) => answer(check.question(), is_new, attempt)?,
            None => true,
        };
        let reason = (!passed).then(|| "the question is not answered".to_owned());
        Ok(CheckResult {
            question: check.question().to_owned(),
            passed,
            reason,
            reply: String::new(),
        })
    }
}
