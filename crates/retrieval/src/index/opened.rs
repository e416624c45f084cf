//! The indexes that are kept open. If there is no room for another one, the account with the most open
//! indexes loses the one that it has not used for longest: an account that asks a thousand agents closes
//! its own indexes.
//!
//! An open index holds memory maps, so a closed one must be dropped at once. Caches that clean up at some
//! later time would let the maps pile up.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Id, kind};
use lru::LruCache;
use parking_lot::Mutex;

use crate::search::Snapshot;

/// Open indexes by their agent.
pub(super) struct Opened {
    capacity: usize,
    kept: Mutex<Kept<Arc<Snapshot>>>,
}

/// The open indexes of one account, each with the number of its last use.
type Agents<T> = LruCache<Id<kind::Agent>, (u64, T)>;

/// The open indexes of each account, least recently used first.
struct Kept<T> {
    accounts: HashMap<Id<kind::Account>, Agents<T>>,
    owners: HashMap<Id<kind::Agent>, Id<kind::Account>>,
    /// The number of the last use.
    uses: u64,
}

impl Opened {
    /// Has room for `capacity` indexes, and for one at least.
    pub(super) fn new(capacity: u64) -> Self {
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX).max(1);
        Self { capacity, kept: Mutex::new(Kept::new()) }
    }

    /// The open index of an agent.
    pub(super) fn get(&self, agent: Id<kind::Agent>) -> Option<Arc<Snapshot>> {
        self.kept.lock().get(agent).map(Arc::clone)
    }

    /// Keeps an index open. The one that it replaces is closed when its last search has ended.
    pub(super) fn insert(&self, agent: AgentVersion, snapshot: Arc<Snapshot>) {
        // Closing takes longer than the lock should be held, so it happens at the end of this call.
        let mut kept = self.kept.lock();
        let replaced = kept.insert(agent.account_id, agent.id, snapshot);
        let surplus = if kept.count() > self.capacity { kept.take_surplus() } else { None };
        drop(kept);
        drop((replaced, surplus));
    }

    /// Closes the index of an agent.
    pub(super) fn remove(&self, agent: Id<kind::Agent>) {
        // The lock is free again when this is dropped.
        let closed = self.kept.lock().remove(agent);
        drop(closed);
    }

    /// The number of open indexes.
    pub(super) fn count(&self) -> usize {
        self.kept.lock().count()
    }
}

impl<T> Kept<T> {
    fn new() -> Self {
        Self { accounts: HashMap::new(), owners: HashMap::new(), uses: 0 }
    }

    fn count(&self) -> usize {
        self.owners.len()
    }

    fn get(&mut self, agent: Id<kind::Agent>) -> Option<&T> {
        let account = self.owners.get(&agent)?;
        let (used, value) = self.accounts.get_mut(account)?.get_mut(&agent)?;
        self.uses += 1;
        *used = self.uses;
        Some(value)
    }

    /// Keeps an index and returns the one that was kept for the agent before.
    fn insert(
        &mut self,
        account: Id<kind::Account>,
        agent: Id<kind::Agent>,
        value: T,
    ) -> Option<T> {
        let replaced = self.remove(agent);
        self.owners.insert(agent, account);
        self.uses += 1;
        let kept = self.accounts.entry(account).or_insert_with(LruCache::unbounded);
        kept.put(agent, (self.uses, value));
        replaced
    }

    fn remove(&mut self, agent: Id<kind::Agent>) -> Option<T> {
        let account = self.owners.remove(&agent)?;
        let kept = self.accounts.get_mut(&account)?;
        let removed = kept.pop(&agent).map(|(_, value)| value);
        if kept.is_empty() {
            self.accounts.remove(&account);
        }
        removed
    }

    /// Takes the least recently used index of the account with the most; among such accounts, the least
    /// recently used of all.
    fn take_surplus(&mut self) -> Option<T> {
        let oldest = self.accounts.values().filter_map(|kept| {
            let (agent, (used, _)) = kept.peek_lru()?;
            Some((kept.len(), Reverse(*used), *agent))
        });
        let (_, _, agent) = oldest.max_by_key(|(count, used, _)| (*count, *used))?;
        self.remove(agent)
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::Kept;

    #[test]
    fn an_account_that_asks_many_agents_closes_its_own() {
        let mut kept = Kept::new();
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let agent = Id::random(&SystemEntropy);
        assert_eq!(kept.insert(other, agent, 0), None);
        let (mut agents, mut closed) = (Vec::new(), Vec::new());
        for number in 1..=5 {
            agents.push(Id::random(&SystemEntropy));
            kept.insert(flood, agents[number - 1], number);
            if kept.count() > 3 {
                closed.extend(kept.take_surplus());
            }
        }
        assert_eq!(closed, [1, 2, 3], "the ones unused for longest");
        assert_eq!([kept.get(agent).copied(), kept.get(agents[4]).copied()], [Some(0), Some(5)]);
        assert_eq!(kept.get(agents[0]), None);
        assert_eq!(kept.insert(other, agent, 6), Some(0));
        assert_eq!((kept.remove(agent), kept.remove(agent), kept.count()), (Some(6), None, 2));
    }

    #[test]
    fn among_equals_the_one_that_nobody_has_used_for_longest_is_closed() {
        let mut kept = Kept::new();
        let (first, second) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        kept.insert(Id::random(&SystemEntropy), first, 1);
        kept.insert(Id::random(&SystemEntropy), second, 2);
        assert_eq!(kept.get(first), Some(&1));
        kept.insert(Id::random(&SystemEntropy), Id::random(&SystemEntropy), 3);
        assert_eq!(kept.take_surplus(), Some(2));
    }
}
