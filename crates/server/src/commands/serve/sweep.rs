//! Removing the indexes of agents that no longer exist: deleted by another server, or just before a
//! crash.

use cicerone_domain::agent::AgentFilter;
use cicerone_domain::services::{Agents, Keys};
use cicerone_domain::{Error, Id, PageRequest, Scope, kind};
use cicerone_retrieval::Index;

/// Agents read at once.
const PAGE_SIZE: u32 = 100;

/// Checks this machine's indexes once. A failure only leaves files behind until the next start.
pub(super) async fn run(index: Index, keys: Keys, agents: Agents) {
    let swept = async {
        let live = live(&keys, &agents).await?;
        index.sweep(&live).await
    };
    match swept.await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "removed the indexes of deleted agents"),
        Err(error) => tracing::warn!(
            error = &error as &dyn std::error::Error,
            "indexes of deleted agents may be left on disk"
        ),
    }
}

/// Every agent of every account. An agent that is created during the call may be missing: its index
/// is then rebuilt from the database.
async fn live(keys: &Keys, agents: &Agents) -> Result<Vec<Id<kind::Agent>>, Error> {
    let mut live = Vec::new();
    for account in keys.accounts().await? {
        let scope = Scope::account(account.id);
        let mut after = None;
        loop {
            let request = PageRequest { size: PAGE_SIZE, after };
            let page = agents.list(&scope, AgentFilter::default(), request).await?;
            live.extend(page.items.iter().map(|agent| agent.id));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    Ok(live)
}
