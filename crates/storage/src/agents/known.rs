//! Agents that were read a moment ago.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cicerone_domain::id::kind;
use cicerone_domain::{Agent, Id};
use parking_lot::Mutex;

/// How long an agent is known: the time in which replies may miss what another process has written.
const LIFE: Duration = Duration::from_millis(100);
/// Agents that are known at once.
const AGENTS: usize = 64;

/// Agents as they are in a SQLite file.
///
/// Between two changes of anything except conversations, which only the single writer of this process makes, an agent
/// is read once for all replies. As without this cache, everything that begins after a change by this process was
/// acknowledged sees the change.
#[derive(Default)]
pub(crate) struct KnownAgents(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The number of the changes that they were read after.
    changes: u64,
    /// When the first of them was read.
    since: Option<Instant>,
    agents: HashMap<Id<kind::Agent>, Agent>,
}

impl KnownAgents {
    /// The agent, if it was read since the last of this number of changes.
    pub(crate) fn get(&self, changes: u64, id: Id<kind::Agent>) -> Option<Agent> {
        let known = self.0.lock();
        known.is_current(changes).then(|| known.agents.get(&id).cloned()).flatten()
    }

    /// Keeps an agent that was read after this number of changes.
    pub(crate) fn put(&self, changes: u64, agent: Agent) {
        let mut known = self.0.lock();
        if !known.is_current(changes) || known.agents.len() >= AGENTS {
            known.agents.clear();
            known.changes = changes;
            known.since = Some(Instant::now());
        }
        known.agents.insert(agent.id, agent);
    }
}

impl Known {
    fn is_current(&self, changes: u64) -> bool {
        self.changes == changes && self.since.is_some_and(|since| since.elapsed() < LIFE)
    }
}
