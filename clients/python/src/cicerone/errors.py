"""What can go wrong."""

from __future__ import annotations

from typing import Any

from .types import Source


class CiceroneError(Exception):
    """Every error of this package."""


class ConnectionFailedError(CiceroneError):
    """No complete response arrived."""


class RequestTimeoutError(ConnectionFailedError):
    """The server was silent for longer than the client's `timeout`."""


class StreamError(CiceroneError):
    """A reply ended early. Sending the message again with `idempotency_key` does not store it twice."""

    def __init__(self, message: str, key: str, event: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = key
        event = event or {}
        self.code: str | None = event.get("code")
        self.request_id: str | None = event.get("request_id")
        self.retryable: bool = event.get("retryable", True)


class SourceFailedError(CiceroneError):
    """A source could not be read; `source["error_message"]` says why."""

    def __init__(self, source: Source) -> None:
        super().__init__(f"source {source['id']} failed: {source['error_message']}")
        self.source = source


class ApiError(CiceroneError):
    """The server refused the request. Programs branch on `code`; the message is for people."""

    def __init__(self, status: int, headers: Any, body: Any) -> None:
        found = body.get("error") if isinstance(body, dict) else None
        detail: dict[str, Any] = found if isinstance(found, dict) else {}
        self.status = status
        self.headers = headers
        self.code: str | None = detail.get("code")
        self.param: str | None = detail.get("param")
        #: All bad fields of the request, each with `param` and `message`; empty unless the status is 400 or 422.
        self.errors: list[dict[str, str]] = detail.get("errors") or []
        self.request_id: str | None = detail.get("request_id") or headers.get("x-request-id")
        text = detail.get("message") or "the response is not one of Cicerone's"
        super().__init__(f"{status} {self.code or ''}: {text} ({self.request_id})".replace(" :", ":"))


class BadRequestError(ApiError):
    """400: `param` names the field."""


class AuthenticationError(ApiError):
    """401: the API key is missing, unknown or expired."""


class PermissionDeniedError(ApiError):
    """403: the API key lacks a permission."""


class NotFoundError(ApiError):
    """404: the object does not exist, or is not visible to the API key."""


class ConflictError(ApiError):
    """409: the state of the object forbids it."""


class ValidationError(ApiError):
    """422: `errors` lists every fault of the content."""


class RateLimitError(ApiError):
    """429: a rate limit, or the account's quota if `code` is `quota_exceeded`."""


class ServerError(ApiError):
    """5xx: the server failed or is overloaded."""


_CLASSES: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
    429: RateLimitError,
}


def api_error(status: int, headers: Any, body: Any) -> ApiError:
    """The error of a response that is not a success."""
    kind = ServerError if status >= 500 else _CLASSES.get(status, ApiError)
    return kind(status, headers, body)
