"""The name, the type, the description and the aliases of an entity, edited at once.

An undo takes each change back.
"""

from dataclasses import dataclass, replace

from starlette.responses import RedirectResponse, Response

from textrawl.access.principal import Caller
from textrawl.errors import EntityNotFound
from textrawl.explorer.arguments import read_fact, read_name, read_new_type
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.memory.entities import EntityOperations
from textrawl.memory.fact_rows import EntityRow
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH


@dataclass(frozen=True)
class NameTarget:
    """An entity that the person may change, and the caller for changes in its space."""

    entity: EntityRow
    caller: Caller


async def ask_alias(visit: PageRequest) -> Response:
    """Show the form for another name of an entity."""
    target = await find_target(visit, visit.read("name"))
    return visit.show("alias.html", {"entity": target.entity, "longest": NAME_LENGTH})


async def add_alias(visit: PageRequest) -> Response:
    """Give an entity another name. If another entity has it, lead to the plan of a merge."""
    target = await find_target(visit, visit.form.get("name", ""))
    entity, alias = target.entity, read_name(visit.form.get("alias", ""))
    other = await _describe(visit, alias, target.caller)
    if other is not None and other.id != entity.id:
        return RedirectResponse(
            write_link("merge", name=entity.name, other=other.name, space=entity.space), 303
        )
    row = await EntityOperations(visit.site.store).add_alias(entity.name, alias, target.caller)
    text = "The name is added." if row.added else "It had this name already."
    return visit.report(text, entity.space, entity=entity.name)


async def ask_edit(visit: PageRequest) -> Response:
    """Show the form for the name, the type and the description of an entity."""
    target = await find_target(visit, visit.read("name"))
    values = {"entity": target.entity, "longest": NAME_LENGTH, "most": FACT_LENGTH}
    return visit.show("edit.html", values)


async def edit(visit: PageRequest) -> Response:
    """Set what differs from the name, the type and the description of an entity now."""
    form, target = visit.form, await find_target(visit, visit.form.get("name", ""))
    entity = target.entity
    name = read_name(form.get("new_name") or entity.name)
    kind = read_new_type(form.get("type", ""))
    text = read_fact(form["text"]) if form.get("text", "").strip() else None
    changes = {
        "name": name if name != entity.name else None,
        "type": kind if kind != entity.entity_type else None,
        "description": text if text != entity.description else None,
    }
    if any(changes.values()):
        await EntityOperations(visit.site.store).edit(entity.name, target.caller, **changes)
    if changes["name"]:
        # The page of the former name leads there too, but its address would stay the former one.
        visit = replace(visit, form={**form, "back": ""})
    return visit.report("Changed.", entity.space, entity=name)


async def remove_alias(visit: PageRequest) -> Response:
    """Take an alias away from an entity."""
    target = await find_target(visit, visit.form.get("name", ""))
    name, alias = target.entity.name, read_name(visit.form.get("alias", ""))
    await EntityOperations(visit.site.store).remove_alias(alias, target.caller, name)
    return visit.report("The name is removed.", target.entity.space, entity=name)


async def find_target(visit: PageRequest, name: str) -> NameTarget:
    """Return an entity in a space in which the person may write.

    Raises EntityNotFound, ScopeMissing and ReadOnly.
    """
    visit.require_writable()
    visit.principal.require("read")
    name = read_name(name)
    entity = await _describe(visit, name, visit.caller)
    if entity is None:
        raise EntityNotFound(name)
    principal = visit.principal.pin(entity.space)
    principal.require("write")
    return NameTarget(entity, replace(visit.caller, principal=principal))


async def _describe(visit: PageRequest, name: str, caller: Caller) -> EntityRow | None:
    return await visit.site.memory.describe(name, caller, max_observations=0, with_relations=False)
