//! Sources: their rows, and changes by callers. Jobs change them too.

mod by_id;
mod complete;
mod content;
mod document_ids;
mod gathered;
mod intake;
mod pairs;
mod row;
mod state;

use async_trait::async_trait;
use cicerone_domain::content::{PublicText, StoredDocument, StoredPassage};
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::job::NewJob;
use cicerone_domain::ports::{SourceFilter, SourceStore};
use cicerone_domain::source::{CrawledPage, QaPair, SourcePatch};
use cicerone_domain::{Error, Id, Page, PageRequest, Scope, Source, Timestamp};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;

pub(crate) use complete::{complete_all, complete_part, incomplete};
pub(crate) use content::{DocumentRow, PassageRow, Placed, TextRow, insert, read_warnings, unseen};
pub(crate) use document_ids::{DocumentIds, DocumentKey};
pub(crate) use gathered::GatheredSources;
pub(crate) use intake::{Intake, clear, clear_all, show, show_all, store_whole};
pub(crate) use pairs::{Grown, changed};
pub(crate) use row::NewSourceRow;
pub(crate) use row::{HeldSourceRow, SourceRow};
pub(crate) use state::StateRow;

use crate::agents::{self, raise_generation};
use crate::bytes;
use crate::connection::{AnyConnection, note_value};
use crate::crawls;
use crate::dialect;
use crate::error::TransactionError;
use crate::jobs;
use crate::managed;
use crate::pages::{Size, created_before, fitting, octet_length};
use crate::removal::{AGENT_IS_THERE, Removed, remove};
use crate::schema::sources;
use crate::scope::Visible;
use crate::storage::Storage;

/// The text of a source's content.
pub(crate) fn content_of(
    c: &mut AnyConnection,
    id: Id<kind::Source>,
) -> Result<String, TransactionError> {
    let content: String =
        sources::table.find(id.to_string()).select(sources::content).get_result(c)?;
    note_value(&content);
    Ok(content)
}

/// Writes a source's state.
pub(crate) fn update_state(c: &mut AnyConnection, source: &Source) -> Result<(), TransactionError> {
    Ok(dialect::update_state(c, &source.id.to_string(), &StateRow::of(source)?)?)
}

/// Writes the states of sources. Those whose columns are the same are written by one statement.
pub(crate) fn update_states<'a>(
    c: &mut AnyConnection,
    changed: impl Iterator<Item = &'a Source>,
) -> Result<(), TransactionError> {
    let mut alike: Vec<(StateRow, Vec<String>)> = Vec::new();
    for source in changed {
        let (row, id) = (StateRow::of(source)?, source.id.to_string());
        match alike.iter_mut().find(|(other, _)| *other == row) {
            Some((_, ids)) => ids.push(id),
            None => alike.push((row, vec![id])),
        }
    }
    for (row, ids) in alike {
        match ids.as_slice() {
            [id] => dialect::update_state(c, id, &row)?,
            ids => {
                let alike = sources::table.filter(sources::id.eq_any(ids));
                diesel::update(alike).set(row).execute(c)?;
            }
        }
    }
    Ok(())
}

/// Writes what an owner can change of a source.
fn update_settings(c: &mut AnyConnection, source: &Source) -> Result<(), TransactionError> {
    let (set, key, hash) = managed::columns(source.managed.as_ref());
    let outcome = diesel::update(sources::table.find(source.id.to_string()))
        .set((
            sources::managed_set.eq(set),
            sources::managed_key.eq(key),
            sources::managed_hash.eq(hash),
            sources::guarded.eq(source.guarded),
        ))
        .execute(c);
    managed::written(outcome, source.managed.as_ref(), "another source")
}

