//! Tracks sources in progress across kills, and since when they are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::ensure;
use cicerone_tests::client::Client;

use super::LONGEST_WAIT;
use super::model::Model;
use super::verify::ON_THEIR_WAY;

/// A source that is in progress for this long waits for its second lease to expire. A third kill
/// during its work would rightly make it fail, so there is none before it has ended.
const TWO_KILLS: Duration = Duration::from_secs(40);

/// The time at which each source in progress was first seen.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    since: BTreeMap<String, Instant>,
    longest: Duration,
}

impl Waiting {
    /// Checks the sources of all writers, and waits for those that were affected by two kills.
    /// Returns an error if one is in progress for too long.
    pub(super) async fn look(&mut self, client: &Client, models: &[Model]) -> anyhow::Result<()> {
        loop {
            self.note(client, models).await;
            let times = self.since.values().map(Instant::elapsed);
            let oldest = times.max().unwrap_or_default();
            self.longest = self.longest.max(oldest);
            ensure!(oldest < LONGEST_WAIT, "a source is in progress for {oldest:?}");
            if oldest < TWO_KILLS {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The longest time for which any source was seen in progress.
    pub(super) const fn longest(&self) -> Duration {
        self.longest
    }

    async fn note(&mut self, client: &Client, models: &[Model]) {
        let mut now = BTreeSet::new();
        for model in models {
            now.extend(model.sources_in(client, &ON_THEIR_WAY).await);
        }
        self.since.retain(|id, _| now.contains(id));
        for id in now {
            self.since.entry(id).or_insert_with(Instant::now);
        }
    }
}
