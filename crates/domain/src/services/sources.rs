//! Use cases of sources, and search over them.

use std::sync::Arc;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::content::{PublicText, StoredDocument, StoredPassage};
use crate::conversation::MessageText;
use crate::error::Error;
use crate::id::{Id, IdRuns, kind};
use crate::idempotency::Completion;
use crate::job::NewJob;
use crate::managed::Managed;
use crate::page::{Page, PageRequest};
use crate::ports::{AgentStore, PassageIndex, SourceFilter, SourceStore, Stages, WorkSignal};
use crate::retrieval::{AgentVersion, Found, Query, SearchLimit};
use crate::services::thinking::Thinking;
use crate::source::{CrawledPage, QaPair, Source, SourceContent, SourcePatch, SourceState};

/// A source to add, already parsed.
#[derive(Debug, Clone)]
pub struct NewSource {
    /// The agent to add it to.
    pub agent_id: Id<kind::Agent>,
    /// What it holds.
    pub content: SourceContent,
    /// Whether its content is replaced only if no check of the agent is lost; for websites.
    pub guarded: bool,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
    /// The request that asks for it, for the logs.
    pub request_id: Option<Id<kind::Request>>,
}

/// Adds, reads, refreshes and deletes sources; searches them.
#[derive(Clone)]
pub struct Sources {
    store: Arc<dyn SourceStore>,
    agents: Arc<dyn AgentStore>,
    index: Arc<dyn PassageIndex>,
    thinking: Thinking,
    signal: WorkSignal,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    ids: Arc<IdRuns>,
}

impl Sources {
    /// The use cases over these ports; `signal` wakes the workers of this process.
    pub fn new(
        store: Arc<dyn SourceStore>,
        agents: Arc<dyn AgentStore>,
        index: Arc<dyn PassageIndex>,
        signal: WorkSignal,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let (thinking, ids) = (Thinking::default(), Arc::default());
        Self { store, agents, index, thinking, signal, clock, entropy, ids }
    }

    /// Adds a source, in the state pending.
    ///
    /// # Errors
    ///
    /// Those of [`SourceStore::insert_source`], and [`Error::Invalid`] if it is guarded and no website.
    pub async fn create(
        &self,
        scope: &Scope,
        new: NewSource,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        new.content.check_may_be_guarded(new.guarded)?;
        let source = Source {
            id: self.ids.next(self.entropy.as_ref()),
            account_id: scope.account,
            agent_id: new.agent_id,
            content: new.content,
            state: SourceState::Pending,
            progress: None,
            guarded: new.guarded,
            managed: new.managed,
            created_at: self.clock.now(),
        };
        let job = self.job(new.request_id);
        let source = self.store.insert_source(scope, source, job, completion).await?;
        self.signal.notify();
        Ok(source)
    }

    /// A job that is done for a request.
    fn job(&self, request_id: Option<Id<kind::Request>>) -> NewJob {
        NewJob { id: self.ids.next(self.entropy.as_ref()), request_id }
    }

    /// The source with this id.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none in the scope.
    pub async fn find(&self, scope: &Scope, id: Id<kind::Source>) -> Result<Source, Error> {
        self.store.find_source(scope, id).await?.ok_or_else(|| Error::not_found("source", id))
    }

    /// Sources of an agent, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn list(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: SourceFilter,
        page: PageRequest,
    ) -> Result<Page<Source>, Error> {
        self.store.list_sources(scope, agent, filter, page).await
    }

    /// Changes the settings of a source.
    ///
    /// # Errors
    ///
    /// Those of [`SourceStore::update_source`].
    pub async fn update(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        patch: SourcePatch,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        self.store.update_source(scope, id, patch, completion).await
    }

    /// Crawls a website again, for a request that the logs name.
    ///
    /// # Errors
    ///
    /// Those of [`SourceStore::refresh_source`].
    pub async fn refresh(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        request_id: Option<Id<kind::Request>>,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let job = self.job(request_id);
        let source =
            self.store.refresh_source(scope, id, job, self.clock.now(), completion).await?;
        self.signal.notify();
        Ok(source)
    }

    /// Adds pairs to a `qa` source, for a request that the logs name. Replies use the previous content until they are
    /// processed.
    ///
    /// # Errors
    ///
    /// Those of [`SourceStore::add_pairs`].
    pub async fn add_pairs(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        pairs: Vec<QaPair>,
        request_id: Option<Id<kind::Request>>,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let job = self.job(request_id);
        let now = self.clock.now();
        let source = self.store.add_pairs(scope, id, pairs, job, now, completion).await?;
        self.signal.notify();
        Ok(source)
    }

    /// Deletes a source: later replies do not use it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn delete(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let source = self.store.delete_source(scope, id, now, completion).await?;
        if source.state.searchable().is_some() {
            self.purge(source.agent_id, scope.account).await;
        }
        Ok(())
    }

    /// Removes deleted text from this machine's index files. Replies do not depend on it, because
    /// they read the agent's generation first.
    async fn purge(&self, agent: Id<kind::Agent>, account: Id<kind::Account>) {
        let found = self.agents.find_agent(&Scope::account(account), agent).await;
        let result = match found {
            Ok(Some(agent)) => {
                let version = AgentVersion::of(&agent);
                self.index.purge(version).await
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            tracing::warn!(agent_id = %agent, error = &error as &dyn std::error::Error, "deleted text stays in the index until the next search or sweep");
        }
    }

    /// A document of the last trained content.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn document(
        &self,
        scope: &Scope,
        id: Id<kind::Document>,
    ) -> Result<StoredDocument, Error> {
        self.store.find_document(scope, id).await?.ok_or_else(|| Error::not_found("document", id))
    }

    /// A document as anybody may read it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] unless its agent publishes its sources.
    pub async fn public_text(&self, id: Id<kind::Document>) -> Result<PublicText, Error> {
        self.store.find_public_text(id).await?.ok_or_else(|| Error::not_found("document", id))
    }

    /// What was extracted, in order.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn documents(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        page: PageRequest,
    ) -> Result<Page<StoredDocument>, Error> {
        self.store.list_documents(scope, id, page).await
    }

    /// The passages, in order, or those of one document.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn passages(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        document: Option<Id<kind::Document>>,
        page: PageRequest,
    ) -> Result<Page<StoredPassage>, Error> {
        self.store.list_passages(scope, id, document, page).await
    }

    /// The pages of the last crawl.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], and [`Error::InvalidOperation`] if the source is not a website.
    pub async fn pages(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        page: PageRequest,
    ) -> Result<Page<CrawledPage>, Error> {
        self.store.list_pages(scope, id, page).await
    }

    /// The best `limit` passages for a text, over the index and ranking that replies use, with the confidence that they
    /// answer it and the floor of the agent. Passages below the floor are included.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for the agent.
    pub async fn search(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        text: MessageText,
        limit: SearchLimit,
    ) -> Result<Found, Error> {
        let agent = self
            .agents
            .find_agent(scope, agent)
            .await?
            .ok_or_else(|| Error::not_found("agent", agent))?;
        let version = AgentVersion::of(&agent);
        let query =
            Query { text: text.to_string(), floor: agent.profile.answer_floor, ..Query::default() };
        let vector = self.index.meaning(version, &query, &Stages::default()).await;
        let _turn = self.thinking.turn_for(agent.account_id, &query.text).await;
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        self.index.search_with(version, &query, vector, limit).await
    }
}
