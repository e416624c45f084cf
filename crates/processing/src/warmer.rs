//! Brings indexes up to date in advance, so that the first question after a change does not wait for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::PassageIndex;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Id, kind};
use parking_lot::Mutex;
use tokio::time::Instant;

/// After a change of an index, the next one in advance waits for this many times as long as that took…
const PAUSE_FACTOR: u32 = 3;
/// …but not longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Brings indexes up to date in advance: one change of an agent's index at a time, and at most a quarter of the time.
///
/// If many sources of an agent are trained one after the other, a change for each of them would commit
/// the index as many times, and read the list of the agent's sources each time. Clones share one warmer.
#[derive(Clone)]
pub(crate) struct Warmer {
    index: Arc<dyn PassageIndex>,
    /// The agents whose indexes are being changed, with the version requested in the meantime.
    agents: Arc<Mutex<HashMap<Id<kind::Agent>, Option<AgentVersion>>>>,
}

impl Warmer {
    pub(crate) fn new(index: Arc<dyn PassageIndex>) -> Self {
        Self { index, agents: Arc::default() }
    }

    /// Has the index of an agent brought to this version: at once if it is not being changed, otherwise together with
    /// all versions requested in the meantime. A failure is logged; the next question tries again.
    pub(crate) fn warm(&self, version: AgentVersion) {
        let mut agents = self.agents.lock();
        if let Some(next) = agents.get_mut(&version.id) {
            *next = Some(version);
            return;
        }
        agents.insert(version.id, None);
        drop(agents);
        tokio::spawn(self.clone().keep_warm(version));
    }

    /// Brings an index to `version`, and then to each version requested in the meantime.
    async fn keep_warm(self, mut version: AgentVersion) {
        let _entry = Entry { agents: &self.agents, agent: version.id };
        loop {
            let began = Instant::now();
            if let Err(error) = self.index.synchronise(version).await {
                tracing::warn!(agent_id = %version.id, error = &error as &dyn std::error::Error,
                    "the index could not be updated; the next question will try again");
            }
            let pause = began.elapsed().saturating_mul(PAUSE_FACTOR).min(LONGEST_PAUSE);
            tokio::time::sleep(pause).await;
            match self.next(version.id) {
                Some(next) => version = next,
                None => return,
            }
        }
    }

    /// The version of an agent that has been requested; forgets the agent if there is none.
    fn next(&self, agent: Id<kind::Agent>) -> Option<AgentVersion> {
        let mut agents = self.agents.lock();
        let next = agents.get_mut(&agent).and_then(Option::take);
        if next.is_none() {
            agents.remove(&agent);
        }
        next
    }
}

/// The entry of an agent whose index is being changed. It is removed even if the change panics, so that the next change
/// begins again.
struct Entry<'a> {
    agents: &'a Mutex<HashMap<Id<kind::Agent>, Option<AgentVersion>>>,
    agent: Id<kind::Agent>,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.agents.lock().remove(&self.agent);
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use cicerone_domain::Error;
    use cicerone_domain::retrieval::{Found, Query};

    use super::*;

    /// An index whose changes take a second and are counted.
    #[derive(Default)]
    struct Slow(Mutex<Vec<AgentVersion>>);

    #[async_trait]
    impl PassageIndex for Slow {
        async fn search(&self, _: AgentVersion, _: &Query, _: usize) -> Result<Found, Error> {
            Ok(Found::default())
        }

        async fn synchronise(&self, agent: AgentVersion) -> Result<(), Error> {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.0.lock().push(agent);
            assert_ne!(agent.generation, 6, "a fault");
            if agent.generation == 7 { Err(Error::unavailable("out of reach")) } else { Ok(()) }
        }

        async fn remove(&self, _: Id<kind::Agent>) -> Result<(), Error> {
            Ok(())
        }
    }

    fn version(agent: &str, generation: u64) -> AgentVersion {
        AgentVersion {
            id: agent.parse().unwrap(),
            account_id: "acct_aaaaaaaaaa".parse().unwrap(),
            generation,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_asked_for_meanwhile_is_one_change_of_each_agent() {
        let (one, other) = ("agent_aaaaaaaaaa", "agent_bbbbbbbbbb");
        let index = Arc::new(Slow::default());
        let warmer = Warmer::new(Arc::clone(&index) as Arc<dyn PassageIndex>);
        for generation in 1..=1_000 {
            warmer.warm(version(one, generation));
        }
        warmer.warm(version(other, 1));
        tokio::time::sleep(Duration::from_secs(60)).await;
        let changes = index.0.lock().clone();
        assert_eq!(changes, [version(one, 1), version(other, 1), version(one, 1_000)]);
        assert!(warmer.agents.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn neither_a_failure_nor_a_panic_ends_the_warming_of_an_agent() {
        let agent = "agent_aaaaaaaaaa";
        let index = Arc::new(Slow::default());
        let warmer = Warmer::new(Arc::clone(&index) as Arc<dyn PassageIndex>);
        warmer.warm(version(agent, 6));
        tokio::time::sleep(Duration::from_secs(60)).await;
        warmer.warm(version(agent, 7));
        warmer.warm(version(agent, 8));
        tokio::time::sleep(Duration::from_secs(60)).await;
        warmer.warm(version(agent, 9));
        tokio::time::sleep(Duration::from_secs(60)).await;
        let generations: Vec<u64> = index.0.lock().iter().map(|agent| agent.generation).collect();
        assert_eq!(generations, [6, 7, 8, 9]);
    }
}
