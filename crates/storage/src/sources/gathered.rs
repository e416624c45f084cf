//! New sources that are stored together on PostgreSQL: those of one agent wait for each other at its row, which they lock.

use cicerone_domain::id::kind;
use std::time::Duration;

use cicerone_domain::idempotency::Completion;
use cicerone_domain::job::NewJob;
use cicerone_domain::source::unknown_file;
use cicerone_domain::{Error, Id, Source, SourceContent};

use super::add_new;
use super::row::NewSourceRow;
use crate::connection::{AnyConnection, note_value};
use crate::db::{Db, Gather, Gathered};
use crate::error::TransactionError;
use crate::scope::Visible;
use crate::storage::Storage;
use crate::{agents, bytes, dialect, jobs, managed, uploads};

/// The sources that wait, by the account that adds them and the agent that it names. A stranger who names the agent of
/// another account queues separately from its owner.
pub(crate) type GatheredSources = Gathered<(Id<kind::Account>, Id<kind::Agent>), NewSource>;

/// A source with the job that processes it.
pub(crate) struct NewSource {
    visible: Visible,
    /// The quota of accounts without their own one.
    quota: Option<u64>,
    source: Source,
    job: NewJob,
}

impl Gather for NewSource {
    type Stored = ();

    /// The one before it may wait for the agent's row, for example until a large source is trained. Alone, it would wait
    /// for that itself.
    fn patience(db: &Db) -> Duration {
        db.patience() + db.patience_with_locks()
    }

    fn bytes(&self) -> usize {
        self.source.content.bytes()
    }

    fn store(&self, c: &mut AnyConnection) -> Result<(), TransactionError> {
        let Self { visible, quota, source, job } = self;
        agents::require_locked(c, visible, source.agent_id)?;
        if let SourceContent::File(upload) = &source.content
            && !uploads::hold(c, visible, *upload)?
        {
            return Err(unknown_file().into());
        }
        add_new(c, *quota, source, *job)
    }

    fn store_all(
        c: &mut AnyConnection,
        all: &[Self],
    ) -> Result<Vec<Result<(), Error>>, TransactionError> {
        let Some(Self { quota, source, .. }) = all.first() else { return Ok(Vec::new()) };
        let (account, agent) = (source.account_id, source.agent_id);
        dialect::lock_agent(c, &agent.to_string())?;
        // Most were added with one key.
        let scopes = all.chunk_by(|one, next| one.visible.scope == next.visible.scope);
        for Self { visible, .. } in scopes.filter_map(<[Self]>::first) {
            agents::require(c, visible, agent)?;
        }
        let rows = all.iter().map(|one| NewSourceRow::of(&one.source));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        rows.iter().for_each(|row| note_value(&row.content));
        let managed = all.iter().find_map(|one| one.source.managed.as_ref());
        managed::written(dialect::insert_sources(c, &rows), managed, "another source")?;
        let rows: Vec<_> = all
            .iter()
            .map(|Self { source, job, .. }| jobs::row(source, *job, source.created_at))
            .collect();
        dialect::insert_jobs(c, &rows)?;
        bytes::add_sources(c, *quota, account, all.iter().map(|one| &one.source))?;
        Ok(all.iter().map(|_| Ok(())).collect())
    }
}

impl Storage {
    /// Adds a source, and queues the job that processes it.
    pub(super) async fn add_source(
        &self,
        new: (Visible, Source, NewJob),
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let (visible, source, job) = new;
        let place = (visible.scope.account, source.agent_id);
        let db = self.db.of(visible.scope.account);
        // A file's row is locked before that of the account.
        let is_file = matches!(source.content, SourceContent::File(_));
        let new = NewSource { visible, quota: self.account_bytes, source, job };
        if completion.is_none() && self.db.commits_apart() && !is_file {
            let stored = self.gathered_sources.store(db, place, new).await;
            return stored.map(|(new, ())| new.source);
        }
        let add = move |c: &mut AnyConnection| {
            new.store(c)?;
            Ok(new.source.clone())
        };
        db.write_completing(completion, add).await
    }
}
