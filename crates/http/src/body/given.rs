//! The fields of a change, which distinguish an absent field from one that is null.

use serde::{Deserialize, Deserializer, de};

/// A field of a change that can be set to null.
///
/// A struct declares it with `#[serde(default)]`, so that an absent field is [`Given::Absent`], and with
/// `#[schema(value_type = Option<…>)]`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Given<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Null, Self::Value))
    }
}

impl<T> Given<T> {
    /// The value, or `default` for null. `None` leaves the field unchanged.
    pub(crate) fn or(self, default: T) -> Option<T> {
        match self {
            Self::Absent => None,
            Self::Null => Some(default),
            Self::Value(value) => Some(value),
        }
    }

    /// The new value of the field: `None` leaves it unchanged, and null sets it to its default.
    pub(crate) fn or_default<V: Default, E>(
        self,
        parse: impl FnOnce(T) -> Result<V, E>,
    ) -> Result<Option<V>, E> {
        match self {
            Self::Absent => Ok(None),
            Self::Null => Ok(Some(V::default())),
            Self::Value(value) => parse(value).map(Some),
        }
    }

    /// The new value of an optional field: `None` leaves it unchanged, and null removes its value.
    pub(crate) fn or_none<V, E>(
        self,
        parse: impl FnOnce(T) -> Result<V, E>,
    ) -> Result<Option<Option<V>>, E> {
        match self {
            Self::Absent => Ok(None),
            Self::Null => Ok(Some(None)),
            Self::Value(value) => parse(value).map(|value| Some(Some(value))),
        }
    }
}

/// Reads a field of a change that has no default, so that null is refused.
///
/// For `#[serde(default, deserialize_with = "not_null")]`.
pub(crate) fn not_null<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let value = Option::deserialize(from)?;
    value.map(Some).ok_or_else(|| de::Error::custom("must not be null"))
}
