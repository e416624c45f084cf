//! Agents that were read a moment ago.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cicerone_domain::id::kind;
use cicerone_domain::{Agent, Id};
use parking_lot::Mutex;

/// How long an agent is known: the time in which replies may miss what another process has written.
const LIFE: Duration = Duration::from_secs(5);
/// The memory that they may take, in bytes.
const BYTES: usize = 4 * 1_024 * 1_024;
/// What the table takes for each of them.
const OVERHEAD: usize = 32;

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
    /// The memory that they take.
    bytes: usize,
}

impl KnownAgents {
    /// The agent, if it was read since the last of this number of changes.
    pub(crate) fn get(&self, changes: u64, id: Id<kind::Agent>) -> Option<Agent> {
        let known = self.0.lock();
        known.is_current(changes).then(|| known.agents.get(&id).cloned()).flatten()
    }

    /// Keeps an agent that was read after this number of changes.
    pub(crate) fn put(&self, changes: u64, agent: Agent) {
        let bytes = bytes(&agent);
        let mut known = self.0.lock();
        if !known.is_current(changes) || known.bytes + bytes > BYTES {
            let old = std::mem::take(&mut known.agents);
            *known = Known { changes, since: Some(Instant::now()), ..Known::default() };
            // Freeing thousands of them takes a moment, in which others may read.
            drop(known);
            drop(old);
            known = self.0.lock();
        }
        if known.is_current(changes) && known.agents.insert(agent.id, agent).is_none() {
            known.bytes += bytes;
        }
    }
}

impl Known {
    fn is_current(&self, changes: u64) -> bool {
        self.changes == changes && self.since.is_some_and(|since| since.elapsed() < LIFE)
    }
}

/// The memory that an agent takes, in bytes.
fn bytes(agent: &Agent) -> usize {
    let profile = &agent.profile;
    let texts = [profile.name.as_str(), profile.model.as_str(), profile.system_prompt.as_str()];
    OVERHEAD + size_of::<Agent>() + texts.iter().map(|text| text.len()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use cicerone_domain::agent::{AgentDraft, AgentProfile, AgentStatus};
    use cicerone_domain::{Agent, Timestamp};

    use super::{BYTES, KnownAgents};

    fn agent(number: usize, prompt: &str) -> Agent {
        let draft = AgentDraft {
            name: "Guide".to_owned(),
            system_prompt: Some(prompt.to_owned()),
            ..AgentDraft::default()
        };
        Agent {
            id: format!("agent_{number:010}").parse().unwrap(),
            account_id: "acct_0000000001".parse().unwrap(),
            profile: AgentProfile::parse(draft, |_| true).unwrap(),
            status: AgentStatus::Active,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
            index_generation: 1,
        }
    }

    #[test]
    fn an_agent_is_known_until_the_next_change() {
        let known = KnownAgents::default();
        let one = agent(1, "Be brief.");
        known.put(7, one.clone());
        assert_eq!(known.get(7, one.id), Some(one.clone()));
        assert_eq!(known.get(8, one.id), None);
        known.put(8, agent(2, ""));
        assert_eq!((known.get(8, one.id), known.get(7, one.id)), (None, None));
    }

    #[test]
    fn many_agents_take_no_more_memory_than_they_may() {
        let known = KnownAgents::default();
        let prompt = "x".repeat(4_000);
        for number in 0..3_000 {
            let agent = agent(number, &prompt);
            known.put(1, agent.clone());
            known.put(1, agent.clone());
            assert_eq!(known.get(1, agent.id), Some(agent));
        }
        let known = known.0.into_inner();
        assert!(known.bytes <= BYTES && known.agents.len() < 1_048, "{}", known.agents.len());
        assert_eq!(known.bytes, known.agents.values().map(super::bytes).sum::<usize>());
        let small = KnownAgents::default();
        (0..8_000).for_each(|number| small.put(1, agent(number, "")));
        assert_eq!(small.0.into_inner().agents.len(), 8_000);
    }
}
