//! Storing when keys were last used, beside the requests that use them.

use std::time::Duration;

use cicerone_domain::services::Keys;
use tokio_util::sync::CancellationToken;

/// How often.
const EVERY: Duration = Duration::from_secs(5);

/// Stores the uses of keys until `stop`, and then once more.
pub(super) async fn run(keys: Keys, stop: CancellationToken) {
    loop {
        let is_over = stop.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_none();
        if let Err(error) = keys.store_uses().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "when keys were last used could not be stored"
            );
        }
        if is_over {
            return;
        }
    }
}
