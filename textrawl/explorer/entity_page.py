"""An entity: its facts with their history, and its relations."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from textrawl.explorer.arguments import read_id, read_moment, read_name, read_number
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import DayRow, HistoryRow
from textrawl.memory.entities import EntityOperations
from textrawl.memory.facts import Times

_PAGE = 50
_CARD = 8  # facts of an entity beside the drawing of a graph
_LAST = 100_000


async def show(visit: PageRequest) -> Response:
    """Show what is known about an entity, now or at a time, or only one of its facts."""
    visit.principal.require("read")
    name = read_name(visit.read("name"))
    times = Times(read_moment(visit.read("as_of")), known_at=read_moment(visit.read("known_at")))
    skip = read_number(visit.read("skip"), least=0, most=_LAST, default=0)
    if visit.read("part") == "card":
        return await _show_card(visit, name, times)
    entity = await visit.site.memory.describe(
        name, visit.caller, max_observations=0, with_relations=True, times=times
    )
    if entity is None:
        return await visit.show_missing(name)
    facts, skip = await _read_page(visit, name, times, skip)
    total = facts[0].total if facts else 0
    related = len(entity.outgoing) + len(entity.incoming)
    values: dict[str, Any] = {name: visit.read(name) for name in ("as_of", "known_at", "space")} | {
        "entity": entity,
        "facts": facts,
        "alone": bool(visit.read("fact")),
        "total": total,
        "hidden_relations": entity.total_relations - related,
        "newer": max(skip - _PAGE, 0) if skip else None,
        "older": skip + _PAGE if skip + _PAGE < total else None,
    }
    if visit.read("part"):
        return visit.show("history.html", values)
    aliases = await EntityOperations(visit.site.store).list_aliases(name, visit.caller)
    places = await visit.find_places(name)
    values |= {"aliases": aliases, "places": places, "days": await _read_days(visit, name)}
    return visit.show("entity.html", values)


async def _show_card(visit: PageRequest, name: str, times: Times) -> Response:
    """Show the newest facts and relations of an entity beside the drawing of a graph."""
    entity = await visit.site.memory.describe(
        name, visit.caller, max_observations=_CARD, with_relations=True, times=times
    )
    if entity is None:
        return await visit.show_missing(name)
    given = {each: visit.read(each) for each in ("as_of", "space")}
    return visit.show("card.html", {"entity": entity, **given})


async def _read_page(
    visit: PageRequest, name: str, times: Times, skip: int
) -> tuple[Sequence[HistoryRow], int]:
    """Return a page of facts, and how many are before it. Beyond the end, return the last page."""
    facts = await _read_history(visit, name, times, skip)
    if facts or not skip:
        return facts, skip
    newest = await _read_history(visit, name, times, 0)
    last = (newest[0].total - 1) // _PAGE * _PAGE if newest else 0
    return await _read_history(visit, name, times, last), last


async def _read_history(
    visit: PageRequest, name: str, times: Times, skip: int
) -> Sequence[HistoryRow]:
    return await visit.site.store.database.call(
        "entity_history",
        HistoryRow,
        entity=name,
        **times.arguments(),
        fact=read_id(visit.read("fact")),
        max_rows=_PAGE,
        skip=skip,
        **visit.caller.reading,
    )


async def _read_days(visit: PageRequest, name: str) -> list[str]:
    """Return the days before today on which the entity changed."""
    rows = await visit.site.store.database.call(
        "entity_days", DayRow, entity=name, **visit.caller.reading
    )
    return [row.day.isoformat() for row in rows]
