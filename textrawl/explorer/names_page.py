"""The name, the type, the description and the aliases of an entity, edited at once.

An undo takes each change back.
"""

from dataclasses import replace

from starlette.responses import RedirectResponse, Response

from textrawl.access.principal import Caller
from textrawl.errors import EntityNotFound
from textrawl.explorer.arguments import read_fact, read_name, read_new_type
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.memory.entities import EntityOperations
from textrawl.memory.fact_rows import EntityRow
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH


async def ask_alias(visit: PageRequest) -> Response:
    """Show the form for another name of an entity."""
    entity, _ = await find_target(visit)
    return visit.show("alias.html", {"entity": entity, "longest": NAME_LENGTH})


async def add_alias(visit: PageRequest) -> Response:
    """Give an entity another name. If another entity has it, lead to the plan of a merge."""
    (entity, caller), alias = await find_target(visit), read_name(visit.read("alias"))
    other = await _describe(visit, alias, caller)
    if other is not None and other.id != entity.id:
        return RedirectResponse(
            write_link("merge", name=entity.name, other=other.name, space=entity.space), 303
        )
    row = await EntityOperations(visit.site.store).add_alias(entity.name, alias, caller)
    text = "The name is added." if row.added else "It had this name already."
    return visit.report(text, entity.space, entity=entity.name)


async def ask_edit(visit: PageRequest) -> Response:
    """Show the form for the name, the type and the description of an entity."""
    entity, _ = await find_target(visit)
    values = {"entity": entity, "longest": NAME_LENGTH, "most": FACT_LENGTH}
    return visit.show("edit.html", values)


async def edit(visit: PageRequest) -> Response:
    """Set what differs from the name, the type and the description of an entity now."""
    form, (entity, caller) = visit.form, await find_target(visit)
    name = read_name(form.get("new_name") or entity.name)
    kind = read_new_type(form.get("type", ""))
    text = read_fact(form["text"]) if form.get("text", "").strip() else None
    changes = {
        "name": name if name != entity.name else None,
        "type": kind if kind != entity.entity_type else None,
        "description": text if text != entity.description else None,
    }
    if any(changes.values()):
        await EntityOperations(visit.site.store).edit(entity.name, caller, **changes)
    if changes["name"]:
        # The page of the former name leads there too, but its address would stay the former one.
        visit = replace(visit, form={**form, "back": ""})
    return visit.report("Changed.", entity.space, entity=name)


async def remove_alias(visit: PageRequest) -> Response:
    """Take an alias away from an entity."""
    (entity, caller), alias = await find_target(visit), read_name(visit.read("alias"))
    await EntityOperations(visit.site.store).remove_alias(alias, caller, entity.name)
    return visit.report("The name is removed.", entity.space, entity=entity.name)


async def find_target(visit: PageRequest) -> tuple[EntityRow, Caller]:
    """Return the named entity, and the caller for its space, in which the person may write.

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
    return entity, replace(visit.caller, principal=principal)


async def _describe(visit: PageRequest, name: str, caller: Caller) -> EntityRow | None:
    return await visit.site.memory.describe(name, caller, max_observations=0, with_relations=False)
