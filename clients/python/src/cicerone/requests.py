"""The parts of requests, and when to send one again."""

from __future__ import annotations

import os
import random
import uuid
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO, TypeAlias
from urllib.parse import quote

from .errors import ApiError, CiceroneError

#: The path of a file, its bytes, or a file that is open for reading bytes.
FileInput: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO
#: A request is not repeated if the server asks for a longer pause, in seconds.
LONGEST_PAUSE = 60.0


def new_key() -> str:
    """A new idempotency key: a request that carries it takes effect once, however often it is sent."""
    return str(uuid.uuid4())


def segment(value: str | int) -> str:
    """One segment of a path. No text becomes two of them, or another route."""
    text = quote(str(value), safe="")
    if text in ("", ".", ".."):
        raise ValueError(f"{value!r} is not an id")
    return text


def named_file(file: FileInput, filename: str | None) -> tuple[str, bytes]:
    """The name and the content of a file to upload."""
    if isinstance(file, bytes):
        return filename or "file", file
    if isinstance(file, (str, os.PathLike)):
        return filename or Path(file).name, Path(file).read_bytes()
    return filename or Path(str(getattr(file, "name", "file"))).name, file.read()


def pause(error: CiceroneError, attempt: int) -> float | None:
    """Seconds until the next attempt; None if the request must not be repeated."""
    # Half a second that doubles, at most 8, varied so that clients do not return together.
    usual = min(0.5 * 2.0**attempt, 8.0) * random.uniform(0.75, 1.0)
    if not isinstance(error, ApiError):
        return usual
    after = _retry_after(error.headers.get("retry-after", ""))
    is_passing = error.status in (408, 429) or error.status >= 500
    is_passing = is_passing or (error.status == 409 and after is not None)
    if not is_passing or error.headers.get("x-should-retry") == "false":
        return None
    if after is None:
        return usual
    return after if after <= LONGEST_PAUSE else None


def _retry_after(value: str) -> float | None:
    try:
        if value.isascii() and value.isdigit():
            return float(min(int(value), 10**9))
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
