"""Many items: pages of a list or a search, and groups for requests."""

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from textrawl_client.client import SyncItemStore
from textrawl_client.items import Item, Put

_PAGE = 100
_MOST_BYTES = 1_000_000  # of JSON in one request
Found = TypeVar("Found")


def read_pages(
    fetch: Callable[..., Sequence[Found]], limit: float = math.inf, offset: int = 0
) -> Iterator[Found]:
    """Yield up to `limit` results of a method that takes `limit` and `offset`."""
    end = offset + limit
    while (wanted := min(_PAGE, end - offset)) > 0:
        page = fetch(limit=wanted, offset=offset)
        yield from page
        offset += len(page)
        if len(page) < wanted:
            return


async def read_all(fetch: Callable[..., Awaitable[Sequence[Item]]]) -> list[Item]:
    """Return all items of a method that takes `limit` and `offset`."""
    items = list[Item]()
    while page := await fetch(limit=_PAGE, offset=len(items)):
        items += page
        if len(page) < _PAGE:
            break
    return items


def divide(
    values: Iterable[Found], write: Callable[[Found], Any], most: float = math.inf
) -> Iterator[list[Found]]:
    """Yield groups of up to `most` values, each with a megabyte or one value.

    `write` returns the JSON of a value.
    """
    group, size = list[Found](), 0
    for value in values:
        more = len(json.dumps(write(value), ensure_ascii=False).encode()) + 1
        if group and (size + more > _MOST_BYTES or len(group) == most):
            yield group
            group, size = [], 0
        group.append(value)
        size += more
    if group:
        yield group


def plan(
    puts: Iterable[Put], gone: Sequence[Any] = ()
) -> Iterator[tuple[list[Put], Sequence[Any]]]:
    """Yield the arguments of `put_many`: once if one request is enough, else deletions are last."""
    groups = [*divide(puts, Put.write, _PAGE)] or [[]]
    for group in groups[:-1]:
        yield group, ()
    if groups[-1] or gone:
        yield groups[-1], gone[:_PAGE]
    for first in range(_PAGE, len(gone), _PAGE):
        yield [], gone[first : first + _PAGE]


def put_all(items: SyncItemStore, puts: Iterable[Put], gone: Sequence[Any] = ()) -> None:
    """Store and delete items: all of them or none, if one request is enough."""
    for some, ended in plan(puts, gone):
        items.put_many(some, delete=ended)
