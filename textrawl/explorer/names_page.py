"""The names and the description of an entity: give it an alias, take one away, describe it.

Each has two steps. The first shows what will change, and the second changes it.
"""

from dataclasses import dataclass, replace

from starlette.responses import Response

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid, EntityNotFound
from textrawl.explorer.arguments import read_fact, read_name
from textrawl.explorer.requests import PageRequest
from textrawl.memory.entities import AliasRow, EntityOperations
from textrawl.memory.fact_rows import EntityRow
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH, clean_name


@dataclass(frozen=True)
class NameTarget:
    """An entity that the person may change, and the caller for changes in its space."""

    entity: EntityRow
    caller: Caller


async def ask_alias(visit: PageRequest) -> Response:
    """Show the form for another name of an entity."""
    target = await find_target(visit, visit.read("name"))
    values = {"step": "ask", "entity": target.entity, "alias": "", "longest": NAME_LENGTH}
    return visit.show("alias.html", values)


async def add_alias(visit: PageRequest) -> Response:
    """Show what another name will change. With the confirmation of the person, add it."""
    target = await find_target(visit, visit.form.get("name", ""))
    entity, alias = target.entity, read_name(visit.form.get("alias", ""))
    if visit.form.get("confirmed"):
        await EntityOperations(visit.site.store).add_alias(entity.name, alias, target.caller)
        return visit.return_to(entity.name)
    other = await _describe(visit, alias, target.caller)
    step = "confirm" if other is None else "known" if other.id == entity.id else "taken"
    values = {"step": step, "entity": entity, "other": other, "alias": alias}
    return visit.show("alias.html", {**values, "longest": NAME_LENGTH})


async def ask_description(visit: PageRequest) -> Response:
    """Show the form for the description of an entity."""
    target = await find_target(visit, visit.read("name"))
    return _show_description(visit, target, "ask", target.entity.description or "")


async def set_description(visit: PageRequest) -> Response:
    """Show what a description will change. With the confirmation of the person, set it."""
    target = await find_target(visit, visit.form.get("name", ""))
    text = read_fact(visit.form.get("text", ""))
    if not visit.form.get("confirmed"):
        return _show_description(visit, target, "confirm", text)
    await EntityOperations(visit.site.store).describe(target.entity.name, text, target.caller)
    return visit.return_to(target.entity.name)


def _show_description(visit: PageRequest, target: NameTarget, step: str, text: str) -> Response:
    values = {"step": step, "entity": target.entity, "text": text, "longest": FACT_LENGTH}
    return visit.show("describe.html", values)


async def ask_removal(visit: PageRequest) -> Response:
    """Show what the removal of an alias will change."""
    target = await find_target(visit, visit.read("name"))
    alias = await _find_alias(visit, target, visit.read("alias"))
    return visit.show("unname.html", {"entity": target.entity, "alias": alias})


async def remove_alias(visit: PageRequest) -> Response:
    """Remove an alias. The form is the confirmation of the person."""
    target = await find_target(visit, visit.form.get("name", ""))
    name, alias = target.entity.name, read_name(visit.form.get("alias", ""))
    visit.require_confirmation()
    await EntityOperations(visit.site.store).remove_alias(alias, target.caller, name)
    return visit.return_to(name)


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


async def _find_alias(visit: PageRequest, target: NameTarget, alias: str) -> AliasRow:
    """Return an alias of an entity, with who added it. Raises ArgumentInvalid if it has none."""
    name, alias = target.entity.name, clean_name(alias)
    rows = await EntityOperations(visit.site.store).list_aliases(name, target.caller)
    found = next((row for row in rows if row.alias == alias), None)
    if found is None:
        fix = "Look at the entity again: it may have changed"
        raise ArgumentInvalid(fix, title="The entity has no such name")
    return found
