//! Adding pairs to a source.
//!
//! They are joined with those of the source, which may have 8 MiB, on a connection that reads: changes of all accounts wait
//! for each other on SQLite.

use cicerone_domain::id::kind;
use cicerone_domain::job::NewJob;
use cicerone_domain::source::{PairsText, QaPair};
use cicerone_domain::{Error, Id, Source, SourceContent, Timestamp};
use diesel::prelude::*;

use super::StateRow;
use crate::bytes;
use crate::columns::wide;
use crate::connection::{AnyConnection, note_value};
use crate::error::TransactionError;
use crate::jobs;
use crate::schema::sources;

/// The pairs of a source with others at their end, which are not stored yet.
#[derive(Debug, Clone)]
pub(crate) struct Grown {
    pub(crate) id: Id<kind::Source>,
    /// The bytes of the pairs before.
    before: usize,
    content: PairsText,
}

impl Grown {
    /// The pairs of a source that was read, with others. Fails as [`Source::add_pairs`] does.
    pub(crate) fn of(source: Source, pairs: &[QaPair]) -> Result<Self, TransactionError> {
        let (id, before) = (source.id, source.content.bytes());
        match source.add_pairs(pairs)?.content {
            SourceContent::Qa(content) => Ok(Self { id, before, content }),
            _ => Err(TransactionError::internal("pairs were added to a source without pairs")),
        }
    }

    /// Stores the pairs of `source`, which need not be read, if nothing was added to them since they were joined, and queues
    /// the job that processes it. The row of its agent is locked. `quota` applies to accounts without their own quota.
    pub(crate) fn store(
        &self,
        c: &mut AnyConnection,
        source: Source,
        job: NewJob,
        quota: Option<u64>,
        now: Timestamp,
    ) -> Result<Source, TransactionError> {
        let is_as_before = source.content.bytes() == self.before;
        let source = source.grow(self.content.clone())?;
        if !is_as_before {
            return Err(changed().into());
        }
        note_value(self.content.as_str());
        let more = wide(source.content.bytes().saturating_sub(self.before));
        // One statement: each writes the whole row.
        diesel::update(sources::table.find(source.id.to_string()))
            .set((
                sources::content.eq(self.content.as_str()),
                sources::stored_bytes.eq(sources::stored_bytes + more),
                StateRow::of(&source)?,
            ))
            .execute(c)?;
        bytes::change_within(c, quota, source.account_id, more)?;
        jobs::queue(c, &source, job, now)?;
        Ok(source)
    }
}

/// The refusal of an addition to what another request has just changed.
pub(crate) fn changed() -> Error {
    Error::Busy("the source was changed by another request; try again".to_owned())
}
