//! How often work at a pool's connections is repeated, and which connections the pool replaces.

use std::time::Duration;

use cicerone_domain::Error;

use crate::connection::Pooled;
use crate::error::TransactionError;

/// How often work is repeated after a deadlock, or an error without a name.
const REPEATS: u32 = 4;
/// A connection whose server refuses to write is replaced once it is this old. It may be one to a server that was, or
/// has become, a standby, while new connections reach one that writes. If all of them only read, each place of the pool
/// connects no more often than this.
const STALE: Duration = Duration::from_secs(1);

/// How often work may still be repeated.
pub(super) struct Patience {
    /// On lost connections: when a server restarts, all of the pool's connections are lost at once.
    lost: u32,
    /// After deadlocks and errors without a name.
    repeats: u32,
}

impl Patience {
    /// For work on a pool of this size.
    pub(super) const fn new(connections: u32) -> Self {
        Self { lost: connections, repeats: REPEATS }
    }

    /// Returns `failure` if the work is not to be repeated.
    pub(super) fn try_again(
        &mut self,
        pooled: &mut Pooled,
        failure: TransactionError,
    ) -> Result<(), Error> {
        let is_stale = failure.is_refusal_to_write() && pooled.since.elapsed() >= STALE;
        pooled.is_lost = is_stale || failure.is_lost_connection();
        let left = if pooled.is_lost { &mut self.lost } else { &mut self.repeats };
        if !(is_stale || failure.is_repeatable()) || *left == 0 {
            return Err(failure.into());
        }
        *left -= 1;
        Ok(())
    }
}
