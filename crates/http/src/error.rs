//! The one table from errors to answers.

mod body;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use cicerone_domain::error::Error;
use cicerone_domain::ports::{ModelError, ModelFailure};
use cicerone_domain::{FieldError, FieldErrors};

pub(crate) use body::{ErrorBody, ErrorEvent, SHOULD_RETRY, STATUS_CODES, StatusRow};

use crate::context::RequestId;
use crate::visitors::Bound;

/// The `Retry-After` of a request that exceeds the account's quota of bytes. Waiting alone does not help; the
/// value only keeps clients that repeat requests automatically from doing so at once.
const FULL_RETRY_SECONDS: u64 = 60 * 60;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// A use case refused the request or failed.
    #[error(transparent)]
    Domain(#[from] Error),
    /// There is no key, or it is unknown, mistyped, expired or revoked.
    #[error("the API key is missing or not valid")]
    Unauthorized,
    /// There were too many failed authentications from one address, or too many requests of one key or account.
    #[error("too many requests")]
    RateLimited {
        /// Seconds until the next attempt can succeed.
        retry_after: u64,
    },
    /// The request names a host that it may not name.
    #[error("host not allowed")]
    Host {
        /// The header that names it.
        header: &'static str,
        /// The value of the header, cut if it is long.
        value: String,
    },
    /// A visitor's credential is missing or not valid, for this reason.
    #[error("{0}")]
    Visitor(Cow<'static, str>),
    /// A page may not use the widget.
    #[error("origin not allowed")]
    ForeignOrigin {
        /// The page's origin, cut if it is long; empty if the browser did not name it.
        value: String,
    },
    /// A visitor has reached a limit.
    #[error(transparent)]
    Bound(#[from] Bound),
    /// No route has this path.
    #[error("no such route")]
    NoRoute,
    /// The path does not support this method.
    #[error("method not allowed")]
    Method {
        /// The methods that it supports, for the header `Allow`.
        allow: String,
    },
    /// The operation does not accept a parameter that the request has.
    #[error("`{name}` cannot be given")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Why the operation has no use for it.
        reason: &'static str,
    },
    /// The body is larger than the endpoint accepts.
    #[error("body too large")]
    BodyTooLarge,
    /// The media type of the body is not supported by the endpoint.
    #[error("unsupported media type")]
    MediaType {
        /// The media type that the endpoint reads.
        expected: &'static str,
    },
    /// The same request with the same idempotency key is being carried out.
    #[error("the same request is being carried out")]
    KeyInProgress,
    /// The idempotency key was used for another request, or by an API key that sees other agents.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The answer to the request with this idempotency key was erased.
    #[error("the stored response was erased")]
    KeyGone,
    /// The server is not ready. The answer shows the reason.
    #[error("not ready: {0}")]
    NotReady(&'static str),
    /// The server stops before the request is complete.
    #[error("the server is stopping")]
    Stopping,
    /// The account, or the server, has as many exports in progress as it may have.
    #[error("too many exports are in progress")]
    ExportsBusy,
    /// The error was already turned into its answer, and logged if necessary.
    #[error("{}", .0.message)]
    Reported(Box<Problem>),
}

impl From<FieldError> for RequestError {
    fn from(error: FieldError) -> Self {
        Self::Domain(error.into())
    }
}

/// An error as it is sent to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// The `type` of the error.
    pub(crate) kind: &'static str,
    pub(crate) code: &'static str,
    /// A sentence that a person can act on; constant for faults of the server.
    pub(crate) message: Cow<'static, str>,
    /// The field that caused the error.
    pub(crate) param: Option<String>,
    /// All bad fields; shown on every 422, and on a 400 that has some.
    pub(crate) errors: Vec<FieldError>,
    /// Seconds to wait before trying again.
    pub(crate) retry_after: Option<u64>,
    /// Whether the same request can succeed later.
    pub(crate) retryable: bool,
    /// On a 405, the methods that the path supports.
    pub(crate) allow: Option<String>,
}

impl Problem {
    fn new(
        status: StatusCode,
        kind: &'static str,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            kind,
            code,
            message: message.into(),
            param: None,
            errors: Vec::new(),
            retry_after: None,
            retryable: false,
            allow: None,
        }
    }

    fn invalid(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", code, message)
    }

    fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found_error", "resource_not_found", message)
    }

    fn conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict_error", "conflict", message)
    }

    fn unavailable(code: &'static str, message: &'static str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "api_error", code, message).retryable()
    }

    fn about(self, fields: &FieldErrors) -> Self {
        let errors = fields.iter().cloned().collect();
        Self { param: Some(fields.first().param.clone()), errors, ..self }
    }

    fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }.retryable()
    }

    /// The answer to an internal error. The cause is only logged.
    pub(crate) fn internal() -> Self {
        let message = "an unexpected error occurred; the log has the cause under this request id";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "api_error", "internal_error", message)
    }

    /// The answer that replaces one of the framework with this status.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => RequestError::NoRoute.problem(),
            StatusCode::PAYLOAD_TOO_LARGE => RequestError::BodyTooLarge.problem(),
            status if status.is_server_error() => Self::internal(),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => Self {
                status,
                ..Self::invalid(
                    "invalid_parameter",
                    "the request head is larger than 32 KiB or has more than 96 fields",
                )
            },
            StatusCode::REQUEST_TIMEOUT => Self {
                status,
                ..Self::invalid("invalid_parameter", "the request did not arrive in time")
            },
            _ => Self::invalid("invalid_parameter", "the request could not be understood"),
        }
    }
}

