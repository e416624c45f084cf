//! The audit log.

use async_trait::async_trait;
use cicerone_domain::access::KeyName;
use cicerone_domain::audit::{Actor, AuditAction, AuditFilter, AuditRecord, Origin};
use cicerone_domain::id::kind;
use cicerone_domain::ports::AuditStore;
use cicerone_domain::{Error, Id, Page, PageRequest, Timestamp};
use diesel::prelude::*;

use crate::columns::{id, named, narrow, time};
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::pages::created_before;
use crate::schema::audit_log;
use crate::storage::Storage;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = audit_log, treat_none_as_default_value = false)]
struct RecordRow {
    id: String,
    account_id: String,
    actor: String,
    key_id: Option<String>,
    key_name: Option<String>,
    action: String,
    target_id: Option<String>,
    address: Option<String>,
    request_id: Option<String>,
    occurrences: i64,
    created_at: i64,
}

impl From<&AuditRecord> for RecordRow {
    fn from(record: &AuditRecord) -> Self {
        let (key_id, key_name) = match &record.actor {
            Actor::ApiKey { id, name } => (Some(id.to_string()), Some(name.to_string())),
            Actor::CommandLine | Actor::Unknown => (None, None),
        };
        Self {
            id: record.id.to_string(),
            account_id: record.account_id.to_string(),
            actor: record.actor.kind().to_owned(),
            key_id,
            key_name,
            action: record.action.name().to_owned(),
            target_id: record.target_id.clone(),
            address: record.origin.address.map(|address| address.to_string()),
            request_id: record.origin.request_id.map(|id| id.to_string()),
            occurrences: record.count.into(),
            created_at: record.at.as_millis(),
        }
    }
}

impl TryFrom<RecordRow> for AuditRecord {
    type Error = TransactionError;

    fn try_from(row: RecordRow) -> Result<Self, TransactionError> {
        let actor = match (row.key_id, row.key_name) {
            (Some(key), Some(name)) => Actor::ApiKey {
                id: id("audit_log.key_id", &key)?,
                name: KeyName::from_stored(name),
            },
            _ => named("audit_log.actor", &row.actor, |kind| {
                [Actor::CommandLine, Actor::Unknown].into_iter().find(|one| one.kind() == kind)
            })?,
        };
        let address = row.address.as_deref();
        let request_id = row.request_id.as_deref();
        Ok(Self {
            id: id("audit_log.id", &row.id)?,
            account_id: id("audit_log.account_id", &row.account_id)?,
            at: time(row.created_at),
            actor,
            action: named("audit_log.action", &row.action, AuditAction::from_name)?,
            target_id: row.target_id,
            origin: Origin {
                address: address
                    .map(|text| named("audit_log.address", text, |text| text.parse().ok()))
                    .transpose()?,
                request_id: request_id.map(|text| id("audit_log.request_id", text)).transpose()?,
            },
            count: narrow("audit_log.occurrences", row.occurrences)?,
        })
    }
}

/// Adds a record, in the transaction of the change that it records.
pub(crate) fn insert(c: &mut AnyConnection, record: &AuditRecord) -> Result<(), TransactionError> {
    diesel::insert_into(audit_log::table).values(RecordRow::from(record)).execute(c)?;
    Ok(())
}

/// The account that a deleted key belonged to.
pub(crate) fn owner_of_deleted(c: &mut AnyConnection, key: &str) -> QueryResult<Option<String>> {
    audit_log::table
        .filter(audit_log::target_id.eq(key))
        .filter(audit_log::action.eq(AuditAction::ApiKeyDeleted.name()))
        .select(audit_log::account_id)
        .first(c)
        .optional()
}

/// Removes records from before a moment, at most `limit`. Returns their number.
pub(crate) fn expire(
    c: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, TransactionError> {
    let ids: Vec<String> = audit_log::table
        .filter(audit_log::created_at.lt(before.as_millis()))
        .order(audit_log::created_at)
        .limit(limit)
        .select(audit_log::id)
        .load(c)?;
    Ok(diesel::delete(audit_log::table.filter(audit_log::id.eq_any(ids))).execute(c)?)
}

#[async_trait]
impl AuditStore for Storage {
    async fn insert_records(&self, records: Vec<AuditRecord>) -> Result<(), Error> {
        self.db.write(move |c| records.iter().try_for_each(|record| insert(c, record))).await
    }

    async fn list_records(
        &self,
        account: Id<kind::Account>,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditRecord>, Error> {
        self.db.of(account).read(move |c| list(c, account, filter, &page)).await
    }
}

fn list(
    c: &mut AnyConnection,
    account: Id<kind::Account>,
    filter: AuditFilter,
    page: &PageRequest,
) -> Result<Page<AuditRecord>, TransactionError> {
    let mut query = audit_log::table
        .filter(audit_log::account_id.eq(account.to_string()))
        .order((audit_log::created_at.desc(), audit_log::id.desc()))
        .limit(page.lookahead())
        .select(RecordRow::as_select())
        .into_boxed();
    if let Some(action) = filter.action {
        query = query.filter(audit_log::action.eq(action.name()));
    }
    if let Some(after) = filter.after {
        query = query.filter(audit_log::created_at.gt(after.as_millis()));
    }
    if let Some(before) = filter.before {
        query = query.filter(audit_log::created_at.lt(before.as_millis()));
    }
    if let Some((at, id)) = created_before(page)? {
        query = query
            .filter(audit_log::created_at.le(at))
            .filter(audit_log::created_at.lt(at).or(audit_log::id.lt(id)));
    }
    let items: Result<Vec<_>, _> = query.load(c)?.into_iter().map(AuditRecord::try_from).collect();
    Ok(Page::from_lookahead(items?, page.size))
}
