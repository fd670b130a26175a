"""An entity: its facts with their history and their lives, and its relations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from textrawl.explorer.arguments import read_id, read_moment, read_name
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import Record
from textrawl.memory.entities import EntityOperations
from textrawl.memory.facts import Times
from textrawl.values.text import clean_name

_PAGE = 50
_RELATIONS = 100
_CARD = 8  # facts of an entity beside the drawing of a graph
_STATES = ("valid", "ended", "wrong")
_SORTS = {"said": "newest", "oldest": "oldest", "text": "text", "author": "author"}


async def show(visit: PageRequest) -> Response:
    """Show what is known about an entity, now or at a time, or only one of its facts."""
    name, choice = read_name(visit.read("name")), _read_choice(visit)
    times = Times(read_moment(visit.read("as_of")), known_at=read_moment(visit.read("known_at")))
    skip, card = visit.read_skip(), visit.read("part") == "card"
    entity = await visit.site.memory.describe(
        name, visit.caller, max_observations=_CARD if card else 0, with_relations=card, times=times
    )
    if entity is None:
        return await visit.show_missing(name)
    values: dict[str, Any] = {each: visit.read(each) for each in ("as_of", "known_at")}
    if card:
        return visit.show("card.html", {"entity": entity, **values})
    facts, skip = await _read_page(visit, name, times, choice, skip)
    relations = await visit.call(
        "entity_relations", Record, entity=name, **times.arguments(), max_rows=_RELATIONS
    )
    values |= {"entity": entity, "alone": bool(visit.read("fact")), "relations": relations}
    values |= {"facts": facts, **turn(skip, _PAGE, facts[0].total if facts else 0), **choice}
    values |= {"now": datetime.now(UTC), "moment": times.as_of}
    values |= {"places": await visit.find_places(name), "states": _STATES, "sorts": _SORTS}
    if visit.read("part"):
        return visit.show("history.html", values)
    aliases = await EntityOperations(visit.site.store).list_aliases(name, visit.caller)
    values |= {"aliases": aliases, "days": await _read_days(visit, name)}
    return visit.show("entity.html", values)


def _read_choice(visit: PageRequest) -> dict[str, str]:
    """Return which facts to show, as arguments of entity_history. Empty texts choose all.

    An unknown state or order means the default.
    """
    state, sort = visit.read("state"), visit.read("sort")
    return {
        "words": clean_name(visit.read("words")),
        "state": state if state in _STATES else "",
        "written_by": clean_name(visit.read("author")),
        "sort": sort if sort in _SORTS else "said",
    }


async def _read_page(
    visit: PageRequest, name: str, times: Times, choice: dict[str, str], skip: int
) -> tuple[Sequence[Record], int]:
    """Return a page of facts, and how many are before it. Beyond the end, return the last page."""

    async def read(skip: int) -> Sequence[Record]:
        chosen = {name: text or None for name, text in choice.items()}
        chosen |= {**times.arguments(), "fact": read_id(visit.read("fact"))}
        return await visit.call(
            "entity_history", Record, entity=name, **chosen, max_rows=_PAGE, skip=skip
        )

    facts = await read(skip)
    if facts or not skip:
        return facts, skip
    newest = await read(0)
    last = (newest[0].total - 1) // _PAGE * _PAGE if newest else 0
    return await read(last), last


async def _read_days(visit: PageRequest, name: str) -> list[str]:
    """Return the days before today on which the entity changed."""
    rows = await visit.call("entity_days", Record, entity=name)
    return [row.day.isoformat() for row in rows]
