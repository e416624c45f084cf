//! The wire form of an error.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderName};
use cicerone_domain::FieldError;
use serde::Serialize;
use utoipa::ToSchema;

use super::Problem;
use crate::context::RequestId;
use crate::response::json_bytes;

/// The header that tells clients whether to repeat a request. The official clients of OpenAI's API obey it.
pub(crate) const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// A row of the published table of errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusRow {
    pub(crate) status: u16,
    /// The `type` of the error.
    pub(crate) kind: &'static str,
    /// The codes that are possible with it.
    pub(crate) codes: &'static [&'static str],
    /// The condition, for the documentation.
    pub(crate) meaning: &'static str,
}

const fn row(
    status: u16,
    kind: &'static str,
    codes: &'static [&'static str],
    meaning: &'static str,
) -> StatusRow {
    StatusRow { status, kind, codes, meaning }
}

/// Every error status, as it is published.
pub(crate) const STATUS_CODES: &[StatusRow] = &[
    row(
        400,
        "invalid_request_error",
        &["missing_required_field", "invalid_parameter", "invalid_operation"],
        "A field or parameter is missing or not valid, or the resource does not support the operation.",
    ),
    row(401, "authentication_error", &["unauthorized"], "The API key is missing or not valid."),
    row(403, "permission_error", &["forbidden"], "The API key lacks the permission."),
    row(
        404,
        "not_found_error",
        &["resource_not_found"],
        "The resource does not exist, or the key has no access to it.",
    ),
    row(
        405,
        "invalid_request_error",
        &["method_not_allowed"],
        "The path does not support this method.",
    ),
    row(
        408,
        "invalid_request_error",
        &["invalid_parameter"],
        "The head of the request did not arrive in time.",
    ),
    row(
        409,
        "conflict_error",
        &["conflict"],
        "The current state of the resource does not allow the operation.",
    ),
    row(
        413,
        "invalid_request_error",
        &["payload_too_large"],
        "The body is larger than the operation accepts.",
    ),
    row(
        415,
        "invalid_request_error",
        &["unsupported_media_type"],
        "The media type of the body is not supported.",
    ),
    row(
        422,
        "validation_error",
        &["validation_error", "idempotency_key_reused"],
        "The content exceeds a limit or has the wrong format, or the idempotency key was used for another \
         request.",
    ),
    row(
        429,
        "rate_limit_error",
        &["rate_limit_exceeded", "quota_exceeded"],
        "Too many requests, or the account has reached a quota.",
    ),
    row(
        431,
        "invalid_request_error",
        &["invalid_parameter"],
        "The head of the request is larger than 32 KiB or has more than 96 fields.",
    ),
    row(500, "api_error", &["internal_error"], "An unexpected error occurred in the server."),
    row(
        503,
        "api_error",
        &["service_unavailable", "model_unavailable"],
        "The server or the model is temporarily unavailable.",
    ),
];

/// The body of every error response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct ErrorBody<'a> {
    /// What went wrong.
    error: ErrorDetail<'a>,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
struct ErrorDetail<'a> {
    /// The class of the error.
    #[serde(rename = "type")]
    kind: &'a str,
    /// The error code, for programs to branch on.
    code: &'a str,
    /// A human-readable explanation.
    message: &'a str,
    /// The field or parameter that caused the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    param: Option<&'a str>,
    /// All bad fields that were found, at most 20; present on every 422, and on a 400 that names a field or parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    errors: Option<Vec<Finding<'a>>>,
    /// Seconds to wait before trying again; present on every 429.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retry_after: Option<u64>,
    /// The request's id, as in `X-Request-Id`.
    #[schema(value_type = String, pattern = "^req_[0-9A-Za-z]{10}$")]
    request_id: RequestId,
}

/// One problem with a request.
#[derive(Debug, Serialize, ToSchema)]
struct Finding<'a> {
    /// The path of the field, such as `content[3].answer`.
    param: &'a str,
    /// What the field must satisfy, such as `must not be empty`.
    message: &'a str,
}

/// The data of an `error` event, which is sent if a reply fails after its stream has begun.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorEvent<'a> {
    message: &'a str,
    code: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    /// Whether sending the same message later can succeed.
    retryable: bool,
    #[schema(value_type = String, pattern = "^req_[0-9A-Za-z]{10}$")]
    request_id: RequestId,
}

impl Problem {
    pub(crate) fn to_body(&self, request_id: RequestId) -> Vec<u8> {
        json_bytes(&self.to_error(request_id))
    }

    /// The object of the body.
    pub(crate) fn to_error(&self, request_id: RequestId) -> ErrorBody<'_> {
        let findings = || {
            let of = self.errors.iter();
            of.map(|FieldError { param, message }| Finding { param, message }).collect()
        };
        ErrorBody {
            error: ErrorDetail {
                kind: self.kind,
                code: self.code,
                message: &self.message,
                param: self.param.as_deref(),
                errors: (self.status.as_u16() == 422 || !self.errors.is_empty()).then(findings),
                retry_after: self.retry_after.filter(|_| self.status.as_u16() == 429),
                request_id,
            },
        }
    }

    /// Whether clients that repeat failed requests by themselves must not repeat this one: waiting some seconds does
    /// not help.
    fn is_lasting(&self) -> bool {
        match self.status.as_u16() {
            409 => self.retry_after.is_none(),
            429 => self.code == "quota_exceeded",
            503 => !self.retryable,
            _ => false,
        }
    }

    /// The data of an `error` event.
    pub(crate) fn to_event(&self, request_id: RequestId) -> ErrorEvent<'_> {
        ErrorEvent {
            message: &self.message,
            code: self.code,
            kind: self.kind,
            retryable: self.retryable,
            request_id,
        }
    }

    /// The whole answer.
    pub(crate) fn to_response(&self, request_id: RequestId) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        response.content_type("application/json");
        if let Some(seconds) = self.retry_after {
            response.insert_header((header::RETRY_AFTER, seconds));
        }
        if self.is_lasting() {
            response.insert_header((SHOULD_RETRY, "false"));
        }
        if let Some(methods) = &self.allow {
            response.insert_header((header::ALLOW, methods.as_str()));
        }
        if self.status.as_u16() == 401 {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        response.body(self.to_body(request_id))
    }
}
