"""Entities that can be one under two names, each pair with the reasons and a link to the merge."""

import time
from collections.abc import Sequence

from starlette.responses import Response

from textrawl.explorer.arguments import read_number
from textrawl.explorer.requests import PageRequest
from textrawl.memory.entities import EntityOperations, SamePair
from textrawl.values.text import NAME_LENGTH, clean_name

_PAIRS, _MOST_PAIRS = 20, 200
_PATIENCE = 0.2  # seconds that a page waits for pairs after each write
_SCORE = 50  # hundredths, as in the answers of the tool


async def show(visit: PageRequest) -> Response:
    """Show the pairs of one entity, or the likeliest pairs of all spaces or of one space."""
    name = clean_name(visit.read("name"))[:NAME_LENGTH]
    score = read_number(visit.read("score"), least=0, most=100, default=_SCORE)
    limit = read_number(visit.read("limit"), least=1, most=_MOST_PAIRS, default=_PAIRS)
    pairs = await find_pairs(visit, name, score, limit, soon=True)
    values = {
        "pairs": pairs,
        "name": name,
        "score": score,
        "longest": NAME_LENGTH,
        "more": len(pairs) == limit < _MOST_PAIRS,
        "most": _MOST_PAIRS,
        "limit": limit,
        "all_chosen": bool(visit.read("all")),
    }
    return visit.show("same.html", values)


async def find_pairs(
    visit: PageRequest,
    name: str = "",
    score: int = _SCORE,
    limit: int = _PAIRS,
    *,
    soon: bool = False,
) -> Sequence[SamePair]:
    """Return the likeliest pairs, of all entities or of one. `score` is in hundredths.

    With `soon`, pairs that take long are those of before the writes of others. The new ones are
    then found after the response.
    """

    async def find() -> tuple[Sequence[SamePair], float]:
        begin = time.monotonic()
        pairs = await EntityOperations(visit.site.store).find_same(
            visit.caller, entity=name or None, least_score=score / 100, limit=limit
        )
        return pairs, time.monotonic() - begin

    question = ("pairs", name, score, limit)
    pairs, _ = await visit.remember(question, find, lambda kept: soon and kept[1] > _PATIENCE)
    return pairs
