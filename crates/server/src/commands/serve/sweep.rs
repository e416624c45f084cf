//! Keeps the files of indexes on this machine free of what was deleted: by another server on the same database, or just
//! before a crash.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::services::{Agents, Keys};
use cicerone_domain::{Error, Id, PageRequest, Scope, kind, limits};
use cicerone_retrieval::Index;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the files are compared with the rows: what is deleted is in none of them after twice this time.
const INTERVAL: Duration = Duration::from_secs(25);
/// After the files of an agent were changed, the next ones wait for as long as that took, but not longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Agents of an account that are looked up at once.
const AGENTS: usize = 100;
/// After so long, the next account has its turn: one with many changed agents must not keep deleted text of others in
/// files.
const TURN: Duration = Duration::from_secs(1);

/// Brings the files of all agents on this machine up to date, one agent after the other.
#[derive(Clone)]
pub(super) struct Sweep {
    index: Index,
    keys: Keys,
    agents: Agents,
}

/// How many agents a round had to do with.
#[derive(Default, PartialEq, Eq)]
struct Swept {
    /// Those that are gone, whose files it removed.
    removed: usize,
    /// Those whose files it brought up to date.
    renewed: usize,
    /// Those whose files it could not change.
    failed: usize,
}

/// The agents that are still to be looked at, by account.
#[derive(Default)]
struct Waiting {
    agents: HashMap<Id<kind::Account>, Vec<Id<kind::Agent>>>,
    /// The accounts in the order of their turns.
    turns: VecDeque<Id<kind::Account>>,
}

impl Waiting {
    fn add(&mut self, account: Id<kind::Account>, agent: Id<kind::Agent>) {
        let agents = self.agents.entry(account).or_default();
        if agents.is_empty() {
            self.turns.push_back(account);
        }
        agents.push(agent);
    }

    /// Some agents of the account whose turn it is.
    fn next(&mut self) -> Option<(Id<kind::Account>, Vec<Id<kind::Agent>>)> {
        let account = self.turns.pop_front()?;
        let agents = self.agents.get_mut(&account)?;
        let some = agents.split_off(agents.len().saturating_sub(AGENTS));
        Some((account, some))
    }

    /// Ends the turn of an account that did not get to these agents.
    fn put_back(&mut self, account: Id<kind::Account>, left: Vec<Id<kind::Agent>>) {
        if let Some(agents) = self.agents.get_mut(&account) {
            agents.extend(left);
            if !agents.is_empty() {
                self.turns.push_back(account);
            }
        }
    }
}

impl Sweep {
    pub(super) fn new(index: Index, keys: Keys, agents: Agents) -> Self {
        Self { index, keys, agents }
    }

