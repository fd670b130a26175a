"""Entities that may be one under two names, with the reasons; their merges, and the splits again.

A merge has two steps. The first shows what will change, and the second changes it.
"""

import time
from collections.abc import Sequence

from starlette.responses import Response

from textrawl.errors import ArgumentInvalid
from textrawl.explorer.arguments import read_id, read_name, read_number
from textrawl.explorer.entity_page import find_target
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.memory.entities import EntityOperations, SamePair
from textrawl.values.text import NAME_LENGTH, clean_name

LEAST_SCORE = 0.3  # lower than in the answers of tools: people see at once that a pair is wrong
_CANDIDATES = 10
_MOST_PAIRS = 50  # of one merge
_TWO = 2
_MOST_LATER = 50  # facts since a merge that are shown


async def plan(visit: PageRequest) -> Response:
    """Show what a merge would change. Without the other entity, let the person choose it."""
    (entity, caller), other = await find_target(visit), clean_name(visit.read("other"))
    values: dict[str, object] = {"entity": entity, "longest": NAME_LENGTH}
    operations = EntityOperations(visit.site.store)
    if not other:
        pairs = await operations.find_same(
            caller, entity=entity.name, least_score=LEAST_SCORE, limit=_CANDIDATES
        )
        return visit.show("merge.html", {**values, "plan": None, "pairs": pairs})
    row = await operations.merge(entity.name, read_name(other), caller, dry_run=True)
    hidden = row.duplicate_facts + row.duplicate_relations - len(row.collapsing)
    return visit.show("merge.html", {**values, "plan": row, "hidden": hidden})


async def merge(visit: PageRequest) -> Response:
    """Merge two entities. The form is the confirmation of the person."""
    (entity, caller), other = await find_target(visit), read_name(visit.read("other"))
    operations = EntityOperations(visit.site.store)
    row = await operations.merge(entity.name, other, caller, dry_run=False)
    return visit.report("Merged.", entity.space, entity=row.kept_name)


async def plan_pairs(visit: PageRequest) -> Response:
    """Show what the merges of the chosen pairs would change, in one space."""
    pairs, rivals = _read_pairs(visit, visit.read_all("pair"))
    rows = await EntityOperations(visit.site.store).merge_pairs(pairs, visit.caller, dry_run=True)
    joined = " ".join("/".join(pair) for pair in pairs)
    values = {"plan": rows, "pairs": joined, "rivals": rivals, "space": visit.require_space()}
    return visit.show("merge_pairs.html", values)


async def merge_pairs(visit: PageRequest) -> Response:
    """Merge pairs, all or none. The form is the confirmation of the person."""
    pairs, _ = _read_pairs(visit, visit.read("pairs").split())
    rows = await EntityOperations(visit.site.store).merge_pairs(pairs, visit.caller, dry_run=False)
    text = f"Merged {len(rows)} pairs." if len(rows) > 1 else "Merged."
    return visit.report(text, visit.require_space(), default=write_link("same"))


def _read_pairs(visit: PageRequest, given: Sequence[str]) -> tuple[list[list[str]], int]:
    """Return the pairs of ids, and how many had an entity of a pair before, and are left out.

    Raises ArgumentInvalid, ItemNotFound, ReadOnly, ScopeMissing.
    """
    visit.require_writable()
    visit.require_space()
    visit.principal.require("write")
    pairs: list[list[str]] = []
    for text in given[:_MOST_PAIRS]:
        pair = [str(read_id(clean_name(each))) for each in text.split("/")]
        if len(pair) == _TWO and not {*pair} & {each for before in pairs for each in before}:
            pairs.append(pair)
    if not pairs:
        raise ArgumentInvalid("Go back, and choose at least one", title="No pair is chosen")
    return pairs, len(given) - len(pairs)


async def plan_split(visit: PageRequest) -> Response:
    """Show what the split of a merge would change."""
    (entity, caller), name = await find_target(visit), read_name(visit.read("name"))
    operations = EntityOperations(visit.site.store)
    row = await operations.split(name, caller, dry_run=True)
    values = {
        "entity": entity,
        "name": name,
        "plan": row,
        "later": row.later[:_MOST_LATER],
        "hidden": max(len(row.later) - _MOST_LATER, 0),
    }
    return visit.show("split.html", values)


async def split(visit: PageRequest) -> Response:
    """Split a merge. The form is the confirmation of the person."""
    (entity, caller), name = await find_target(visit), read_name(visit.read("name"))
    operations = EntityOperations(visit.site.store)
    row = await operations.split(name, caller, dry_run=False)
    return visit.report("Split.", entity.space, entity=row.merged_name)


_PAIRS, _MOST_SHOWN = 20, 200
_PATIENCE = 0.2  # seconds that a page waits for pairs after each write
_SCORE = 50  # hundredths, as in the answers of the tool


async def show(visit: PageRequest) -> Response:
    """Show the pairs of one entity, or the likeliest pairs of all spaces or of one space."""
    name = clean_name(visit.read("name"))[:NAME_LENGTH]
    score = read_number(visit.read("score"), least=0, most=100, default=_SCORE)
    limit = read_number(visit.read("limit"), least=1, most=_MOST_SHOWN, default=_PAIRS)
    pairs = await find_pairs(visit, name, score, limit, soon=True)
    values = {
        "pairs": pairs,
        "name": name,
        "score": score,
        "longest": NAME_LENGTH,
        "more": len(pairs) == limit < _MOST_SHOWN,
        "most": _MOST_SHOWN,
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
