//! Use cases of websites before they become sources.

use std::sync::Arc;

use crate::access::Scope;
use crate::crawl::SitePreview;
use crate::error::Error;
use crate::fairness::FairPool;
use crate::id::{Id, kind};
use crate::limits;
use crate::ports::{AgentStore, SitePreviews};
use crate::source::WebsiteUrl;

/// Previews a crawl before a website becomes a source.
#[derive(Clone)]
pub struct Sites {
    agents: Arc<dyn AgentStore>,
    sites: Arc<dyn SitePreviews>,
    /// Previews in progress.
    places: FairPool<Id<kind::Account>>,
}

impl Sites {
    /// The use cases over these ports.
    pub fn new(agents: Arc<dyn AgentStore>, sites: Arc<dyn SitePreviews>) -> Self {
        let places = FairPool::new(limits::PREVIEWS_AT_ONCE, limits::PREVIEWS_AT_ONCE);
        Self { agents, sites, places }
    }

    /// The preview of a crawl from a start page for this agent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent, and [`Error::Overloaded`] beyond the account's share of the previews in
    /// progress.
    pub async fn preview(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        url: &WebsiteUrl,
    ) -> Result<SitePreview, Error> {
        let start = url.to_url()?;
        let found = self.agents.find_agent(scope, agent).await?;
        found.ok_or_else(|| Error::not_found("agent", agent))?;
        let _place = self.places.try_acquire(scope.account, 1).ok_or(Error::Overloaded)?;
        Ok(self.sites.preview(scope.account, &start).await)
    }
}