/// The source if its agent is in the scope.
fn seen(
    visible: &Visible,
    id: Id<kind::Source>,
) -> sources::BoxedQuery<'_, <AnyConnection as Connection>::Backend> {
    let query = sources::table
        .filter(sources::id.eq(id.to_string()))
        .filter(sources::account_id.eq(&visible.account))
        .filter(sources::removed_at.is_null())
        .filter(sql::<Bool>(AGENT_IS_THERE))
        .into_boxed();
    match &visible.agents {
        Some(ids) => query.filter(sources::agent_id.eq_any(ids)),
        None => query,
    }
}

/// Returns the source if its agent is in the scope.
pub(crate) fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Source>,
) -> Result<Option<Source>, TransactionError> {
    let row = seen(visible, id).select(SourceRow::as_select()).get_result(c).optional()?;
    row.map(Source::try_from).transpose()
}

/// The same without reading its text.
pub(crate) fn find_unread(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Source>,
) -> Result<Option<Source>, TransactionError> {
    let row = seen(visible, id).select(HeldSourceRow::as_select()).get_result(c).optional()?;
    row.map(Source::try_from).transpose()
}

/// Returns the source. Fails if it is not in the scope.
fn require(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Source>,
) -> Result<Source, TransactionError> {
    find(c, visible, id)?.ok_or_else(|| Error::not_found("source", id).into())
}

/// Returns the source without reading its text, with its agent's row locked: every change of a source locks that first. Fails
/// if it is not in the scope.
fn require_locked(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Source>,
) -> Result<Source, TransactionError> {
    let unknown = || Error::not_found("source", id);
    // Selects only columns that are stored before the text: to reach a later column, SQLite reads all pages of the text.
    let agent: Option<String> = sources::table
        .find(id.to_string())
        .filter(sources::account_id.eq(&visible.account))
        .select(sources::agent_id)
        .get_result(c)
        .optional()?;
    dialect::lock_agent(c, &agent.ok_or_else(unknown)?)?;
    // It may have been changed or deleted while this call waited.
    Ok(find_unread(c, visible, id)?.ok_or_else(unknown)?)
}

/// Adds a source to an agent whose row is locked, and queues the job that processes it.
pub(crate) fn add_new(
    c: &mut AnyConnection,
    quota: Option<u64>,
    source: &Source,
    job: NewJob,
) -> Result<(), TransactionError> {
    let row = NewSourceRow::of(source)?;
    note_value(&row.content);
    let outcome = diesel::insert_into(sources::table).values(row).execute(c);
    managed::written(outcome, source.managed.as_ref(), "another source")?;
    bytes::add_source(c, quota, source)?;
    jobs::queue(c, source, job, source.created_at)
}

#[async_trait]
impl SourceStore for Storage {
    async fn insert_source(
        &self,
        scope: &Scope,
        source: Source,
        job: NewJob,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        self.add_source((Visible::from(scope), source, job), completion).await
    }

