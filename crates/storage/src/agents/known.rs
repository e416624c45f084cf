//! Agents that were read a moment ago.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::id::kind;
use cicerone_domain::{Agent, Id};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// How long a cached agent is used. Changes by other processes may be missed for so long.
const LIFE: Duration = Duration::from_secs(60);
/// The memory that they may take, in bytes: some 16,000 agents with a short prompt.
const BYTES: u64 = 8 * 1_024 * 1_024;
/// The expected number of entries, which only sizes the bookkeeping.
const ENTRIES: usize = 16_384;
/// What the table takes for each of them.
const OVERHEAD: usize = 64;

/// Agents as they are in a SQLite file.
///
/// Between two changes of anything except conversations, which only the single writer of this process makes, an agent
/// is read once for all replies. As without this cache, everything that begins after a change by this process was
/// acknowledged sees the change.
pub(crate) struct KnownAgents(Cache<Id<kind::Agent>, Known, Weight>);

/// An agent as it was after a number of changes.
#[derive(Clone)]
struct Known {
    changes: u64,
    read_at: Instant,
    agent: Arc<Agent>,
}

impl Default for KnownAgents {
    fn default() -> Self {
        Self(Cache::with_weighter(ENTRIES, BYTES, Weight))
    }
}

impl KnownAgents {
    /// The agent, if this process has made no change since it was read.
    pub(crate) fn get(&self, changes: u64, id: Id<kind::Agent>) -> Option<Agent> {
        let known = self.0.get(&id)?;
        let is_current = known.changes == changes && known.read_at.elapsed() < LIFE;
        is_current.then(|| Agent::clone(&known.agent))
    }

    /// Keeps an agent that was read after this number of changes.
    pub(crate) fn put(&self, changes: u64, agent: Agent) {
        let known = Known { changes, read_at: Instant::now(), agent: Arc::new(agent) };
        self.0.insert(known.agent.id, known);
    }
}

/// The size of an entry in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<Id<kind::Agent>, Known> for Weight {
    fn weight(&self, _: &Id<kind::Agent>, known: &Known) -> u64 {
        bytes(&known.agent) as u64
    }
}

/// The memory that an agent takes, in bytes.
fn bytes(agent: &Agent) -> usize {
    let profile = &agent.profile;
    let texts = [profile.name.as_str(), profile.model.as_str(), profile.system_prompt.as_str()];
    let managed = profile.managed.as_ref();
    let managed = managed.map(|it| [it.set.as_str(), it.key.as_str(), it.hash.as_str()]);
    OVERHEAD
        + size_of::<Known>()
        + size_of::<Agent>()
        + texts.iter().chain(managed.iter().flatten()).map(|text| text.len()).sum::<usize>()
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
        known.put(8, one.clone());
        assert_eq!(known.get(8, one.id), Some(one));
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
        assert!(known.0.weight() <= BYTES && known.0.len() < 2_000, "{}", known.0.len());
        let small = KnownAgents::default();
        (0..12_000).for_each(|number| small.put(1, agent(number, "")));
        let kept = (0..12_000).filter(|&number| small.get(1, agent(number, "").id).is_some());
        assert!(kept.count() > 11_900);
    }
}
