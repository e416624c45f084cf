//! Keeps the files of indexes on this machine free of what was deleted: by another server on the same database, or just
//! before a crash.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::services::{Agents, Keys};
use cicerone_domain::{Error, Id, PageRequest, Scope, kind};
use cicerone_retrieval::Index;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the files are compared with the rows: what is deleted is in none of them after twice this time.
const INTERVAL: Duration = Duration::from_secs(25);
/// After the files of an agent were changed, the next ones wait for as long as that took, but not longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Agents read at once.
const PAGE_SIZE: u32 = 100;

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

    /// Compares the files of all agents with their rows. Fails if the database, or the folder of the indexes, cannot be
    /// read. A failure that concerns the files of one agent is logged.
    async fn round(&self) -> Result<Swept, Error> {
        let mut swept = Swept::default();
        let mut unknown = HashSet::new();
        let mut known: HashMap<_, Vec<_>> = HashMap::new();
        for (agent, account) in self.index.agents_with_files().await? {
            match account {
                Some(account) => known.entry(account).or_default().push(agent),
                None => drop(unknown.insert(agent)),
            }
        }
        for (account, agents) in known {
            for some in agents.chunks(PAGE_SIZE as usize) {
                let scope = Scope { agents: Some(some.into()), ..Scope::account(account) };
                let found = self.versions(&scope).await?;
                for agent in some {
                    self.renew(*agent, found.get(agent).copied(), &mut swept).await;
                }
            }
        }
        if !unknown.is_empty() {
            self.round_of_unknown(unknown, &mut swept).await?;
        }
        Ok(swept)
    }

    /// The same for agents whose accounts are not known. One that no account has is gone, or is being removed.
    async fn round_of_unknown(
        &self,
        mut agents: HashSet<Id<kind::Agent>>,
        swept: &mut Swept,
    ) -> Result<(), Error> {
        // A few are looked up by their ids. After a start, they may be too many for that.
        let few = agents.len() <= PAGE_SIZE as usize;
        let ids: Option<Arc<[_]>> = few.then(|| agents.iter().copied().collect());
        for account in self.keys.accounts().await? {
            let scope = Scope { agents: ids.clone(), ..Scope::account(account.id) };
            for (agent, version) in self.versions(&scope).await? {
                if agents.remove(&agent) {
                    self.renew(agent, Some(version), swept).await;
                }
            }
        }
        for agent in agents {
            self.renew(agent, None, swept).await;
        }
        Ok(())
    }

    /// The agents of a scope, with their generations.
    async fn versions(
        &self,
        scope: &Scope,
    ) -> Result<HashMap<Id<kind::Agent>, AgentVersion>, Error> {
        let mut versions = HashMap::new();
        let mut after = None;
        loop {
            let request = PageRequest { size: PAGE_SIZE, after };
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