    async fn find_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
    ) -> Result<Option<Source>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).lookup(move |c| find(c, &visible, id)).await
    }

    async fn list_sources(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        filter: SourceFilter,
        page: PageRequest,
    ) -> Result<Page<Source>, Error> {
        self.snapshot(scope, move |c, visible| list(c, visible, agent, &filter, &page)).await
    }

    async fn update_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        patch: SourcePatch,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let visible = Visible::from(scope);
        self.db
            .of(scope.account)
            .write_completing(completion, move |c| {
                let before = require_locked(c, &visible, id)?;
                let mut source = before.clone();
                source.apply(patch.clone())?;
                // Each statement writes the whole row, with its text.
                if source != before {
                    update_settings(c, &source)?;
                }
                Ok(source)
            })
            .await
    }

    async fn refresh_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        job: NewJob,
        now: Timestamp,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let visible = Visible::from(scope);
        let quota = self.account_bytes;
        self.db
            .of(scope.account)
            .write_completing(completion, move |c| {
                let source = require_locked(c, &visible, id)?.refresh()?;
                bytes::check(c, quota, source.account_id, 0)?;
                update_state(c, &source)?;
                jobs::queue(c, &source, job, now)?;
                Ok(source)
            })
            .await
    }

    async fn add_pairs(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        pairs: Vec<QaPair>,
        job: NewJob,
        now: Timestamp,
        completion: Option<Completion<Source>>,
    ) -> Result<Source, Error> {
        let visible = Visible::from(scope);
        let (db, quota) = (self.db.of(scope.account), self.account_bytes);
        let within = visible.clone();
        let join = move |c: &mut AnyConnection| Grown::of(require(c, &within, id)?, &pairs);
        let grown = db.read(join).await?;
        db.write_completing(completion, move |c| {
            let source = require_locked(c, &visible, id)?;
            grown.store(c, source, job, quota, now)
        })
        .await
    }

    async fn delete_source(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<Source, Error> {
        let visible = Visible::from(scope);
        let db = self.db.of(scope.account);
        remove(&db, Removed::Source(id.to_string()), now, completion, move |c| {
            let found = require_locked(c, &visible, id)?;
            if found.answers() {
                raise_generation(c, &found.agent_id.to_string())?;
            }
            Ok(found)
        })
        .await
    }

    async fn find_document(
        &self,
        scope: &Scope,
        id: Id<kind::Document>,
    ) -> Result<Option<StoredDocument>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).read(move |c| by_id::find(c, &visible, id)).await
    }

    async fn find_public_text(&self, id: Id<kind::Document>) -> Result<Option<PublicText>, Error> {
        self.db.read(move |c| by_id::find_public(c, id)).await
    }

    async fn list_documents(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        page: PageRequest,
    ) -> Result<Page<StoredDocument>, Error> {
        self.snapshot(scope, move |c, visible| {
            let source = require(c, visible, id)?;
            content::documents(c, &source, &page)
        })
        .await
    }

    async fn list_passages(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        document: Option<Id<kind::Document>>,
        page: PageRequest,
    ) -> Result<Page<StoredPassage>, Error> {
        self.snapshot(scope, move |c, visible| {
            require(c, visible, id)?;
            content::passages(c, id, document, &page)
        })
        .await
    }

    async fn list_pages(
        &self,
        scope: &Scope,
        id: Id<kind::Source>,
        page: PageRequest,
    ) -> Result<Page<CrawledPage>, Error> {
        self.snapshot(scope, move |c, visible| {
            require(c, visible, id)?.check_has_pages()?;
            crawls::pages(c, id, &page)
        })
        .await
    }
}

fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    filter: &SourceFilter,
    page: &PageRequest,
) -> Result<Page<Source>, TransactionError> {
    agents::require(c, visible, agent)?;
    let agent = agent.to_string();
    let begin = created_before(page)?;
    let query = || {
        let mut query = sources::table
            .filter(sources::account_id.eq(&visible.account))
            .filter(sources::agent_id.eq(&agent))
            .filter(sources::removed_at.is_null())
            .order((sources::created_at.desc(), sources::id.desc()))
            .into_boxed();
        if let Some(status) = filter.status {
            query = query.filter(sources::status.eq(status.name()));
        }
        if let Some(source_type) = filter.source_type {
            query = query.filter(sources::source_type.eq(source_type.name()));
        }
        if let Some(set) = &filter.set {
            query = query.filter(sources::managed_set.eq(set.as_str()));
        }
        if let Some((at, id)) = begin {
            query = query
                .filter(sources::created_at.le(at))
                .filter(sources::created_at.lt(at).or(sources::id.lt(id)));
        }
        query
    };
    let sizes: Vec<Size> = query()
        .limit(page.lookahead())
        .select(octet_length(sources::content.nullable()))
        .load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(|size| [size]).collect();
    let fit = fitting(page, &sizes);
    let rows = query().limit(fit.count).select(SourceRow::as_select()).load(c)?;
    let items: Result<Vec<Source>, _> = rows.into_iter().map(Source::try_from).collect();
    Ok(Page::of(items?, fit.more))
}
