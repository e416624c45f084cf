//! Uploaded files: their rows, and records of objects to remove.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::UploadStore;
use cicerone_domain::upload::{Filename, ObjectKey, in_use, is_visible};
use cicerone_domain::{Error, Id, Scope, Timestamp, Upload, UploadType};
use diesel::dsl::{exists, not};
use diesel::prelude::*;

use crate::bytes;
use crate::columns::{self, id, named, narrow, time, wide};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::idempotency::erase_of;
use crate::schema::{discarded_objects, sources, uploads};
use crate::scope::Visible;
use crate::storage::Storage;

/// Ids in one statement.
const IDS: usize = 500;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = uploads)]
struct UploadRow {
    id: String,
    account_id: String,
    filename: String,
    content_type: String,
    bytes: i64,
    created_at: i64,
}

impl From<&Upload> for UploadRow {
    fn from(upload: &Upload) -> Self {
        Self {
            id: upload.id.to_string(),
            account_id: upload.account_id.to_string(),
            filename: upload.filename.as_str().to_owned(),
            content_type: upload.content_type.media_type().to_owned(),
            bytes: wide(upload.bytes),
            created_at: upload.created_at.as_millis(),
        }
    }
}

impl TryFrom<UploadRow> for Upload {
    type Error = TransactionError;

    fn try_from(row: UploadRow) -> Result<Self, TransactionError> {
        let content_type =
            named("uploads.content_type", &row.content_type, UploadType::from_media_type)?;
        Ok(Self {
            id: id("uploads.id", &row.id)?,
            account_id: id("uploads.account_id", &row.account_id)?,
            filename: Filename::from_stored(row.filename),
            content_type,
            bytes: narrow("uploads.bytes", row.bytes)?,
            created_at: time(row.created_at),
        })
    }
}

/// Removes those of these uploads that no source uses, records their objects as discarded and
/// erases the answers that contain them. Returns how many were removed.
pub(crate) fn remove_unused(
    c: &mut AnyConnection,
    ids: &[String],
    now: Timestamp,
) -> Result<u64, TransactionError> {
    let mut count = 0;
    let mut freed: BTreeMap<String, i64> = BTreeMap::new();
    for ids in ids.chunks(IDS) {
        // Locked first, so that the deletion sees every source that began to use one of them.
        dialect::lock_uploads(c, ids)?;
        let used = exists(
            sources::table
                .filter(sources::upload_id.eq(uploads::id.nullable()))
                .select(sources::id),
        );
        let unused = uploads::table.filter(uploads::id.eq_any(ids)).filter(not(used));
        let removed: Vec<(String, String, i64)> = diesel::delete(unused)
            .returning((uploads::id, uploads::account_id, uploads::bytes))
            .get_results(c)?;
        for (upload, account, bytes) in removed {
            *freed.entry(account).or_default() += bytes;
            discard(c, id("uploads.id", &upload)?, now)?;
            erase_of(c, &upload)?;
            count += 1;
        }
    }
    for (account, bytes) in freed {
        bytes::change(c, &account, -bytes)?;
    }
    Ok(count)
}

/// Returns the upload if it exists in the scope.
fn find(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Upload>,
) -> Result<Option<Upload>, TransactionError> {
    let found: Option<UploadRow> = uploads::table
        .filter(uploads::id.eq(id.to_string()))
        .filter(uploads::account_id.eq(&visible.account))
        .select(UploadRow::as_select())
        .get_result(c)
        .optional()?;
    let Some(row) = found else { return Ok(None) };
    if visible.agents.is_some() {
        let users: Vec<String> = sources::table
            .filter(sources::upload_id.eq(id.to_string()))
            .select(sources::agent_id)
            .distinct()
            .load(c)?;
        let users: Result<Vec<_>, _> =
            users.iter().map(|agent| columns::id("sources.agent_id", agent)).collect();
        if !is_visible(&users?, &visible.scope) {
            return Ok(None);
        }
    }
    Ok(Some(Upload::try_from(row)?))
}

/// Locks an upload that exists in the scope, so that it is not removed before a source uses it.
/// Returns false if it does not exist.
pub(crate) fn hold(
    c: &mut AnyConnection,
    visible: &Visible,
    id: Id<kind::Upload>,
) -> Result<bool, TransactionError> {
    Ok(dialect::hold_upload(c, &visible.account, &id.to_string())?
        && find(c, visible, id)?.is_some())
}

/// Records that the object of an upload is to be removed.
fn discard(
    c: &mut AnyConnection,
    id: Id<kind::Upload>,
    now: Timestamp,
) -> Result<(), TransactionError> {
    Ok(dialect::discard_object(c, ObjectKey::of(id).as_str(), now.as_millis())?)
}

impl Storage {
    /// The names of the objects of the files that were uploaded last, at most `count`, of all accounts.
    ///
    /// # Errors
    ///
    /// As of every port.
    pub async fn latest_objects(&self, count: u32) -> Result<Vec<ObjectKey>, Error> {
        let latest = move |c: &mut AnyConnection| {
            let query = uploads::table.order((uploads::created_at.desc(), uploads::id.desc()));
            let ids: Vec<String> = query.limit(count.into()).select(uploads::id).load(c)?;
            ids.iter().map(|text| Ok(ObjectKey::of(id("uploads.id", text)?))).collect()
        };
        self.db.read(latest).await
    }
}

#[async_trait]
impl UploadStore for Storage {
    async fn expect_object(&self, key: &ObjectKey, deadline: Timestamp) -> Result<(), Error> {
        let key = key.as_str().to_owned();
        self.db.write(move |c| Ok(dialect::discard_object(c, &key, deadline.as_millis())?)).await
    }

    async fn insert_upload(
        &self,
        upload: Upload,
        completion: Option<Completion<Upload>>,
    ) -> Result<Upload, Error> {
        let quota = self.account_bytes;
        self.db
            .of(upload.account_id)
            .write_completing(completion, move |c| {
                let key = upload.object_key().as_str().to_owned();
                let taken = diesel::delete(discarded_objects::table.find(&key)).execute(c)?;
                if taken == 0 {
                    // The housekeeping has acted on the record: this took longer than was
                    // announced.
                    let cause = format!("the object `{key}` was discarded before it was recorded");
                    return Err(Error::unavailable(cause).into());
                }
                bytes::check(c, quota, upload.account_id, upload.bytes)?;
                diesel::insert_into(uploads::table).values(UploadRow::from(&upload)).execute(c)?;
                bytes::change(c, &upload.account_id.to_string(), wide(upload.bytes))?;
                Ok(upload.clone())
            })
            .await
    }

    async fn find_upload(
        &self,
        scope: &Scope,
        id: Id<kind::Upload>,
    ) -> Result<Option<Upload>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).lookup(move |c| find(c, &visible, id)).await
    }

    async fn delete_upload(
        &self,
        scope: &Scope,
        id: Id<kind::Upload>,
        now: Timestamp,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        let visible = Visible::from(scope);
        self.db
            .of(scope.account)
            .free_completing(completion, move |c| {
                let upload = [id.to_string()];
                dialect::lock_uploads(c, &upload)?;
                if find(c, &visible, id)?.is_none() {
                    return Err(Error::not_found("file", id).into());
                }
                if remove_unused(c, &upload, now)? == 0 {
                    return Err(in_use().into());
                }
                Ok(())
            })
            .await
    }
}
