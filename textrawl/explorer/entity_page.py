"""An entity: its facts with their history and their lives, its relations, and its names.

The name, the type, the description and the aliases are edited here. An undo takes each change back.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import RedirectResponse, Response

from textrawl.access.principal import Caller
from textrawl.errors import EntityNotFound
from textrawl.explorer.arguments import read_fact, read_id, read_moment, read_name, read_new_type
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import UNCHANGED, Notice, Record
from textrawl.memory import entities
from textrawl.memory.fact_rows import EntityRow
from textrawl.memory.questions import Times
from textrawl.memory.store import StoreCall
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH, clean_name

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
    values |= {"now": datetime.now(UTC)}
    values |= {"places": await visit.find_places(name), "states": _STATES, "sorts": _SORTS}
    if visit.read("part"):
        return visit.show("history.html", values)
    aliases = await entities.list_aliases(visit.store_call, name)
    days = await visit.call("entity_days", Record, entity=name)  # before today
    values |= {"aliases": aliases, "days": [row.day.isoformat() for row in days]}
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


_ORDERS = {"": "Last change", "name": "Name", "type": "Type", "facts": "Facts"}
_COLUMNS = "space name entity_type facts changed_at author id"


async def show_all(visit: PageRequest) -> Response:
    """Show a table of all entities, or of those of a type, with the numbers of all types."""
    kind, sort, skip = clean_name(visit.read("type")), visit.read("sort"), visit.read_skip()
    read = partial(
        visit.call, "browse_entities", Record, sort=sort if sort in _ORDERS else "", max_rows=_PAGE
    )
    rows = await read(chosen=kind or None, skip=skip)
    counted = rows or await read()  # a type without entities has no row that tells the others
    values = {"rows": rows, "chosen": kind, "sort": sort, "orders": _ORDERS}
    values |= {"types": counted[0].types if counted else {}}
    values |= turn(skip, _PAGE, rows[0].total if rows else 0)
    return visit.show_list("entities.html", values, rows, _COLUMNS)


async def ask_alias(visit: PageRequest) -> Response:
    """Show the form for another name of an entity."""
    entity, _ = await find_target(visit)
    return visit.show("alias.html", {"entity": entity, "longest": NAME_LENGTH})


async def add_alias(visit: PageRequest) -> Response:
    """Give an entity another name. If another entity has it, lead to the plan of a merge."""
    (entity, call), alias = await find_target(visit), read_name(visit.read("alias"), "alias")
    other = await _describe(visit, alias, call.caller)
    if other is not None and other.id != entity.id:
        return RedirectResponse(
            write_link("merge", name=entity.name, other=other.name, space=entity.space), 303
        )
    row = await entities.add_alias(call, entity.name, alias)
    if not row.added:
        return visit.report("It had this name already.", entity=entity.name)
    return visit.report("The name is added.", entity.space, entity=entity.name)


async def ask_edit(visit: PageRequest) -> Response:
    """Show the form for the name, the type and the description of an entity."""
    entity, _ = await find_target(visit)
    values = {"entity": entity, "longest": NAME_LENGTH, "most": FACT_LENGTH}
    return visit.show("edit.html", values)


async def edit(visit: PageRequest) -> Response:
    """Set what differs from the name, the type and the description of an entity now."""
    form, (entity, call) = visit.form, await find_target(visit)
    name = read_name(form.get("new_name") or entity.name, "new_name")
    kind = read_new_type(form.get("type", ""))
    text = read_fact(form["text"]) if form.get("text", "").strip() else None
    changes = {
        "name": name if name != entity.name else None,
        "type": kind if kind != entity.entity_type else None,
        "description": text if text != entity.description else None,
    }
    if not any(changes.values()):
        return visit.report(UNCHANGED, entity=entity.name)
    await entities.edit(call, entity.name, **changes)
    if not changes["name"]:
        return visit.report("Changed.", entity.space, entity=name)
    # The page of the former name leads there too, but its address would stay the former one.
    visit = replace(visit, form={**form, "back": ""})
    # An undo takes no name back, because a new name is a merge.
    former = {"new_name": entity.name, "type": entity.entity_type, "text": entity.description or ""}
    fields = {"name": name, "space": entity.space, **former}
    return visit.tell(Notice("Changed.", name, entity.space, "edit", fields))


async def remove_alias(visit: PageRequest) -> Response:
    """Take an alias away from an entity."""
    (entity, call), alias = await find_target(visit), read_name(visit.read("alias"))
    await entities.remove_alias(call, alias, entity.name)
    return visit.report("The name is removed.", entity.space, entity=entity.name)


async def find_target(visit: PageRequest) -> tuple[EntityRow, StoreCall]:
    """Return the named entity, and a call of its space, in which the person may write.

    Raises EntityNotFound, ScopeMissing and ReadOnly.
    """
    visit.require_writable()
    visit.principal.require("read")
    name = read_name(visit.read("name"))
    entity = await _describe(visit, name, visit.caller)
    if entity is None:
        raise EntityNotFound(name)
    principal = visit.principal.pin(entity.space)
    principal.require("write")
    return entity, StoreCall(visit.site.store, replace(visit.caller, principal=principal))


async def _describe(visit: PageRequest, name: str, caller: Caller) -> EntityRow | None:
    return await visit.site.memory.describe(name, caller, max_observations=0, with_relations=False)
