//! Conversion of values to columns and back.

use std::str::FromStr as _;

use cicerone_domain::id::Kind;
use cicerone_domain::{Id, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{TransactionError, Unreadable};

/// Parses an id from its column.
pub(crate) fn id<K: Kind>(column: &'static str, text: &str) -> Result<Id<K>, TransactionError> {
    Id::from_str(text).map_err(|_| unreadable(column, text))
}

/// Parses a name that was looked up in its column.
pub(crate) fn named<T>(
    column: &'static str,
    text: &str,
    found: impl Fn(&str) -> Option<T>,
) -> Result<T, TransactionError> {
    found(text).ok_or_else(|| unreadable(column, text))
}

/// Converts a number to a narrower type than its column's.
pub(crate) fn narrow<T: TryFrom<i64>>(
    column: &'static str,
    value: i64,
) -> Result<T, TransactionError> {
    T::try_from(value).map_err(|_| unreadable(column, &value.to_string()))
}

/// The same for a nullable column.
pub(crate) fn narrow_option<T: TryFrom<i64>>(
    column: &'static str,
    value: Option<i64>,
) -> Result<Option<T>, TransactionError> {
    value.map(|value| narrow(column, value)).transpose()
}

/// A count for its column. No count exceeds 2^63.
pub(crate) fn wide(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// Converts a column of milliseconds.
pub(crate) const fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A value as JSON text.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, TransactionError> {
    serde_json::to_string(value).map_err(TransactionError::internal)
}

/// The same for a value that has some 1,000 bytes of text, for which there is room from the start.
pub(crate) fn to_long_json<T: Serialize>(value: &T) -> Result<String, TransactionError> {
    let mut text = Vec::with_capacity(1_000);
    serde_json::to_writer(&mut text, value).map_err(TransactionError::internal)?;
    String::from_utf8(text).map_err(TransactionError::internal)
}

/// A value from JSON text.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, TransactionError> {
    serde_json::from_str(text).map_err(TransactionError::internal)
}

fn unreadable(column: &'static str, value: &str) -> TransactionError {
    TransactionError::internal(Unreadable { column, value: value.to_owned() })
}
