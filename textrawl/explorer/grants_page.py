"""Grants: what people and agents may do in the spaces that a person administers."""

from starlette.responses import RedirectResponse, Response

from textrawl.access.access_token import GrantListRow
from textrawl.explorer.arguments import SCOPES, read_actor, read_scopes
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.values.text import NAME_LENGTH, clean_name


async def show(visit: PageRequest) -> Response:
    """Show the grants of the spaces that the person administers."""
    visit.principal.require("admin", anywhere=True)
    return visit.show("grants.html", {"grants": await list_grants(visit)})


async def ask_grant(visit: PageRequest) -> Response:
    """Show the form for a grant, with the scopes that the actor has now."""
    space, actor = require_place(visit, changes=True), clean_name(visit.read("actor"))
    held = await find_grant(visit, actor)
    values = {"step": "ask", "actor": actor, "held": held, "space": space}
    return visit.show("grant.html", {**values, "scopes": SCOPES, "longest": NAME_LENGTH})


async def grant(visit: PageRequest) -> Response:
    """Show what the grant will change. With the confirmation of the person, change it."""
    space, actor = require_place(visit, changes=True), read_actor(visit.read("actor"))
    scopes = read_scopes(visit.form)
    if visit.form.get("confirmed"):
        await visit.call_anywhere(
            "grant_access", list[str], actor=actor, space=space, scopes=scopes
        )
        visit.site.directory.forget(actor)
        return _return_to(space)
    held = await find_grant(visit, actor)
    own = actor == visit.principal.actor and "admin" not in scopes
    values = {"step": "confirm", "actor": actor, "held": held, "space": space, "own": own}
    return visit.show("grant.html", {**values, "scopes": scopes})


async def ask_withdrawal(visit: PageRequest) -> Response:
    """Show which scopes an actor would lose."""
    space, actor = require_place(visit, changes=True), read_actor(visit.read("actor"))
    held = await find_grant(visit, actor)
    own = actor == visit.principal.actor
    values = {"actor": actor, "held": held, "space": space, "own": own}
    return visit.show("take_back.html", values, 200 if held else 404)


async def take_back(visit: PageRequest) -> Response:
    """Take back all scopes of an actor in a space. The form is the confirmation of the person."""
    space, actor = require_place(visit, changes=True), read_actor(visit.read("actor"))
    await visit.call_anywhere("revoke_access", list[str], actor=actor, space=space)
    visit.site.directory.forget(actor)
    return _return_to(space)


def require_place(visit: PageRequest, *, changes: bool = False) -> str:
    """Return the name of the space that the address or form names, if the person administers it.

    Raises ScopeMissing, ReadOnly, and ArgumentInvalid if no space is named.
    """
    visit.principal.require("admin", anywhere=True)
    if changes:
        visit.require_writable()
    space = visit.require_space()
    visit.principal.require("admin")
    return space


async def find_grant(visit: PageRequest, actor: str) -> GrantListRow | None:
    """Return the grant of an actor in the space of the visit, or None."""
    return next((row for row in await list_grants(visit) if row.actor_name == actor), None)


async def list_grants(visit: PageRequest) -> list[GrantListRow]:
    """Return the grants of the spaces that the person administers here."""
    rows = await visit.call_anywhere("list_grants", GrantListRow)
    return [row for row in rows if row.space_name in visit.administered]


def _return_to(space: str) -> Response:
    return RedirectResponse(write_link("grants", space=space), 303)
