"""All items of a list or a search, one page after the other."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count

from textrawl_client.items import Item

_PAGE = 100


def read_pages(fetch: Callable[..., Sequence[Item]]) -> Iterator[Item]:
    """Yield the items that `fetch` returns for each `limit` and `offset`, until a page is short."""
    for offset in count(0, _PAGE):
        page = fetch(limit=_PAGE, offset=offset)
        yield from page
        if len(page) < _PAGE:
            return
