//! Brings files up to date without a question: those of an agent that was changed on another machine, or just before a
//! crash. Otherwise, what was deleted would stay in them until the agent is asked here.

use std::collections::{BTreeSet, HashMap};

use cicerone_domain::fairness::Urgency;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind, limits};

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

/// The agents whose files on this machine are behind the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    /// Those that are gone.
    pub gone: Vec<Id<kind::Agent>>,
    /// Those whose files have other content than the rows, or have not been looked at in this generation.
    pub changed: Vec<AgentVersion>,
}

impl Index {
    /// Compares the files on this machine with the rows. No file of an index is read.
    pub async fn behind(&self) -> Result<Behind, Error> {
        let mut agents: BTreeSet<_> = self.shared.folders.agents().await?.into_iter().collect();
        if let Some(meaning) = &self.shared.meaning {
            agents.extend(meaning.agents().await?);
        }
        self.shared.tidy.lock().retain(|agent, _| agents.contains(agent));
        let agents: Vec<_> = agents.into_iter().collect();
        let mut behind = Behind::default();
        for some in agents.chunks(limits::FEED_AGENTS) {
            let mut there: HashMap<_, _> = HashMap::with_capacity(some.len());
            there.extend(self.shared.feed.versions(some).await?.into_iter().map(|a| (a.id, a)));
            let tidy = self.shared.tidy.lock();
            for agent in some {
                match there.get(agent) {
                    None => behind.gone.push(*agent),
                    Some(version) if tidy.get(agent) == Some(&version.generation) => {}
                    Some(version) => behind.changed.push(*version),
                }
            }
        }
        Ok(behind)
    }

    /// Brings the files of an agent on this machine to its generation, if there are any and they are behind. Otherwise
    /// no index is opened, and none is made. Returns whether there was something to do.
    pub async fn renew(&self, agent: AgentVersion) -> Result<bool, Error> {
        let words = self.renew_words(agent).await;
        // Files of one kind that cannot be renewed do not keep the others.
        let vectors = match &self.shared.meaning {
            Some(meaning) => meaning.renew(agent).await,
            None => Ok(false),
        };
        let is_changed = words? | vectors?;
        // What was changed is looked at once more, in the next round.
        if !is_changed {
            self.shared.tidy.lock().insert(agent.id, agent.generation);
        }
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
