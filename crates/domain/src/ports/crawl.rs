//! The crawl port: a crawl is stored page by page, so that an interruption costs one page.

use async_trait::async_trait;
use url::Url;

use crate::check::{Check, Comparison};
use crate::crawl::{CrawlSoFar, FoundPage, KnownPage, SitePreview, VisitedPage};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::job::Lease;
use crate::source::{Progress, Source};
use crate::timestamp::Timestamp;

/// Stores crawls. A method returns `None` or false, and changes nothing, if the lease was lost: the job went to another
/// worker, or the source was deleted.
///
/// The content of a running crawl is neither searchable nor listed as documents; questions are answered from the
/// previous content until [`CrawlStore::finish_crawl`] replaces it. A crawl whose job ends badly
/// ([`JobStore::finish_failed`](super::JobStore::finish_failed), or too many crashes) leaves no text; its pages stay
/// readable until another crawl begins.
#[async_trait]
pub trait CrawlStore: Send + Sync {
    /// Takes up the crawl of a job: a new one that begins at `now`, or the one that was interrupted. A job that was
    /// requeued or reclaimed continues; a refresh starts from the beginning, and the remains of an earlier failed crawl
    /// are removed. Recording and finishing fail with [`Error::Internal`] if it was not called before.
    async fn begin_crawl(&self, lease: &Lease, now: Timestamp)
    -> Result<Option<CrawlSoFar>, Error>;
    /// The pages of the last crawl that succeeded, in order; empty if there was none.
    async fn known_pages(&self, lease: &Lease) -> Result<Option<Vec<KnownPage>>, Error>;
    /// Stores, in one transaction, the outcome of visited pages, the pages that were found through them (except those
    /// that this crawl already knows), and the source's progress. A page keeps its place in the order in which pages
    /// were found; one that was visited without having been found comes next. If a page is visited again, the last
    /// visit counts. If a page was visited for the first time, the count of crashes without progress starts again
    /// ([`Crashes::after_progress`](crate::job::Crashes::after_progress)). Fails with [`Error::Internal`] if a page
    /// keeps a document that the source does not have.
    async fn record_pages(
        &self,
        lease: &Lease,
        visited: Vec<VisitedPage>,
        found: Vec<FoundPage>,
        progress: Progress,
    ) -> Result<bool, Error>;
    /// Ends a crawl successfully: in one transaction, its pages replace those of the last one, the text of changed and
    /// new pages is added, that of changed and missing pages is removed, and unchanged pages keep their document and
    /// version; the source becomes trained with `title`, the event is written and the job is gone. The agent's
    /// generation rises, and the source's version with it, only if a document was added or removed or the title
    /// changed. Without a `title` it is that of the first page that has one.
    async fn finish_crawl(
        &self,
        lease: &Lease,
        title: Option<String>,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<Source>, Error>;
    /// The checks that are to be compared before a crawl ends: those of the agent, if the source is guarded and has
    /// earlier content that would change. Otherwise, and if the lease was lost, there are none.
    async fn guarding(&self, lease: &Lease) -> Result<Vec<Check>, Error>;
    /// Ends a crawl that was compared, and records the comparison as a run of the agent's checks. If it is a
    /// [refusal](Comparison::refusal), the crawl ends as by
    /// [`JobStore::finish_failed`](super::JobStore::finish_failed), and checks that would fail are reported; otherwise
    /// as by [`CrawlStore::finish_crawl`]. All of it is one transaction. The ids are those of the source's event and of
    /// the checks' event.
    async fn finish_compared(
        &self,
        lease: &Lease,
        title: Option<String>,
        comparison: Comparison,
        events: (Id<kind::Event>, Id<kind::Event>),
        now: Timestamp,
    ) -> Result<Option<Source>, Error>;
}

/// Previews crawls of sites.
#[async_trait]
pub trait SitePreviews: Send + Sync {
    /// What a site's `robots.txt` and sitemaps allow and list for a crawl from this start page. A site that cannot be
    /// reached is not an error but a [refusal](SitePreview::refusal), and so is one that takes longer than
    /// [`PREVIEW_SECONDS`](crate::limits::PREVIEW_SECONDS). No page of the site is requested.
    ///
    /// The requests share the limits of the account's crawls for each host. Dropping the future ends them.
    async fn preview(&self, account: Id<kind::Account>, start: &Url) -> SitePreview;
}
