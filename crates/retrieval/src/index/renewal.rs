//! Brings files up to date without a question: those of an agent that was changed on another machine, or just before a
//! crash. Otherwise, what was deleted would stay in them until the agent is asked here.

use std::collections::BTreeSet;

use cicerone_domain::fairness::Urgency;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind};

use super::Index;
use crate::store::Store;

/// What the files of an index contain, according to its last commit.
enum Files {
    /// The content of this generation.
    At(u64),
    /// Also deleted passages, because a change was interrupted.
    Untidy,
    /// Nothing that this version can read.
    Unusable,
}

/// What is known about an agent that has files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    account: Id<kind::Account>,
    /// The generation of the agent when its files were last found to contain that generation and nothing else. Each change
    /// has another one, so that the files need not be read again until then.
    tidy_at: Option<u64>,
}

impl Owner {
    /// An agent whose files are about to change.
    pub(super) fn of(agent: &AgentVersion) -> Self {
        Self { account: agent.account_id, tidy_at: None }
    }
}

impl Index {
    /// The agents that have files on this machine, each with its account if a change since the start has named it.
    pub async fn agents_with_files(
        &self,
    ) -> Result<Vec<(Id<kind::Agent>, Option<Id<kind::Account>>)>, Error> {
        let mut agents: BTreeSet<_> = self.shared.folders.agents().await?.into_iter().collect();
        if let Some(meaning) = &self.shared.meaning {
            agents.extend(meaning.agents().await?);
        }
        let mut owners = self.shared.owners.lock();
        owners.retain(|agent, _| agents.contains(agent));
        let with_account = |agent| (agent, owners.get(&agent).map(|owner| owner.account));
        Ok(agents.into_iter().map(with_account).collect())
    }

    /// Brings the files of an agent on this machine to its generation, if there are any and they are behind. Otherwise
    /// no index is opened, and none is made. Returns whether there was something to do.
    pub async fn renew(&self, agent: AgentVersion) -> Result<bool, Error> {
        let known = self.shared.owners.lock().get(&agent.id).and_then(|owner| owner.tidy_at);
        if known == Some(agent.generation) {
            return Ok(false);
        }
        let words = self.renew_words(agent).await;
        // Files of one kind that cannot be renewed do not keep the others.
        let vectors = match &self.shared.meaning {
            Some(meaning) => meaning.renew(agent).await,
            None => Ok(false),
        };
        let is_changed = words? | vectors?;
        // What was changed is looked at once more, in the next round.
        let tidy_at = (!is_changed).then_some(agent.generation);
        self.shared.owners.lock().insert(agent.id, Owner { account: agent.account_id, tidy_at });
        Ok(is_changed)
    }

    async fn renew_words(&self, agent: AgentVersion) -> Result<bool, Error> {
        if !self.shared.folders.has(agent.id) {
            return Ok(false);
        }
        match self.files(agent.id).await? {
            Files::At(generation) if generation == agent.generation => Ok(false),
            Files::At(_) | Files::Untidy => self.catch_up(agent).await.map(|()| true),
            Files::Unusable => self.remove_unusable(agent.id).await,
        }
    }

    /// Brings an index up to date as a search does. One that was closed is closed again: nobody asks the agent, and an
    /// open index takes the place of another.
    async fn catch_up(&self, agent: AgentVersion) -> Result<(), Error> {
        let was_open = self.shared.open.contains(agent.id);
        self.in_step(agent, Urgency::Learning).await?;
        if !was_open {
            self.shared.open.remove(agent.id);
        }
        Ok(())
    }

    /// Removes files that this version cannot read. The next question makes them again. Returns whether it removed any.
    async fn remove_unusable(&self, agent: Id<kind::Agent>) -> Result<bool, Error> {
        let _turn = self.shared.turns.take(agent).await;
        // They may have been incomplete because they were being made.
        if !self.shared.folders.has(agent) || !matches!(self.files(agent).await?, Files::Unusable) {
            return Ok(false);
        }
        self.shared.open.remove(agent);
        self.shared.folders.remove(agent).await?;
        Ok(true)
    }

    async fn files(&self, agent: Id<kind::Agent>) -> Result<Files, Error> {
        let folder = self.shared.folders.of(agent);
        let look = tokio::task::spawn_blocking(move || Store::generation_of(&folder));
        match look.await.map_err(Error::internal)? {
            Ok(Some(generation)) => Ok(Files::At(generation)),
            Ok(None) => Ok(Files::Untidy),
            Err(unusable) if unusable.is_exhaustion() => Err(Error::unavailable(unusable)),
            Err(_) => Ok(Files::Unusable),
        }
    }
}
