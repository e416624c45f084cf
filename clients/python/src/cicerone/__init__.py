"""Client of Cicerone. `Cicerone` and `AsyncCicerone` have methods for the operations of the API."""

from .errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    CiceroneError,
    ConflictError,
    ConnectionFailedError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    SourceFailedError,
    StreamError,
    ValidationError,
)
from .listing import AsyncListing, Listing, ListPage
from .operations import AsyncCicerone, Cicerone
from .stream import Done, ReplyEvent, Token

__all__ = [
    "ApiError",
    "AsyncCicerone",
    "AsyncListing",
    "AuthenticationError",
    "BadRequestError",
    "Cicerone",
    "CiceroneError",
    "ConflictError",
    "ConnectionFailedError",
    "Done",
    "ReplyEvent",
    "ListPage",
    "Listing",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestTimeoutError",
    "ServerError",
    "SourceFailedError",
    "StreamError",
    "Token",
    "ValidationError",
]
