//! The errors of use cases. They are independent of HTTP.

use std::fmt;

use crate::access::Permission;
use crate::limits;
use crate::timestamp::Timestamp;

/// A field with a bad value, and what it must satisfy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{param}` {message}")]
pub struct FieldError {
    /// The field as the caller named it, with a path to the bad part: `content[3].answer`.
    pub param: String,
    /// The requirement, in lower case and without a final period: `must be between 0.0 and 2.0`.
    pub message: String,
}

impl FieldError {
    /// A bad field.
    pub fn new(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: param.into(), message: message.into() }
    }
}

/// The bad fields of a request: at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldErrors {
    first: FieldError,
    /// At most [`limits::FIELD_ERRORS`] with the first.
    others: Vec<FieldError>,
    /// The number of those that are not kept.
    more: usize,
}

impl FieldErrors {
    /// The first bad field, in the order in which the request declares its fields.
    pub const fn first(&self) -> &FieldError {
        &self.first
    }

    /// All of them, but at most [`limits::FIELD_ERRORS`].
    pub fn iter(&self) -> impl Iterator<Item = &FieldError> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn extend(&mut self, more: Self) {
        let room = limits::FIELD_ERRORS.saturating_sub(1 + self.others.len());
        self.more += more.more + (1 + more.others.len()).saturating_sub(room);
        self.others.extend(std::iter::once(more.first).chain(more.others).take(room));
    }
}

impl From<FieldError> for FieldErrors {
    fn from(first: FieldError) -> Self {
        Self { first, others: Vec::new(), more: 0 }
    }
}

/// The first message, and how many more there are.
impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        match self.others.len() + self.more {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

/// The failure of a use case. Each variant gets a different response.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A required field is absent or null; further fields may be, or have bad values.
    #[error("{0}")]
    Missing(FieldErrors),
    /// A field has a bad value; further fields may be absent, or have bad values.
    #[error("{0}")]
    Invalid(FieldErrors),
    /// The content of a source or file exceeds a limit or is malformed.
    #[error("{message}")]
    Validation {
        /// A summary of the problems, for people.
        message: String,
        /// One entry for each problem.
        errors: Vec<FieldError>,
    },
    /// The resource does not support the operation.
    #[error("{0}")]
    InvalidOperation(String),
    /// The key lacks a permission.
    #[error("this key lacks the permission `{0}`")]
    Forbidden(Permission),
    /// The key of the request was deleted or has expired since the request was authenticated.
    #[error("the API key is no longer valid")]
    Unauthorized,
    /// The key of the request was restricted to other agents since the request was authenticated;
    /// nothing was changed.
    #[error("the API key was changed while the request was carried out")]
    KeyChanged,
    /// The resource does not exist, or the caller may not see it.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// The resource's name: `agent`, `source`, `conversation`, `file`.
        what: &'static str,
        /// The id as given; of a message its number, of a widget its token if that was given.
        id: String,
    },
    /// The reply was stored without a receipt.
    #[error("this reply has no receipt")]
    NoReceipt,
    /// The current state of the resource does not allow the operation.
    #[error("{0}")]
    Conflict(String),
    /// Another change of the resource is in progress and ends within seconds.
    #[error("{0}")]
    Busy(String),
    /// The claim of an idempotency key was lost to another request before the effect was stored;
    /// nothing was changed.
    #[error("another request with this idempotency key took over")]
    ClaimLost,
    /// The account has used up a monthly quota.
    #[error("the account's monthly quota of {limit} {what} is used up; it is renewed at {until}")]
    QuotaExceeded {
        /// What the quota limits: `messages` or `model tokens`.
        what: &'static str,
        /// The quota of a month.
        limit: u64,
        /// When the next month begins.
        until: Timestamp,
        /// The time of the refusal.
        now: Timestamp,
    },
    /// The account would exceed its quota of bytes; nothing was changed.
    #[error(
        "the account's quota of {limit} bytes of sources and files would be exceeded; delete some \
         first"
    )]
    BytesExceeded {
        /// The quota, in bytes.
        limit: u64,
    },
    /// The server has reached its limit of concurrent work.
    #[error("the server is overloaded; try again shortly")]
    Overloaded,
    /// The model did not reply. The cause is only logged.
    #[error("the model is unavailable")]
    ModelUnavailable(#[source] Cause),
    /// The object store does not have the content of a file that exists: it was lost there, or this is not the store that
    /// it was written to.
    #[error("the content of the file `{id}` is missing from the object store")]
    ContentMissing {
        /// The file's id.
        id: String,
    },
    /// The database or object store cannot be reached or is full; nothing was changed.
    #[error("storage is unavailable")]
    Unavailable(#[source] Cause),
    /// A bug or failure in the service itself.
    #[error("internal error")]
    Internal(#[source] Cause),
}

/// The cause of an error, of any type.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// Whether the error is the final outcome of the request, which is stored under the request's
    /// idempotency key: repeating the request gives the same error. After any other error the key
    /// is released, so that the request can be corrected or repeated.
    pub const fn is_settled(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::NoReceipt
            | Self::Conflict(_)
            | Self::Validation { .. } => true,
            Self::Missing(_)
            | Self::Invalid(_)
            | Self::InvalidOperation(_)
            | Self::Forbidden(_)
            | Self::Unauthorized
            | Self::KeyChanged
            | Self::Busy(_)
            | Self::ClaimLost
            | Self::QuotaExceeded { .. }
            | Self::BytesExceeded { .. }
            | Self::Overloaded
            | Self::ModelUnavailable(_)
            | Self::ContentMissing { .. }
            | Self::Unavailable(_)
            | Self::Internal(_) => false,
        }
    }

    /// Whether the same work may succeed later.
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_) | Self::ContentMissing { .. } | Self::Overloaded | Self::Busy(_)
        )
    }

    /// A field with a bad value.
    pub fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(FieldError::new(param, message).into())
    }

    /// A required field that is absent or null.
    pub fn missing(param: impl Into<String>) -> Self {
        Self::Missing(FieldError::new(param, "is required").into())
    }

    /// Several errors of one request as one. If some of them are about bad fields, the error is about these alone:
    /// the others were found with values that have to be corrected. `None` if there are none.
    pub fn joined(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        errors.into_iter().reduce(|all, next| match (all, next) {
            (Self::Missing(mut all), Self::Missing(next) | Self::Invalid(next)) => {
                all.extend(next);
                Self::Missing(all)
            }
            (Self::Invalid(mut all), Self::Missing(next) | Self::Invalid(next)) => {
                all.extend(next);
                Self::Invalid(all)
            }
            (all @ (Self::Missing(_) | Self::Invalid(_)), _) => all,
            (_, next @ (Self::Missing(_) | Self::Invalid(_))) => next,
            (first, _) => first,
        })
    }

    /// The paths of the bad fields that the error names.
    pub fn params(&self) -> Vec<&str> {
        match self {
            Self::Missing(bad) | Self::Invalid(bad) => {
                bad.iter().map(|bad| bad.param.as_str()).collect()
            }
            Self::Validation { errors, .. } => {
                errors.iter().map(|bad| bad.param.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// One problem with the content of a source or file.
    pub fn validation(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::from(vec![FieldError::new(param, message)])
    }

    /// No resource with this id is visible to the caller.
    pub fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }

    /// A bug or failure in the service itself.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    /// The database or object store cannot be reached or is full.
    pub fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }
}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::Invalid(error.into())
    }
}