impl RequestError {
    /// The answer to this error.
    pub(crate) fn problem(&self) -> Problem {
        match self {
            Self::Domain(error) => domain_problem(error),
            Self::Unauthorized => Problem::new(
                StatusCode::UNAUTHORIZED,
                "authentication_error",
                "unauthorized",
                "the API key is missing or not valid; send it as `Authorization: Bearer <key>`",
            ),
            Self::RateLimited { retry_after } => Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limit_error",
                "rate_limit_exceeded",
                format!("too many requests; try again in {retry_after} s"),
            )
            .retry_after(*retry_after),
            Self::Host { header, value } => Problem::new(
                StatusCode::FORBIDDEN,
                "permission_error",
                "forbidden",
                format!(
                    "the host in `{header}: {value}` may not be used here; the operator can allow it with the \
                     setting `mcp.hosts`"
                ),
            ),
            Self::Visitor(reason) => Problem::new(
                StatusCode::UNAUTHORIZED,
                "authentication_error",
                "unauthorized",
                reason.clone(),
            ),
            Self::ForeignOrigin { value } => Problem::new(
                StatusCode::FORBIDDEN,
                "permission_error",
                "forbidden",
                format!(
                    "pages of the origin `{value}` may not use this widget; its owner can add it to `origins`"
                ),
            ),
            Self::Bound(bound) => {
                let code = if bound.is_quota() { "quota_exceeded" } else { "rate_limit_exceeded" };
                Problem::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "rate_limit_error",
                    code,
                    bound.to_string(),
                )
                .retry_after(bound.wait())
            }
            Self::NoRoute => Problem::not_found("no such route; /docs/api lists the routes"),
            Self::Method { allow } => Problem {
                allow: Some(allow.clone()),
                ..Problem::new(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "invalid_request_error",
                    "method_not_allowed",
                    format!("this route supports only {allow}"),
                )
            },
            Self::Parameter { name, reason } => {
                let error = FieldError::new(*name, format!("cannot be given: {reason}"));
                Problem::invalid("invalid_operation", error.to_string()).about(&error.into())
            }
            Self::BodyTooLarge => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "invalid_request_error",
                "payload_too_large",
                "the body is larger than this route accepts",
            ),
            Self::MediaType { expected } => Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "invalid_request_error",
                "unsupported_media_type",
                format!("the body must be `{expected}`, sent without compression"),
            ),
            Self::KeyInProgress => {
                Problem::conflict("the same request is still being carried out").retry_after(1)
            }
            Self::KeyReused => Problem {
                param: Some("Idempotency-Key".to_owned()),
                errors: vec![FieldError::new("Idempotency-Key", "was used for another request")],
                ..Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "validation_error",
                    "idempotency_key_reused",
                    "this idempotency key was used for another request",
                )
            },
            Self::KeyGone => Problem::not_found(
                "the response stored for this idempotency key contained something that has since \
                 been deleted or replaced",
            ),
            Self::NotReady(reason) => {
                Problem::unavailable("service_unavailable", reason).retry_after(1)
            }
            Self::Stopping => {
                Problem::unavailable("service_unavailable", "the server is stopping; try again")
                    .retry_after(1)
            }
            Self::ExportsBusy => Problem::unavailable(
                "service_unavailable",
                "too many exports are in progress; try again when one of them has ended",
            )
            .retry_after(5),
            Self::Reported(problem) => (**problem).clone(),
        }
    }

    /// Whether the server refused the request because it has too much to do.
    pub(crate) fn is_overload(&self) -> bool {
        match self {
            Self::Domain(error) => matches!(error, Error::Overloaded),
            Self::Reported(problem) => problem.message == OVERLOADED,
            _ => false,
        }
    }

    /// Turns the error into its answer, and logs the cause if the server is at fault.
    pub(crate) fn report(&self, request_id: RequestId) -> Problem {
        let problem = self.problem();
        if matches!(self, Self::Reported(_)) {
            return problem;
        }
        if problem.status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(%request_id, error = self as &dyn std::error::Error, "internal error");
        } else if problem.status.is_server_error() {
            let error = self as &dyn std::error::Error;
            tracing::warn!(%request_id, code = problem.code, error, "cannot serve");
        }
        problem
    }
}

