"""Lists, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Generic, TypedDict, TypeVar

from .errors import CiceroneError

T = TypeVar("T")


class ListPage(TypedDict, Generic[T]):
    """One page of a list."""

    data: list[T]
    has_more: bool
    next_cursor: str | None


class Listing(Generic[T]):
    """The items of a list. Iterating over them requests a page when it is needed."""

    def __init__(self, fetch: Callable[[str | None], ListPage[T]]) -> None:
        self._fetch = fetch

    def pages(self, cursor: str | None = None) -> Iterator[ListPage[T]]:
        """The pages, from the beginning or from the `next_cursor` of an earlier page."""
        while True:
            page = self._fetch(cursor)
            yield page
            if (cursor := _next(page, cursor)) is None:
                return

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page["data"]


class AsyncListing(Generic[T]):
    """The same for programs that use asyncio."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[ListPage[T]]]) -> None:
        self._fetch = fetch

    async def pages(self, cursor: str | None = None) -> AsyncIterator[ListPage[T]]:
        """The pages, from the beginning or from the `next_cursor` of an earlier page."""
        while True:
            page = await self._fetch(cursor)
            yield page
            if (cursor := _next(page, cursor)) is None:
                return

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page["data"]:
                yield item


def _next(page: ListPage[T], cursor: str | None) -> str | None:
    following = page["next_cursor"] if page["has_more"] else None
    if following is not None and following == cursor:
        raise CiceroneError(f"the cursor `{cursor}` leads to itself")
    return following
