//! Copies of an embedded database, taken while it is in use, and checks of copies.

use std::path::Path;

use cicerone_domain::Id;
use cicerone_domain::id::kind;
use cicerone_domain::upload::ObjectKey;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::columns::id;
use crate::connection::{Access, AnyConnection, Either, connect};
use crate::error::{OpenError, TransactionError};
use crate::migrations;
use crate::schema::uploads;
use crate::url::DatabaseUrl;

/// The answer of SQLite's check for an intact database.
const WHOLE: &str = "ok";

#[derive(QueryableByName)]
struct Finding {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

/// Copies a snapshot of the SQLite database `url` to the new file `into`, even while servers use it, and returns the
/// names of the objects of its uploads. Blocks.
///
/// Fails if `into` exists, and for any other kind of database.
pub fn take(url: &DatabaseUrl, into: &Path) -> Result<Vec<ObjectKey>, OpenError> {
    let failed = |cause: String| OpenError::Snapshot { url: url.clone(), cause };
    let path = into.to_str().ok_or_else(|| failed("the path is not UTF-8".to_owned()))?;
    let Either::Sqlite(mut connection) = connect(url, Access::Write)?.into_either() else {
        return Err(failed("only a SQLite file can be copied".to_owned()));
    };
    diesel::sql_query("VACUUM INTO ?")
        .bind::<Text, _>(path)
        .execute(&mut connection)
        .map_err(|error| failed(error.to_string()))?;
    let copy = DatabaseUrl::sqlite(into);
    objects(&mut connect(&copy, Access::Read)?).map_err(|failure| failed(failure.to_string()))
}

/// The uploads of a SQLite database, as they are now.
pub struct Uploads {
    url: DatabaseUrl,
    connection: AnyConnection,
}

impl Uploads {
    /// Connects to the database `url`. Blocks.
    ///
    /// Fails if the database cannot be read.
    pub fn of(url: &DatabaseUrl) -> Result<Self, OpenError> {
        Ok(Self { url: url.clone(), connection: connect(url, Access::Read)? })
    }

    /// Whether the database still has the upload of an object. Blocks.
    ///
    /// Fails if the database cannot be read.
    pub fn has(&mut self, key: &ObjectKey) -> Result<bool, OpenError> {
        let found: Option<String> = uploads::table
            .find(key.upload_id())
            .select(uploads::id)
            .get_result(&mut self.connection)
            .optional()
            .map_err(|error| OpenError::Snapshot {
                url: self.url.clone(),
                cause: error.to_string(),
            })?;
        Ok(found.is_some())
    }
}

fn objects(c: &mut AnyConnection) -> Result<Vec<ObjectKey>, cicerone_domain::Error> {
    let ids: Vec<String> = uploads::table
        .order(uploads::id)
        .select(uploads::id)
        .load(c)
        .map_err(TransactionError::from)?;
    let key = |text: &String| -> Result<ObjectKey, TransactionError> {
        let upload: Id<kind::Upload> = id("uploads.id", text)?;
        Ok(ObjectKey::of(upload))
    };
    Ok(ids.iter().map(key).collect::<Result<_, TransactionError>>()?)
}

/// Checks that the SQLite file `path` is intact, and that this program knows all of its migrations.
/// Blocks.
pub fn verify(path: &Path) -> Result<(), OpenError> {
    let url = DatabaseUrl::sqlite(path);
    let failed = |cause: String| OpenError::Snapshot { url: url.clone(), cause };
    let Either::Sqlite(mut connection) = connect(&url, Access::Read)?.into_either() else {
        return Err(failed("only a SQLite file can be checked".to_owned()));
    };
    let findings: Vec<Finding> = diesel::sql_query("PRAGMA integrity_check")
        .load(&mut connection)
        .map_err(|error| failed(error.to_string()))?;
    if let Some(fault) = findings.iter().find(|finding| finding.integrity_check != WHOLE) {
        return Err(failed(fault.integrity_check.clone()));
    }
    drop(connection);
    migrations::status(&url).map(|_| ())
}