    /// Runs a round every 25 seconds until `stop`. A change of an index that has begun is finished.
    pub(super) async fn run(&self, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(INTERVAL)).await.is_some() {
            match stop.run_until_cancelled(self.round()).await {
                Some(Ok(swept)) if swept != Swept::default() => tracing::info!(
                    removed = swept.removed,
                    renewed = swept.renewed,
                    failed = swept.failed,
                    "the index files of this machine were behind the database"
                ),
                Some(Ok(_)) | None => {}
                Some(Err(error)) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "deleted text may be in index files; the next round will try again"
                ),
            }
        }
    }

    /// Compares the files of all agents with their rows, accounts in turns. Fails if the database, or the folder of the
    /// indexes, cannot be read. A failure that concerns the files of one agent is logged.
    async fn round(&self) -> Result<Swept, Error> {
        let mut swept = Swept::default();
        let on_disk = self.index.agents_with_files().await?;
        let unknown = on_disk.iter().filter(|(_, account)| account.is_none());
        let owners = self.owners(unknown.map(|(agent, _)| *agent).collect()).await?;
        let mut waiting = Waiting::default();
        for (agent, account) in on_disk {
            match account.or_else(|| owners.get(&agent).copied()) {
                Some(account) => waiting.add(account, agent),
                None => self.renew(agent, None, &mut swept).await,
            }
        }
        while let Some((account, mut agents)) = waiting.next() {
            let scope = Scope { agents: Some(agents.as_slice().into()), ..Scope::account(account) };
            let found = self.versions(&scope).await?;
            let began = Instant::now();
            while began.elapsed() < TURN
                && let Some(agent) = agents.pop()
            {
                self.renew(agent, found.get(&agent).copied(), &mut swept).await;
            }
            waiting.put_back(account, agents);
        }
        Ok(swept)
    }

    /// The accounts of these agents. An agent without one is gone, or is being removed.
    async fn owners(
        &self,
        agents: HashSet<Id<kind::Agent>>,
    ) -> Result<HashMap<Id<kind::Agent>, Id<kind::Account>>, Error> {
        let mut owners = HashMap::new();
        if agents.is_empty() {
            return Ok(owners);
        }
        // A few are looked up by their ids. After a start, they may be too many for that.
        let few = agents.len() <= AGENTS;
        let ids: Option<Arc<[_]>> = few.then(|| agents.iter().copied().collect());
        for account in self.keys.accounts().await? {
            let scope = Scope { agents: ids.clone(), ..Scope::account(account.id) };
            let found = self.versions(&scope).await?.into_keys();
            owners.extend(found.filter(|id| agents.contains(id)).map(|id| (id, account.id)));
        }
        Ok(owners)
    }

    /// The agents of a scope, with their generations.
    async fn versions(
        &self,
        scope: &Scope,
    ) -> Result<HashMap<Id<kind::Agent>, AgentVersion>, Error> {
        let mut versions = HashMap::new();
        let mut after = None;
        loop {
            let request = PageRequest { size: limits::PAGE_SIZE_RANGE.1, after };
            let page = self.agents.list(scope, AgentFilter::default(), request).await?;
            let some = page.items.iter().map(AgentVersion::of);
            versions.extend(some.map(|version| (version.id, version)));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(versions),
            }
        }
    }

    /// Removes the files of an agent that is gone, and brings those of others up to date.
    async fn renew(&self, id: Id<kind::Agent>, agent: Option<AgentVersion>, swept: &mut Swept) {
        let began = Instant::now();
        let (outcome, count) = match agent {
            Some(agent) => (self.index.renew(agent).await, &mut swept.renewed),
            None => (self.index.remove(id).await.map(|()| true), &mut swept.removed),
        };
        match outcome {
            Ok(false) => return,
            Ok(true) => *count += 1,
            Err(error) => {
                swept.failed += 1;
                tracing::warn!(agent_id = %id, error = &error as &dyn std::error::Error,
                    "deleted text may be in the index files of an agent; the next round will try again");
            }
        }
        tokio::time::sleep(began.elapsed().min(LONGEST_PAUSE)).await;
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::{AGENTS, Waiting};

    #[test]
    fn an_account_with_many_agents_leaves_turns_to_others() {
        let [many, few] = [Id::random(&SystemEntropy), Id::random(&SystemEntropy)];
        let mut waiting = Waiting::default();
        let mut all: Vec<_> = (0..5 * AGENTS).map(|_| Id::random(&SystemEntropy)).collect();
        all.iter().for_each(|agent| waiting.add(many, *agent));
        let other = Id::random(&SystemEntropy);
        waiting.add(few, other);
        let mut turns = Vec::new();
        while let Some((account, mut agents)) = waiting.next() {
            assert!((1..=AGENTS).contains(&agents.len()));
            // A change that takes long.
            let done = agents.pop().unwrap();
            if account == many {
                all.retain(|agent| *agent != done);
            } else {
                assert_eq!(done, other);
            }
            turns.push(account);
            waiting.put_back(account, agents);
        }
        assert_eq!(turns[1], few);
        assert_eq!((turns.len(), all.len()), (5 * AGENTS + 1, 0));
    }
}
