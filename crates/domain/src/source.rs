//! Sources: the content that an agent answers from, and the states of a source.

mod content;
mod growth;
mod pairs;
mod partial;

use std::borrow::Cow;

use crate::content::cut_at_word;
use crate::crawl::PageReason;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::limits;
use crate::managed::Managed;
use crate::timestamp::Timestamp;

pub use content::{
    PairsText, SourceContent, SourceText, SourceTextRule, WebsiteUrl, WebsiteUrlRule, unknown_file,
};
pub(crate) use content::{stored_address, web_address};
pub use pairs::{GivenPairs, QaPair, qa_pairs};
pub use partial::{Losses, PartialReading};

/// Content that an agent answers from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// `src_` and 10 characters.
    pub id: Id<kind::Source>,
    /// The account of its agent.
    pub account_id: Id<kind::Account>,
    /// The agent that answers from it.
    pub agent_id: Id<kind::Agent>,
    /// What it holds.
    pub content: SourceContent,
    /// The state of its processing.
    pub state: SourceState,
    /// The progress of a running crawl.
    pub progress: Option<Progress>,
    /// Whether a crawl replaces the content only if no check of the agent is lost. Only websites can be guarded.
    pub guarded: bool,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
    /// When it was added.
    pub created_at: Timestamp,
}

/// A change of a source's settings: `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePatch {
    /// See [`Source::guarded`].
    pub guarded: Option<bool>,
    /// See [`Source::managed`].
    pub managed: Option<Option<Managed>>,
}

/// The four types of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceType {
    /// A web page, or a site.
    Website,
    /// Raw text.
    Text,
    /// An uploaded file.
    File,
    /// Question/answer pairs.
    Qa,
}

impl SourceType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Website, Self::Text, Self::File, Self::Qa];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Website => "website",
            Self::Text => "text",
            Self::File => "file",
            Self::Qa => "qa",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Source {
    /// Starts a refresh. Until it succeeds, questions are answered from the content of the last crawl.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOperation`] if the source is not a website; [`Error::Conflict`] while it is being
    /// processed.
    pub fn refresh(self) -> Result<Self, Error> {
        self.check_is_website("refreshed")?;
        Ok(Self { state: self.state.begin_refresh()?, progress: None, ..self })
    }

    /// Applies a change.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a source that is not a website is to be guarded.
    pub fn apply(&mut self, patch: SourcePatch) -> Result<(), Error> {
        let SourcePatch { guarded, managed } = patch;
        let guarded = guarded.unwrap_or(self.guarded);
        self.content.check_may_be_guarded(guarded)?;
        self.guarded = guarded;
        self.managed = managed.unwrap_or_else(|| self.managed.take());
        Ok(())
    }

    /// Checks that the source has pages to list.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOperation`] if it is not a website.
    pub fn check_has_pages(&self) -> Result<(), Error> {
        self.check_is_website("listed by page")
    }

    /// A worker starts processing. Questions are still answered from the previous content.
    #[must_use]
    pub fn begin_work(self) -> Self {
        Self { state: self.state.begin_work(), ..self }
    }

    /// Processing succeeded: from now on, questions are answered from `trained`.
    #[must_use]
    pub fn train(self, trained: Trained) -> Self {
        Self { state: SourceState::Trained(trained), progress: None, ..self }
    }

    /// Processing failed, for a reason that a person can act on. Questions are still answered from the previous
    /// content.
    #[must_use]
    pub fn fail(self, message: String) -> Self {
        Self { state: self.state.fail(message), progress: None, ..self }
    }

    /// Whether it has content that answers questions, so that deleting it changes the content of its agent.
    pub const fn answers(&self) -> bool {
        self.state.searchable().is_some()
    }

    /// The version that the source keeps after a crawl, so that no index reads it again: that of the
    /// last crawl if no document was added or removed and the title is the same.
    pub fn unchanged_version(&self, changed_documents: usize, title: Option<&str>) -> Option<u64> {
        let last = self.state.searchable()?;
        let is_same = changed_documents == 0 && last.title.as_deref() == title;
        is_same.then_some(last.version)
    }

    fn check_is_website(&self, done: &str) -> Result<(), Error> {
        match self.content.source_type() {
            SourceType::Website => Ok(()),
            other @ (SourceType::Text | SourceType::File | SourceType::Qa) => {
                Err(Error::InvalidOperation(format!(
                    "only a source of the type website can be {done}; this one has the type {}",
                    other.name()
                )))
            }
        }
    }
}