/// Problems with the content of a source or file. The list must not be empty.
impl From<Vec<FieldError>> for Error {
    fn from(errors: Vec<FieldError>) -> Self {
        let message = match errors.as_slice() {
            [only] => only.to_string(),
            [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
            [] => "the content is not valid".to_owned(),
        };
        Self::Validation { message, errors }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn the_outcome_of_a_request_is_settled_and_anything_that_can_be_corrected_or_repeated_is_not() {
        for settled in [
            Error::not_found("agent", "x"),
            Error::Conflict("busy".to_owned()),
            Error::validation("content", "must not be empty"),
        ] {
            assert!(settled.is_settled(), "{settled:?}");
        }
        for open in [
            Error::missing("name"),
            Error::invalid("name", "must not be empty"),
            Error::InvalidOperation("no".to_owned()),
            Error::Unauthorized,
            Error::KeyChanged,
            Error::Busy("a moment".to_owned()),
            Error::ClaimLost,
            Error::BytesExceeded { limit: 1 },
            Error::Overloaded,
            Error::unavailable("no"),
            Error::internal("no"),
        ] {
            assert!(!open.is_settled(), "{open:?}");
        }
    }

    #[test]
    fn bad_fields_are_joined_in_their_order_and_come_before_any_other_error() {
        let joined = |errors: Vec<Error>| Error::joined(errors).unwrap();
        let both = joined(vec![
            joined(vec![Error::invalid("a", "is bad"), Error::missing("b")]),
            Error::not_found("agent", "x"),
            Error::invalid("c", "is bad"),
        ]);
        assert_eq!(both.to_string(), "`a` is bad, and 2 more");
        assert!(matches!(&both, Error::Invalid(_)));
        assert_eq!(both.params(), ["a", "b", "c"]);
        let missing = joined(vec![Error::missing("a"), Error::invalid("b", "is bad")]);
        assert!(matches!(&missing, Error::Missing(_)));
        assert_eq!(missing.params(), ["a", "b"]);
        let late = joined(vec![Error::not_found("agent", "x"), Error::invalid("a", "is bad")]);
        assert_eq!(late.to_string(), "`a` is bad");
        let other = joined(vec![Error::not_found("agent", "x"), Error::Overloaded]);
        assert!(matches!(other, Error::NotFound { .. }));
        assert!(Error::joined([]).is_none());
    }

    #[test]
    fn the_first_twenty_bad_fields_are_kept_and_the_rest_counted() {
        let bad = |number: usize| Error::invalid(format!("a[{number}]"), "is bad");
        let half = || Error::joined((0..15).map(bad)).unwrap();
        let Some(Error::Invalid(fields)) = Error::joined([half(), half(), bad(99)]) else {
            panic!("bad fields are not one error");
        };
        assert_eq!(fields.iter().count(), 20);
        assert_eq!(fields.to_string(), "`a[0]` is bad, and 30 more");
    }

    #[test]
    fn several_findings_are_counted() {
        let finding = |param: &str| super::FieldError::new(param, "is required");
        let one = Error::from(vec![finding("a")]).to_string();
        assert_eq!(one, "`a` is required");
        let three = Error::from(vec![finding("a"), finding("b"), finding("c")]).to_string();
        assert_eq!(three, "`a` is required, and 2 more");
    }
}
