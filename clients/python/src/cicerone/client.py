"""Sending requests: the parts that all operations share."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import count
from typing import Any, Self, Unpack

import httpx

from .errors import (
    CiceroneError,
    ConnectionFailedError,
    RequestTimeoutError,
    SourceFailedError,
    api_error,
)
from .listing import AsyncListing, Listing
from .requests import FileInput, named_file, new_key, pause, segment
from .stream import Decoder, ReplyEvent
from .types import SendMessage, Source


class _Settings:
    _transport: type[httpx.Client] | type[httpx.AsyncClient]

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str = "http://127.0.0.1:8080",
        *,
        timeout: float = 120.0,
        max_retries: int = 2,
    ) -> None:
        """`timeout` is the longest silence of the server in seconds. The key is by default that of the
        environment variable CICERONE_API_KEY."""
        api_key = api_key or os.environ.get("CICERONE_API_KEY")
        if not api_key:
            raise CiceroneError("there is no API key: pass `api_key` or set CICERONE_API_KEY")
        self.max_retries = max_retries
        headers = {"authorization": f"Bearer {api_key}", "user-agent": "cicerone-python/0.1.0"}
        self._http: Any = self._transport(base_url=base_url, timeout=timeout, headers=headers)

    def _pause(self, error: CiceroneError, attempt: int) -> float:
        seconds = pause(error, attempt) if attempt < self.max_retries else None
        if seconds is None:
            raise error
        return seconds


class Client(_Settings):
    """The connection of `Cicerone`. It can be used by several threads, and as a context manager."""

    _transport = httpx.Client
    _http: httpx.Client

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stream_message(
        self, *, idempotency_key: str | None = None, **body: Unpack[SendMessage]
    ) -> Iterator[ReplyEvent]:
        """Send a message, and give the reply in parts: `token` events, then `done`.

        Raises `StreamError` if the reply fails or the connection ends before `done`.
        """
        key = idempotency_key or new_key()
        decoder = Decoder(key)
        content = _content({**body, "stream": True}, key)
        response = self._send("POST", "/v1/conversations", content, is_stream=True)
        try:
            for piece in response.iter_bytes():
                for event in decoder.feed(piece):
                    yield event
                    if event["event"] == "done":
                        return
        except httpx.RequestError as cause:
            raise decoder.broken() from cause
        finally:
            response.close()
        raise decoder.broken()

    def wait_for_source(self, source_id: str, *, timeout: float = 300.0) -> Source:
        """Wait until a source is trained. Raises `SourceFailedError`, or `TimeoutError`."""
        deadline = time.monotonic() + timeout
        path = f"/v1/sources/{segment(source_id)}"
        source: Source
        while not _is_ready(source := self._call("GET", path)):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"source {source_id} is not trained after {timeout} s")
            time.sleep(0.5)
        return source

    def _call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        return _json(self._send(method, path, {**_content(body, key), **_query(query or {})}))

    def _upload(self, path: str, file: FileInput, filename: str | None, *, key: str) -> Any:
        content = {"files": {"file": named_file(file, filename)}, **_content(None, key)}
        return _json(self._send("POST", path, content))

    def _list(self, path: str, query: Mapping[str, Any]) -> Listing[Any]:
        def fetch(cursor: str | None) -> Any:
            return self._call("GET", path, query={**query, "cursor": cursor})

        return Listing(fetch)

    def _send(
        self, method: str, path: str, content: Mapping[str, Any], *, is_stream: bool = False
    ) -> httpx.Response:
        for attempt in count():
            try:
                request = self._http.build_request(method, path, **content)
                response = self._http.send(request, stream=is_stream)
                if response.is_success:
                    return response
                response.read()
                error = _refusal(response)
            except httpx.RequestError as cause:
                error = _no_response(cause)
            time.sleep(self._pause(error, attempt))
        raise AssertionError


class AsyncClient(_Settings):
    """The connection of `AsyncCicerone`. It can be used as an asynchronous context manager."""

    _transport = httpx.AsyncClient
    _http: httpx.AsyncClient

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def stream_message(
        self, *, idempotency_key: str | None = None, **body: Unpack[SendMessage]
    ) -> AsyncIterator[ReplyEvent]:
        """Send a message, and give the reply in parts: `token` events, then `done`.

        Raises `StreamError` if the reply fails or the connection ends before `done`.
        """
        key = idempotency_key or new_key()
        decoder = Decoder(key)
        content = _content({**body, "stream": True}, key)
        response = await self._send("POST", "/v1/conversations", content, is_stream=True)
        try:
            async for piece in response.aiter_bytes():
                for event in decoder.feed(piece):
                    yield event
                    if event["event"] == "done":
                        return
        except httpx.RequestError as cause:
            raise decoder.broken() from cause
        finally:
            await response.aclose()
        raise decoder.broken()

    async def wait_for_source(self, source_id: str, *, timeout: float = 300.0) -> Source:
        """Wait until a source is trained. Raises `SourceFailedError`, or `TimeoutError`."""
        deadline = time.monotonic() + timeout
        path = f"/v1/sources/{segment(source_id)}"
        source: Source
        while not _is_ready(source := await self._call("GET", path)):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"source {source_id} is not trained after {timeout} s")
            await asyncio.sleep(0.5)
        return source

    async def _call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        content = {**_content(body, key), **_query(query or {})}
        return _json(await self._send(method, path, content))

    async def _upload(self, path: str, file: FileInput, filename: str | None, *, key: str) -> Any:
        content = {"files": {"file": named_file(file, filename)}, **_content(None, key)}
        return _json(await self._send("POST", path, content))

    def _list(self, path: str, query: Mapping[str, Any]) -> AsyncListing[Any]:
        async def fetch(cursor: str | None) -> Any:
            return await self._call("GET", path, query={**query, "cursor": cursor})

        return AsyncListing(fetch)

    async def _send(
        self, method: str, path: str, content: Mapping[str, Any], *, is_stream: bool = False
    ) -> httpx.Response:
        for attempt in count():
            try:
                request = self._http.build_request(method, path, **content)
                response = await self._http.send(request, stream=is_stream)
                if response.is_success:
                    return response
                await response.aread()
                error = _refusal(response)
            except httpx.RequestError as cause:
                error = _no_response(cause)
            await asyncio.sleep(self._pause(error, attempt))
        raise AssertionError


def _content(body: Any, key: str | None) -> dict[str, Any]:
    content: dict[str, Any] = {} if body is None else {"json": body}
    if key is not None:
        content["headers"] = {"idempotency-key": key}
    return content


def _query(query: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in query.items() if value is not None}
    return {"params": given} if given else {}


def _json(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None
    try:
        return response.json()
    except ValueError as cause:
        raise api_error(response.status_code, response.headers, None) from cause


def _refusal(response: httpx.Response) -> CiceroneError:
    try:
        body = response.json()
    except ValueError:
        body = None
    return api_error(response.status_code, response.headers, body)


def _no_response(cause: httpx.RequestError) -> CiceroneError:
    is_timeout = isinstance(cause, httpx.TimeoutException)
    error = (RequestTimeoutError if is_timeout else ConnectionFailedError)(
        f"{cause.request.method} {cause.request.url}: {cause or type(cause).__name__}"
    )
    error.__cause__ = cause
    return error


def _is_ready(source: Source) -> bool:
    if source["status"] == "failed":
        raise SourceFailedError(source)
    return source["status"] == "trained"