/// The content that was last extracted from a source. Questions are answered from it until it is
/// replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trained {
    /// Characters extracted.
    pub character_count: u64,
    /// The title that citations show; for `qa` the matched question takes its place.
    pub title: Option<String>,
    /// The agent's generation that this content came with: its version in every index.
    pub version: u64,
    /// What is missing of the source; `None` if it was read completely.
    pub partial: Option<PartialReading>,
}

/// The state of a source's processing, with what is valid in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceState {
    /// Waiting for a worker; never trained before.
    Pending,
    /// A job is running, or waits to be retried. A refresh keeps the previous content.
    Processing {
        /// The previous content, from which questions are answered until the job ends.
        last: Option<Trained>,
    },
    /// Processed.
    Trained(Trained),
    /// Processing failed. After a failed refresh, questions are still answered from the previous
    /// content.
    Failed {
        /// The reason, in words that the owner of the source can act on.
        message: String,
        /// The previous content, from which questions are still answered.
        last: Option<Trained>,
    },
}

/// The name of a source's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceStatus {
    /// See [`SourceState::Pending`].
    Pending,
    /// See [`SourceState::Processing`].
    Processing,
    /// See [`SourceState::Trained`].
    Trained,
    /// See [`SourceState::Failed`].
    Failed,
}

impl SourceStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Processing, Self::Trained, Self::Failed];
    /// Those of sources whose processing has not ended.
    pub const UNDER_WAY: [Self; 2] = [Self::Pending, Self::Processing];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Trained => "trained",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl SourceState {
    /// The name of the state.
    pub const fn status(&self) -> SourceStatus {
        match self {
            Self::Pending => SourceStatus::Pending,
            Self::Processing { .. } => SourceStatus::Processing,
            Self::Trained(_) => SourceStatus::Trained,
            Self::Failed { .. } => SourceStatus::Failed,
        }
    }

    /// The content from which questions are answered in this state.
    pub const fn searchable(&self) -> Option<&Trained> {
        match self {
            Self::Pending => None,
            Self::Processing { last } | Self::Failed { last, .. } => last.as_ref(),
            Self::Trained(trained) => Some(trained),
        }
    }

    /// The reason of a failure; `None` in every other state.
    pub fn error_message(&self) -> Option<&str> {
        match self {
            Self::Failed { message, .. } => Some(message),
            Self::Pending | Self::Processing { .. } | Self::Trained(_) => None,
        }
    }

    fn begin_refresh(self) -> Result<Self, Error> {
        match self {
            Self::Trained(trained) => Ok(Self::Processing { last: Some(trained) }),
            Self::Failed { last, .. } => Ok(Self::Processing { last }),
            Self::Pending | Self::Processing { .. } => {
                Err(Error::Conflict("the source is already being processed".to_owned()))
            }
        }
    }

    fn begin_work(self) -> Self {
        match self {
            Self::Pending => Self::Processing { last: None },
            Self::Trained(trained) => Self::Processing { last: Some(trained) },
            Self::Failed { last, .. } => Self::Processing { last },
            Self::Processing { last } => Self::Processing { last },
        }
    }

    fn fail(self, message: String) -> Self {
        let last = match self {
            Self::Pending => None,
            Self::Processing { last } | Self::Failed { last, .. } => last,
            Self::Trained(trained) => Some(trained),
        };
        let message = match cut_at_word(&message, limits::REASON_CHARS) {
            Cow::Borrowed(whole) if whole.len() == message.len() => message,
            cut => cut.into_owned(),
        };
        Self::Failed { message, last }
    }
}

/// The progress of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// Pages whose visit has ended, whatever its result.
    pub pages_done: u64,
    /// Pages found so far.
    pub pages_found: u64,
    /// Those of the pages done that could not be read.
    pub pages_failed: u64,
}

/// One visited page of a website.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawledPage {
    /// Its number in the order of the crawl, from 0.
    pub position: i64,
    /// The address, as normalised by the crawl.
    pub url: String,
    /// The outcome of the visit.
    pub status: CrawledPageStatus,
    /// The title of the page, if it has one.
    pub title: Option<String>,
    /// Characters extracted.
    pub character_count: Option<u64>,
    /// The HTTP status of the response.
    pub http_status: Option<u16>,
    /// Why it was skipped or failed.
    pub reason: Option<PageReason>,
    /// When it was fetched.
    pub fetched_at: Option<Timestamp>,
}

