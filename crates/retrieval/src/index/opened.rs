//! The indexes that are kept open, on the disk and in memory, each within a limit. If there is no
//! room for another one, the account that uses the most loses its least recently used index. So an
//! account that asks a thousand agents closes its own indexes.
//!
//! An open index has memory maps, so a closed one must be dropped at once. In a cache that cleans
//! up at some later time, the maps would pile up.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Id, kind};
use lru::LruCache;
use parking_lot::Mutex;

use crate::search::Snapshot;

/// The most accounts with equal use among which the one that loses an index is chosen.
const EQUALS: usize = 256;

/// The open index of each agent.
pub(super) struct Opened {
    /// Indexes on the disk; the limit is on their number.
    mapped: Pool<Snapshot>,
    /// Indexes in memory; the limit is on their bytes.
    in_memory: Pool<Snapshot>,
}

/// Objects of agents that are kept open, within a limit.
pub(crate) struct Pool<T> {
    capacity: u64,
    kept: Mutex<IndexesByAccount<Arc<T>>>,
}

impl Opened {
    /// Has room for `mapped` indexes on the disk, at least one, and for `memory_bytes` bytes of
    /// indexes in memory.
    pub(super) fn new(mapped: u64, memory_bytes: u64) -> Self {
        Self { mapped: Pool::new(mapped.max(1)), in_memory: Pool::new(memory_bytes) }
    }

    pub(super) fn get(&self, agent: Id<kind::Agent>) -> Option<Arc<Snapshot>> {
        self.in_memory.get(agent).or_else(|| self.mapped.get(agent))
    }

    /// Keeps an index open. The indexes that it replaces are closed when their last search has
    /// ended.
    pub(super) fn insert(&self, agent: AgentVersion, snapshot: Arc<Snapshot>) {
        match snapshot.bytes() {
            Some(bytes) => {
                self.mapped.remove(agent.id);
                self.in_memory.insert(agent, snapshot, u64::try_from(bytes).unwrap_or(u64::MAX));
            }
            None => {
                self.in_memory.remove(agent.id);
                self.mapped.insert(agent, snapshot, 1);
            }
        }
    }

    /// Closes the index of an agent.
    pub(super) fn remove(&self, agent: Id<kind::Agent>) {
        self.in_memory.remove(agent);
        self.mapped.remove(agent);
    }

    /// Whether the index of an agent is open. Unlike a search, this does not count as a use.
    pub(super) fn contains(&self, agent: Id<kind::Agent>) -> bool {
        let has = |pool: &Pool<Snapshot>| pool.kept.lock().owners.contains_key(&agent);
        has(&self.in_memory) || has(&self.mapped)
    }

    /// The number of open indexes.
    pub(super) fn count(&self) -> usize {
        self.in_memory.kept.lock().count() + self.mapped.kept.lock().count()
    }
}

impl<T> Pool<T> {
    /// Has room for objects of this total size.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, kept: Mutex::new(IndexesByAccount::new()) }
    }

    pub(crate) fn get(&self, agent: Id<kind::Agent>) -> Option<Arc<T>> {
        self.kept.lock().get(agent).map(Arc::clone)
    }

    /// Keeps an object, and replaces the previous one of the agent.
    pub(crate) fn insert(&self, agent: AgentVersion, snapshot: Arc<T>, size: u64) {
        // Closing takes longer than the lock should be held, so it happens at the end of this call.
        let mut closed = Vec::new();
        let mut kept = self.kept.lock();
        closed.extend(kept.insert(agent.account_id, agent.id, snapshot, size));
        while kept.size > self.capacity
            && let Some(surplus) = kept.take_surplus()
        {
            closed.push(surplus);
        }
        drop(kept);
        drop(closed);
    }

    /// Drops the object of an agent.
    pub(crate) fn remove(&self, agent: Id<kind::Agent>) {
        // Dropped after the lock is released.
        let closed = self.kept.lock().remove(agent);
        drop(closed);
    }
}

/// The open indexes of each account, least recently used first.
struct IndexesByAccount<T> {
    accounts: HashMap<Id<kind::Account>, OfAccount<T>>,
    /// The accounts, ordered by the size that they use.
    by_size: BTreeSet<(u64, Id<kind::Account>)>,
    owners: HashMap<Id<kind::Agent>, Id<kind::Account>>,
    /// The size that all of them use.
    size: u64,
    /// The number of the last use.
    uses: u64,
}

/// The open indexes of one account.
struct OfAccount<T> {
    agents: LruCache<Id<kind::Agent>, Entry<T>>,
    size: u64,
}

struct Entry<T> {
    /// The number of its last use.
    used: u64,
    size: u64,
    value: T,
}

impl<T> IndexesByAccount<T> {
    fn new() -> Self {
        Self {
            accounts: HashMap::new(),
            by_size: BTreeSet::new(),
            owners: HashMap::new(),
            size: 0,
            uses: 0,
        }
    }

