//! Use cases of agents.

use std::sync::Arc;

use crate::access::Scope;
use crate::agent::{Agent, AgentFilter, AgentPatch, AgentProfile, AgentStatus};
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::page::{Page, PageRequest};
use crate::ports::{AgentStore, ModelCatalog, PassageIndex};

/// Creates, reads, changes and deletes agents.
#[derive(Clone)]
pub struct Agents {
    store: Arc<dyn AgentStore>,
    index: Arc<dyn PassageIndex>,
    models: Arc<dyn ModelCatalog>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Agents {
    /// The use cases over these ports.
    pub fn new(
        store: Arc<dyn AgentStore>,
        index: Arc<dyn PassageIndex>,
        models: Arc<dyn ModelCatalog>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { store, index, models, clock, entropy }
    }

    /// Whether agents may use this model.
    pub fn knows_model(&self, model: &str) -> bool {
        self.models.knows(model)
    }

    /// The models that agents may use.
    pub fn models(&self) -> Vec<String> {
        self.models.names()
    }

    /// Whether any model is served by an upstream.
    pub fn has_upstream(&self) -> bool {
        self.models.has_upstream()
    }

    /// Creates an active agent.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOperation`] for a key that is restricted to agents, because it could not see a new one.
    pub async fn create(
        &self,
        scope: &Scope,
        profile: AgentProfile,
        completion: Option<Completion<Agent>>,
    ) -> Result<Agent, Error> {
        if scope.agents.is_some() {
            let message = "this key is restricted to existing agents and cannot create one";
            return Err(Error::InvalidOperation(message.to_owned()));
        }
        let now = self.clock.now();
        let agent = Agent {
            id: Id::random(self.entropy.as_ref()),
            account_id: scope.account,
            profile,
            status: AgentStatus::Active,
            created_at: now,
            updated_at: now,
            index_generation: 0,
        };
        self.store.insert_agent(agent, completion).await
    }

    /// The agent with this id.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none in the scope.
    pub async fn find(&self, scope: &Scope, id: Id<kind::Agent>) -> Result<Agent, Error> {
        self.store.find_agent(scope, id).await?.ok_or_else(|| Error::not_found("agent", id))
    }

    /// Agents, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn list(
        &self,
        scope: &Scope,
        filter: AgentFilter,
        page: PageRequest,
    ) -> Result<Page<Agent>, Error> {
        self.store.list_agents(scope, filter, page).await
    }

    /// Changes an agent.
    ///
    /// # Errors
    ///
    /// Those of [`AgentStore::update_agent`].
    pub async fn update(
        &self,
        scope: &Scope,
        id: Id<kind::Agent>,
        patch: AgentPatch,
        completion: Option<Completion<Agent>>,
    ) -> Result<Agent, Error> {
        self.store.update_agent(scope, id, patch, self.clock.now(), completion).await
    }

    /// Deletes an agent and everything that belongs to it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn delete(
        &self,
        scope: &Scope,
        id: Id<kind::Agent>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.store.delete_agent(scope, id, self.clock.now(), completion).await?;
        // The rows, and with them all content, are deleted. The sweep of the
        // index's files removes a leftover one.
        if let Err(error) = self.index.remove(id).await {
            tracing::warn!(agent_id = %id, error = &error as &dyn std::error::Error, "the index of a deleted agent is still on disk");
        }
        Ok(())
    }
}
