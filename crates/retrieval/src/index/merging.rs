//! Merges the segments of an index once its content has not changed for a while.
//!
//! Each change of the content adds a segment, and only some are merged at once, so that learning is fast. A search looks
//! its words up in each segment: with five of them, a reply to a new question takes a fifth more instructions than with
//! one.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::fairness::Urgency;
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::{Id, kind};
use parking_lot::Mutex;
use tokio::time::sleep;

use super::Shared;
use super::synchronisation::{SyncError, enter};
use crate::search::Snapshot;
use crate::store::{Store, Writer};

/// How long the content must be unchanged before segments are merged.
const QUIET: Duration = Duration::from_secs(5);

/// The agents whose indexes wait to be merged.
#[derive(Debug, Clone, Default)]
pub(super) struct Merging(Arc<Mutex<HashSet<Id<kind::Agent>>>>);

/// An agent's entry in [`Merging`], until it is dropped.
struct MergeInProgress {
    all: Merging,
    agent: Id<kind::Agent>,
}

impl MergeInProgress {
    /// `None` if there is one already.
    fn new(all: &Merging, agent: Id<kind::Agent>) -> Option<Self> {
        let is_new = all.0.lock().insert(agent);
        is_new.then(|| Self { all: all.clone(), agent })
    }
}

impl Drop for MergeInProgress {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.agent);
    }
}

/// Starts a task that merges the segments of `snapshot` once the content is unchanged, if there are any to merge and no task
/// waits for this agent yet.
pub(super) fn begin(shared: &Arc<Shared>, agent: AgentVersion, snapshot: &Snapshot) {
    if !snapshot.is_scattered() {
        return;
    }
    let Some(entry) = MergeInProgress::new(&shared.merging, agent.id) else { return };
    // The waiting task does not keep alive the indexes of a server that stops.
    let shared = Arc::downgrade(shared);
    let mut agent = AgentVersion { generation: snapshot.generation(), ..agent };
    tokio::spawn(async move {
        let _entry = entry;
        let shared = loop {
            sleep(QUIET).await;
            let Some(shared) = shared.upgrade() else { return };
            // An index that was closed since is merged after it is opened again.
            let Some(open) = shared.usable(agent.id) else { return };
            if open.generation() == agent.generation {
                break shared;
            }
            agent.generation = open.generation();
        };
        if let Err(error) = merge(&shared, agent).await {
            // It can be searched as it is. If it is damaged, the next search or change notices.
            tracing::warn!(agent = %agent.id, error = &error as &dyn std::error::Error,
                "the segments of an index cannot be merged");
        }
    });
}

async fn merge(shared: &Shared, agent: AgentVersion) -> Result<(), SyncError> {
    let (_place, _turn) = enter(shared, agent, Urgency::Learning).await;
    // It may have changed, or may have been closed, while this waited for its turn.
    if shared.current(agent).is_none_or(|snapshot| !snapshot.is_scattered()) {
        return Ok(());
    }
    let folder = shared.folders.of(agent.id);
    let recent = shared.recent.clone();
    let snapshot = tokio::task::spawn_blocking(move || {
        // This verifies the checksums. Otherwise damage would be copied and get a checksum of its own.
        let store = Store::open(&folder)?;
        let has_changed = Writer::open(&store)?.merge_segments()?;
        if !has_changed {
            return Ok::<_, SyncError>(None);
        }
        Ok(Some(Snapshot::new(&store, &recent)?))
    })
    .await??;
    if let Some(snapshot) = snapshot
        && snapshot.generation() == agent.generation
    {
        shared.open.insert(agent, Arc::new(snapshot));
    }
    Ok(())
}
