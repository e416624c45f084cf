"""Streamed replies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from .errors import StreamError
from .types import DoneEvent, TokenEvent


class Token(TokenEvent):
    """The next part of the reply."""

    event: Literal["token"]


class Done(DoneEvent):
    """The reply is complete and stored."""

    event: Literal["done"]


ReplyEvent: TypeAlias = Token | Done


class Decoder:
    """Server-Sent Events from pieces of bytes. Lines end with LF or CRLF."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[Any]:
        """The events that are complete with this piece. Events of unknown names are left out."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            field, _, value = line.rstrip(b"\r").decode(errors="replace").partition(":")
            if field == "event":
                self._name = value.removeprefix(" ")
            elif field == "data":
                self._data.append(value.removeprefix(" "))
            elif not line.rstrip(b"\r"):
                name, data = self._name, "\n".join(self._data)
                self._name, self._data = "", []
                if name in ("token", "done", "error"):
                    yield self._event(name, data)

    def _event(self, name: str, data: str) -> dict[str, Any]:
        try:
            event = {**json.loads(data), "event": name}
        except (TypeError, ValueError) as cause:
            raise StreamError(f"the event `{name}` is not a JSON object", self._key) from cause
        if name == "error":
            raise StreamError(f"the reply failed: {event.get('message')}", self._key, event)
        return event

    def broken(self) -> StreamError:
        """The error of a stream that ends without `done`."""
        return StreamError("the connection ended before the reply was complete", self._key)
