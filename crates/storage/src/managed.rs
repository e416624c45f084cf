//! The columns of what a file of declared objects manages.

use cicerone_domain::managed::{ContentHash, Managed, ManagedKey, SetName};
use diesel::result::{DatabaseErrorKind, Error as DieselError};

use crate::error::TransactionError;

/// Set, key and hash as they are stored.
pub(crate) type Columns = (Option<String>, Option<String>, Option<String>);

pub(crate) fn columns(managed: Option<&Managed>) -> Columns {
    let Some(Managed { set, key, hash }) = managed else { return (None, None, None) };
    (Some(set.to_string()), Some(key.to_string()), Some(hash.to_string()))
}

pub(crate) fn from_columns(columns: Columns) -> Option<Managed> {
    let (Some(set), Some(key), Some(hash)) = columns else { return None };
    Some(Managed {
        set: SetName::from_stored(set),
        key: ManagedKey::from_stored(key),
        hash: ContentHash::from_stored(hash),
    })
}

/// The outcome of writing a row: a conflict if another object has the identity. `what` is the kind of the object, with
/// its article.
pub(crate) fn written(
    outcome: Result<usize, DieselError>,
    managed: Option<&Managed>,
    what: &str,
) -> Result<(), TransactionError> {
    match (outcome, managed) {
        (Err(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _)), Some(managed)) => {
            Err(managed.taken(what).into())
        }
        (outcome, _) => Ok(outcome.map(|_| ())?),
    }
}