/// The outcome of the visit of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrawledPageStatus {
    /// Its text is searchable.
    Indexed,
    /// It had not changed since the last crawl; its text is searchable.
    Unchanged,
    /// It was skipped; see [`CrawledPage::reason`].
    Skipped,
    /// It could not be fetched or read.
    Failed,
}

impl CrawledPageStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Indexed, Self::Unchanged, Self::Skipped, Self::Failed];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Indexed => "indexed",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Source, SourceContent, SourceState, SourceStatus, Trained};
    use crate::{Error, Id, SystemEntropy, Timestamp};

    fn source(kind: &str, content: &str, state: SourceState) -> Source {
        Source {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            agent_id: Id::random(&SystemEntropy),
            content: SourceContent::parse(kind, content.to_owned(), false).unwrap(),
            state,
            progress: Some(Progress::default()),
            guarded: false,
            managed: None,
            created_at: Timestamp::from_millis(0),
        }
    }

    fn website(state: SourceState) -> Source {
        source("website", "https://example.com", state)
    }

    fn trained(version: u64) -> Trained {
        Trained { character_count: 5, title: Some("A".to_owned()), version, partial: None }
    }

    fn failed(last: Option<Trained>) -> SourceState {
        SourceState::Failed { message: "why".to_owned(), last }
    }

    #[test]
    fn the_reason_of_a_failure_has_a_bound() {
        let state = SourceState::Pending.fail("why ".repeat(100_000));
        let kept = state.error_message().unwrap().chars().count();
        assert!((400..=crate::limits::REASON_CHARS).contains(&kept), "{kept}");
        assert_eq!(SourceState::Pending.fail("why".to_owned()).error_message(), Some("why"));
    }

    #[test]
    fn only_websites_are_refreshed_and_listed_by_page() {
        for (kind, content) in [
            ("text", "x"),
            ("file", "file_0123456789"),
            ("qa", r#"[{"question":"Q","answer":"A"}]"#),
        ] {
            let other = source(kind, content, SourceState::Trained(trained(1)));
            assert!(matches!(other.check_has_pages(), Err(Error::InvalidOperation(_))), "{kind}");
            let refused = other.refresh().unwrap_err().to_string();
            let expected =
                "only a source of the type website can be refreshed; this one has the type ";
            assert_eq!(refused, format!("{expected}{kind}"));
        }
        website(SourceState::Pending).check_has_pages().unwrap();
    }

    #[test]
    fn a_refresh_begins_when_processing_has_ended_and_keeps_what_answers() {
        for under_way in [SourceState::Pending, SourceState::Processing { last: None }] {
            assert!(matches!(website(under_way).refresh(), Err(Error::Conflict(_))));
        }
        for (ended, last) in [
            (SourceState::Trained(trained(3)), Some(trained(3))),
            (failed(Some(trained(3))), Some(trained(3))),
            (failed(None), None),
        ] {
            let refreshed = website(ended).refresh().unwrap();
            assert_eq!(refreshed.state, SourceState::Processing { last });
            assert_eq!(refreshed.progress, None);
        }
    }

    #[test]
    fn what_answered_before_a_failure_keeps_answering() {
        let refreshed = website(SourceState::Trained(trained(3))).refresh().unwrap();
        let failed = refreshed.begin_work().fail("no page".to_owned());
        assert!(failed.answers());
        assert_eq!(failed.state.searchable(), Some(&trained(3)));
        assert_eq!(failed.state.error_message(), Some("no page"));
        assert_eq!(failed.progress, None);
        let first = website(SourceState::Pending).begin_work();
        assert_eq!(first.state.status(), SourceStatus::Processing);
        let first = first.fail("no page".to_owned());
        assert!(!first.answers());
        let first = first.refresh().unwrap().train(trained(4));
        assert_eq!((first.state, first.progress), (SourceState::Trained(trained(4)), None));
    }

    #[test]
    fn a_crawl_that_found_the_same_keeps_the_version() {
        let again = website(SourceState::Trained(trained(3))).refresh().unwrap();
        assert_eq!(again.unchanged_version(0, Some("A")), Some(3));
        assert_eq!(again.unchanged_version(1, Some("A")), None);
        assert_eq!(again.unchanged_version(0, Some("B")), None);
        assert_eq!(again.unchanged_version(0, None), None);
        assert_eq!(website(SourceState::Pending).unchanged_version(0, None), None);
    }
}
