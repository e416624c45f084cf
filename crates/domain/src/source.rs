//! Sources: what an agent knows, and the states that one goes through.

mod content;
mod pairs;

use crate::crawl::PageReason;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::timestamp::Timestamp;

pub(crate) use content::web_address;
pub use content::{
    PairsText, SourceContent, SourceText, SourceTextRule, WebsiteUrl, WebsiteUrlRule, unknown_file,
};
pub use pairs::{QaPair, qa_pairs};

/// Content of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its id.
    pub id: Id<kind::Source>,
    /// The account of its agent.
    pub account_id: Id<kind::Account>,
    /// Its agent.
    pub agent_id: Id<kind::Agent>,
    /// What it holds.
    pub content: SourceContent,
    /// Where its processing stands.
    pub state: SourceState,
    /// How far a running crawl is.
    pub progress: Option<Progress>,
    /// When it was added.
    pub created_at: Timestamp,
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

/// What was last extracted from a source, and answers questions until something replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trained {
    /// Characters extracted.
    pub character_count: u64,
    /// The title that citations show; for `qa` the matched question takes its place.
    pub title: Option<String>,
    /// The agent's generation that this content came with: its version in every index.
    pub version: u64,
}

/// Where a source's processing stands, with what is valid there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceState {
    /// Waiting for a worker; never trained before.
    Pending,
    /// A job is under way (or waits to be retried). A refresh keeps the content of before.
    Processing {
        /// What answers meanwhile.
        last: Option<Trained>,
    },
    /// Processed.
    Trained(Trained),
    /// Processing failed. After a failed refresh the content of before still answers.
    Failed {
        /// What a person can act on.
        message: String,
        /// What answers still.
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
    /// Its name.
    pub const fn status(&self) -> SourceStatus {
        match self {
            Self::Pending => SourceStatus::Pending,
            Self::Processing { .. } => SourceStatus::Processing,
            Self::Trained(_) => SourceStatus::Trained,
            Self::Failed { .. } => SourceStatus::Failed,
        }
    }

    /// The content that answers questions in this state.
    pub const fn searchable(&self) -> Option<&Trained> {
        match self {
            Self::Pending => None,
            Self::Processing { last } | Self::Failed { last, .. } => last.as_ref(),
            Self::Trained(trained) => Some(trained),
        }
    }

    /// The error to show, in the failed state only.
    pub fn error_message(&self) -> Option<&str> {
        match self {
            Self::Failed { message, .. } => Some(message),
            Self::Pending | Self::Processing { .. } | Self::Trained(_) => None,
        }
    }

    /// Starts a refresh: allowed once processing has ended, whichever way.
    ///
    /// Fails with [`Error::Conflict`] while it is under way.
    pub fn begin_refresh(self) -> Result<Self, Error> {
        match self {
            Self::Trained(trained) => Ok(Self::Processing { last: Some(trained) }),
            Self::Failed { last, .. } => Ok(Self::Processing { last }),
            Self::Pending | Self::Processing { .. } => {
                Err(Error::Conflict("the source is already being processed".to_owned()))
            }
        }
    }

    /// A worker begins.
    pub fn begin_work(self) -> Self {
        match self {
            Self::Pending => Self::Processing { last: None },
            Self::Trained(trained) => Self::Processing { last: Some(trained) },
            Self::Failed { last, .. } => Self::Processing { last },
            Self::Processing { last } => Self::Processing { last },
        }
    }

    /// Processing failed; what answered before keeps answering.
    pub fn fail(self, message: String) -> Self {
        let last = match self {
            Self::Pending => None,
            Self::Processing { last } | Self::Failed { last, .. } => last,
            Self::Trained(trained) => Some(trained),
        };
        Self::Failed { message, last }
    }
}

/// How far a crawl is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// Pages done.
    pub pages_done: u64,
    /// Pages found so far.
    pub pages_found: u64,
    /// Pages that failed.
    pub pages_failed: u64,
}

/// What became of one page of a website.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawledPage {
    /// Its number in the order of the crawl, from 0.
    pub position: i64,
    /// Its address.
    pub url: String,
    /// What became of it.
    pub status: CrawledPageStatus,
    /// Its title.
    pub title: Option<String>,
    /// Characters extracted.
    pub character_count: Option<u64>,
    /// The status that its server answered.
    pub http_status: Option<u16>,
    /// Why it was skipped or failed.
    pub reason: Option<PageReason>,
    /// When it was fetched.
    pub fetched_at: Option<Timestamp>,
}

/// What became of a crawled page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrawledPageStatus {
    /// Its text is searchable.
    Indexed,
    /// It had not changed since the last crawl; its text is searchable.
    Unchanged,
    /// It was left out, for a reason.
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
