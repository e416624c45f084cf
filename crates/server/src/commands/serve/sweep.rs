//! Keeps the files of indexes on this machine free of what was deleted: by another server on the same database, or just
//! before a crash.

use std::collections::HashMap;
use std::time::Duration;

use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Error, Id, kind};
use cicerone_retrieval::Index;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the files are compared with the rows: what is deleted is in none of them after twice this time.
const INTERVAL: Duration = Duration::from_secs(25);
/// After the files of an agent were changed, the next ones wait for as long as that took, but not longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Brings the files of all agents on this machine up to date, one agent after the other.
#[derive(Clone)]
pub(super) struct Sweep {
    index: Index,
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
    pub(super) fn new(index: Index) -> Self {
        Self { index }
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
        let behind = self.index.behind().await?;
        for agent in behind.gone {
            let began = Instant::now();
            let outcome = self.index.remove(agent).await.map(|()| true);
            count(agent, began, outcome, &mut swept.removed, &mut swept.failed).await;
        }
        for agent in in_turns(behind.changed) {
            let began = Instant::now();
            let outcome = self.index.renew(agent).await;
            count(agent.id, began, outcome, &mut swept.renewed, &mut swept.failed).await;
        }
        Ok(swept)
    }
}

/// Counts an agent whose files were changed, which began at `began`, and makes the next one wait.
async fn count(
    agent: Id<kind::Agent>,
    began: Instant,
    outcome: Result<bool, Error>,
    changed: &mut usize,
    failed: &mut usize,
) {
    match outcome {
        Ok(false) => return,
        Ok(true) => *changed += 1,
        Err(error) => {
            *failed += 1;
            tracing::warn!(agent_id = %agent, error = &error as &dyn std::error::Error,
                "deleted text may be in the index files of an agent; the next round will try again");
        }
    }
    tokio::time::sleep(began.elapsed().min(LONGEST_PAUSE)).await;
}

/// Puts agents in an order in which accounts take turns: one with many changed agents must not keep deleted text of
/// others in files.
fn in_turns(agents: Vec<AgentVersion>) -> Vec<AgentVersion> {
    let mut turns: HashMap<_, usize> = HashMap::new();
    let mut numbered: Vec<_> = agents
        .into_iter()
        .map(|agent| {
            let turn = turns.entry(agent.account_id).or_default();
            *turn += 1;
            (*turn, agent)
        })
        .collect();
    numbered.sort_by_key(|(turn, _)| *turn);
    numbered.into_iter().map(|(_, agent)| agent).collect()
}

#[cfg(test)]
mod tests {
    use cicerone_domain::retrieval::AgentVersion;
    use cicerone_domain::{Id, SystemEntropy};

    use super::in_turns;

    #[test]
    fn an_account_with_many_agents_leaves_turns_to_others() {
        let [many, few] = [Id::random(&SystemEntropy), Id::random(&SystemEntropy)];
        let agent =
            |account_id| AgentVersion { id: Id::random(&SystemEntropy), account_id, generation: 1 };
        let mut agents: Vec<_> = (0..500).map(|_| agent(many)).collect();
        agents.extend([agent(few), agent(few)]);
        let ordered = in_turns(agents.clone());
        let accounts: Vec<_> = ordered.iter().map(|agent| agent.account_id).collect();
        assert_eq!(accounts[..5], [many, few, many, few, many]);
        assert_eq!(ordered.len(), agents.len());
        assert!(agents.iter().all(|agent| ordered.contains(agent)));
    }
}
