//! Changes by a thread that has its turn at PostgreSQL.

use std::sync::Arc;

use cicerone_domain::Error;
use r2d2::Pool;

use super::kept::{Work, valued};
use super::post::Post;
use super::writes::Writes;
use super::{guarded, pooled, timed};
use crate::connection::{AnyConnection, Manager};
use crate::dialect::{Begin, transaction};
use crate::error::TransactionError;
use crate::storage::Limits;

/// The way to PostgreSQL for a thread.
pub(crate) struct Changes<'t> {
    pub(super) post: &'t Post,
    pub(super) pool: Pool<Manager>,
    pub(super) limits: Limits,
    pub(super) writes: Arc<Writes>,
}

impl Changes<'_> {
    /// Changes something in one transaction, which is committed when this returns. An error of `work` rolls it
    /// back; `work` may run again after a deadlock or on a lost connection. Blocks.
    pub(crate) fn write<T>(
        &self,
        work: impl FnMut(&mut AnyConnection) -> Result<T, TransactionError>,
    ) -> Result<T, Error> {
        valued(work, |work| {
            let outcome = self.run(work);
            self.writes.note(&outcome);
            outcome
        })
    }

    /// Whether the database did not answer and the thread was given up. Its result is discarded.
    pub(crate) fn are_given_up(&self) -> bool {
        self.post.is_given_up()
    }

    /// Like [`Self::write`], without noting whether writes work.
    pub(super) fn run(&self, work: Work<'_>) -> Result<(), Error> {
        let limits = self.limits;
        pooled(&self.pool, self.post, ("write", limits.write), &mut |c| {
            // A change that waits for a row has the time limit of a read.
            timed("write", limits.read, || {
                transaction(c, Begin::BoundedWrite(limits), |c| guarded(c, work))
            })
        })
    }
}
