//! Stores when keys were last used and which authentications failed, in the background.

use std::time::Duration;

use cicerone_domain::services::{Audit, Keys};
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_secs(5);

/// Stores the uses and failures of keys until `stop`, and then once more.
pub(super) async fn run(keys: Keys, audit: Audit, stop: CancellationToken) {
    loop {
        let is_over = stop.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_none();
        if let Err(error) = keys.store_uses().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the times at which keys were last used could not be stored"
            );
        }
        if let Err(error) = audit.store_failures().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "failed authentications could not be recorded"
            );
        }
        if is_over {
            return;
        }
    }
}