    fn count(&self) -> usize {
        self.owners.len()
    }

    fn get(&mut self, agent: Id<kind::Agent>) -> Option<&T> {
        let account = self.owners.get(&agent)?;
        let entry = self.accounts.get_mut(account)?.agents.get_mut(&agent)?;
        self.uses += 1;
        entry.used = self.uses;
        Some(&entry.value)
    }

    /// Keeps an index and returns the previous one of the agent.
    fn insert(
        &mut self,
        account: Id<kind::Account>,
        agent: Id<kind::Agent>,
        value: T,
        size: u64,
    ) -> Option<T> {
        let replaced = self.remove(agent);
        self.owners.insert(agent, account);
        self.uses += 1;
        self.size += size;
        let new = || OfAccount { agents: LruCache::unbounded(), size: 0 };
        let kept = self.accounts.entry(account).or_insert_with(new);
        self.by_size.remove(&(kept.size, account));
        kept.size += size;
        self.by_size.insert((kept.size, account));
        kept.agents.put(agent, Entry { used: self.uses, size, value });
        replaced
    }

    fn remove(&mut self, agent: Id<kind::Agent>) -> Option<T> {
        let account = self.owners.remove(&agent)?;
        let kept = self.accounts.get_mut(&account)?;
        let removed = kept.agents.pop(&agent);
        self.by_size.remove(&(kept.size, account));
        if let Some(entry) = &removed {
            self.size -= entry.size;
            kept.size -= entry.size;
        }
        if kept.agents.is_empty() {
            self.accounts.remove(&account);
        } else {
            self.by_size.insert((kept.size, account));
        }
        removed.map(|entry| entry.value)
    }

    /// Takes the least recently used index of the account that uses the most; among several such
    /// accounts, the least recently used index of them all.
    fn take_surplus(&mut self) -> Option<T> {
        let (most, _) = *self.by_size.last()?;
        let largest = self.by_size.iter().rev().take_while(|(size, _)| *size == most);
        let oldest = largest.take(EQUALS).filter_map(|(_, account)| {
            let (agent, entry) = self.accounts.get(account)?.agents.peek_lru()?;
            Some((entry.used, *agent))
        });
        let (_, agent) = oldest.min_by_key(|(used, _)| *used)?;
        self.remove(agent)
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Id, SystemEntropy};

    use super::IndexesByAccount;

    #[test]
    fn an_account_that_asks_many_agents_closes_its_own() {
        let mut kept = IndexesByAccount::new();
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let agent = Id::random(&SystemEntropy);
        assert_eq!(kept.insert(other, agent, 0, 1), None);
        let (mut agents, mut closed) = (Vec::new(), Vec::new());
        for number in 1..=5 {
            agents.push(Id::random(&SystemEntropy));
            kept.insert(flood, agents[number - 1], number, 1);
            if kept.count() > 3 {
                closed.extend(kept.take_surplus());
            }
        }
        assert_eq!(closed, [1, 2, 3], "the ones unused for longest");
        assert_eq!([kept.get(agent).copied(), kept.get(agents[4]).copied()], [Some(0), Some(5)]);
        assert_eq!(kept.get(agents[0]), None);
        assert_eq!(kept.insert(other, agent, 6, 1), Some(0));
        assert_eq!((kept.remove(agent), kept.remove(agent), kept.count()), (Some(6), None, 2));
    }

    #[test]
    fn among_equals_the_one_that_nobody_has_used_for_longest_is_closed() {
        let mut kept = IndexesByAccount::new();
        let (first, second) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        kept.insert(Id::random(&SystemEntropy), first, 1, 1);
        kept.insert(Id::random(&SystemEntropy), second, 2, 1);
        assert_eq!(kept.get(first), Some(&1));
        kept.insert(Id::random(&SystemEntropy), Id::random(&SystemEntropy), 3, 1);
        assert_eq!(kept.take_surplus(), Some(2));
    }
    #[test]
    fn the_account_that_takes_the_most_bytes_gives_way_not_the_one_with_the_most_indexes() {
        let mut kept = IndexesByAccount::new();
        let (many, large) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let agents: Vec<_> = (0..5).map(|_| Id::random(&SystemEntropy)).collect();
        for (number, agent) in agents.iter().enumerate() {
            kept.insert(many, *agent, number, 10);
        }
        let agent = Id::random(&SystemEntropy);
        kept.insert(large, agent, 9, 60);
        assert_eq!((kept.size, kept.take_surplus(), kept.size), (110, Some(9), 50));
        assert_eq!(kept.insert(many, agents[0], 7, 25), Some(0), "replaced, with another size");
        assert_eq!((kept.size, kept.remove(agents[0]), kept.size), (65, Some(7), 40));
        assert_eq!(kept.remove(agent), None);
    }
}
