"""Items of a list or a search, one page after the other."""

import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from textrawl_client.items import Item

_PAGE = 100
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