/// The message of refusals because the server has too much to do.
const OVERLOADED: &str = "the server is overloaded; try again shortly";

/// The answers to the errors of use cases.
fn domain_problem(error: &Error) -> Problem {
    match error {
        Error::Missing(fields) => {
            Problem::invalid("missing_required_field", error.to_string()).about(fields)
        }
        Error::Invalid(fields) => {
            Problem::invalid("invalid_parameter", error.to_string()).about(fields)
        }
        Error::InvalidOperation(message) => Problem::invalid("invalid_operation", message.clone()),
        Error::Validation { message, errors } => Problem {
            param: errors.first().map(|first| first.param.clone()),
            errors: errors.clone(),
            ..Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "validation_error",
                "validation_error",
                message.clone(),
            )
        },
        Error::Forbidden(_) => {
            Problem::new(StatusCode::FORBIDDEN, "permission_error", "forbidden", error.to_string())
        }
        Error::Unauthorized => RequestError::Unauthorized.problem(),
        Error::KeyChanged => Problem::unavailable(
            "service_unavailable",
            "the API key was changed while the request was carried out; try again",
        )
        .retry_after(1),
        Error::NotFound { .. } | Error::NoReceipt => Problem::not_found(error.to_string()),
        Error::Conflict(message) => Problem::conflict(message.clone()),
        Error::Busy(message) => Problem::conflict(message.clone()).retry_after(1),
        Error::ClaimLost => Problem::conflict(error.to_string()).retry_after(1),
        Error::QuotaExceeded { until, now, .. } => {
            let wait = until.as_millis().saturating_sub(now.as_millis());
            let seconds = u64::try_from(wait).unwrap_or_default().div_ceil(1_000).max(1);
            Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limit_error",
                "quota_exceeded",
                error.to_string(),
            )
            .retry_after(seconds)
        }
        Error::BytesExceeded { .. } => Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "quota_exceeded",
            error.to_string(),
        )
        .retry_after(FULL_RETRY_SECONDS),
        Error::Overloaded => Problem::unavailable("service_unavailable", OVERLOADED).retry_after(1),
        Error::ContentMissing { .. } => Problem::unavailable(
            "service_unavailable",
            "the content of this file is missing from the object store",
        )
        .retry_after(60),
        Error::Unavailable(_) => {
            Problem::unavailable("service_unavailable", "storage is unavailable").retry_after(5)
        }
        Error::ModelUnavailable(cause) => {
            let permanent = cause
                .downcast_ref::<ModelError>()
                .is_some_and(|error| error.failure == ModelFailure::Permanent);
            let problem = Problem::unavailable(
                "model_unavailable",
                "the model did not reply; nothing was stored",
            );
            Problem { retryable: !permanent, ..problem }
        }
        Error::Internal(_) => Problem::internal(),
    }
}

/// Invariant: this response is never sent unchanged. [`crate::observe`] writes the body, which contains the id of the
/// request.
impl ResponseError for RequestError {
    fn status_code(&self) -> StatusCode {
        self.problem().status
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
