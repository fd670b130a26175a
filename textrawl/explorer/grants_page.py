"""Grants: what people and agents may do in the spaces that a person administers; their tokens.

A token acts for its actor in every space that is granted to the actor. So an administrator of one
space who could make tokens could reach other spaces in the name of others. Only the owner of the
memory makes and revokes them.
"""

import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import RedirectResponse, Response

from textrawl.access.access_token import (
    GrantListRow,
    RevokedTokenRow,
    TokenListRow,
    hash_token,
    make_token,
    shorten_token,
)
from textrawl.access.principal import Scope
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.explorer.arguments import (
    SCOPES,
    FieldInvalid,
    read_actor,
    read_number,
    read_scopes,
)
from textrawl.explorer.forms import OwnerNeeded, SentTwice
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Notice
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import DataRefused
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
        return await _tell_granted(visit, space, actor, scopes)
    held = await find_grant(visit, actor)
    own = actor == visit.principal.actor and "admin" not in scopes
    values = {"step": "confirm", "actor": actor, "held": held, "space": space, "own": own}
    return visit.show("grant.html", {**values, "scopes": scopes})


async def _tell_granted(
    visit: PageRequest, space: str, actor: str, scopes: list[Scope]
) -> Response:
    """Return to the grants, which tell how somebody without a token gets one."""
    tokens = await visit.call_anywhere("list_tokens", TokenListRow)
    if any(token.actor == actor and token.state == "valid" for token in tokens):
        return _return_to(space)
    words = ["--actor", actor, "--space", space, "--scope", ",".join(scopes)]
    command = shlex.join(["textrawl", "token", "create", *words])
    text = (
        f"Granted. If {actor} has no token yet, the owner of the memory makes one with: {command}"
    )
    return visit.tell(Notice(text), write_link("grants", space=space))


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


_LONGEST_DAYS = 3650
_DAYS = 90  # that the form suggests


async def show_tokens(visit: PageRequest) -> Response:
    """Show the tokens whose home space the person administers."""
    visit.principal.require("admin", anywhere=True)
    values = {"tokens": await _list_tokens(visit), "owner": _is_owner(visit)}
    return visit.show("tokens.html", values)


async def ask_token(visit: PageRequest) -> Response:
    """Show the form for a token."""
    _require_owner(visit)
    values = {
        "space": require_place(visit),
        "actor": clean_name(visit.read("actor")),
        "scopes": SCOPES,
        "days": _DAYS,
        "most_days": _LONGEST_DAYS,
        "longest": NAME_LENGTH,
    }
    return visit.show("token.html", {"step": "ask", **values})


async def make(visit: PageRequest) -> Response:
    """Show what the new token will allow. With the confirmation, make it and show it once."""
    _require_owner(visit)
    wish: dict[str, Any] = {
        "space": require_place(visit),
        "actor": read_actor(visit.read("actor")),
        "scopes": read_scopes(visit.form),
        "days": _read_days(visit.read("days")),
    }
    values: dict[str, Any] = {"step": "confirm", "wish": wish, "space": wish["space"]}
    if not visit.read("confirmed"):
        values |= {"ticket": visit.site.tickets.make(visit.principal.credential)}
        values |= {"held": await find_grant(visit, wish["actor"])}
        return visit.show("token.html", values)
    # A browser that loads the answer again sends the form again, which must not make a token.
    if visit.site.tickets.use(visit.read("ticket")) != (visit.principal.credential,):
        raise SentTwice
    values |= {"example": visit.site.own_machine and not visit.site.settings.public_url}
    values |= {"step": "made", "address": find_address(visit), "token": await _make(visit, **wish)}
    return visit.show("token.html", values)


def find_address(visit: PageRequest) -> str:
    """Return where clients reach the server. On an own machine, only PUBLIC_URL tells it."""
    here = str(visit.request.base_url.replace(path="")).rstrip("/")
    own = "https://memory.example.com" if visit.site.own_machine else here
    base = (visit.site.settings.public_url or own).rstrip("/")
    return f"{base}/mcp"


async def ask_revocation(visit: PageRequest) -> Response:
    """Show which token would be revoked."""
    _require_owner(visit)
    values = {"token": await _find_token(visit, visit.read("token")), "space": require_place(visit)}
    return visit.show("revoke.html", values)


async def revoke(visit: PageRequest) -> Response:
    """Revoke a token. The form is the confirmation of the person."""
    _require_owner(visit)
    space = require_place(visit)
    token = await _find_token(visit, visit.read("token"))
    async with open_owner(visit) as owner:
        await owner.call("revoke_token", RevokedTokenRow, name=str(token.id))
    visit.site.directory.forget(token.actor)
    return RedirectResponse(write_link("tokens", space=space), 303)


def _read_days(text: str) -> int:
    """Return after how many days a token expires, or 0 for never. Raises FieldInvalid."""
    days = read_number(text, least=0, most=_LONGEST_DAYS + 1, default=_LONGEST_DAYS + 1)
    if days > _LONGEST_DAYS:
        fix = f"Write a whole number of days from 1 to {_LONGEST_DAYS:,}, or 0 for no end"
        raise FieldInvalid("days", "It is not clear when the token expires", fix)
    return days


async def _make(visit: PageRequest, space: str, actor: str, scopes: list[Scope], days: int) -> str:
    text = make_token()
    async with open_owner(visit) as owner:
        await owner.call(
            "create_token",
            int,
            hash=hash_token(text),
            prefix=shorten_token(text),
            actor=actor,
            space=space,
            scopes=scopes,
            expires_at=datetime.now(UTC) + timedelta(days=days) if days else None,
        )
    return text


async def _find_token(visit: PageRequest, number: str) -> TokenListRow:
    """Return a valid token of the space by its id. Raises ArgumentInvalid."""
    for token in await _list_tokens(visit):
        if str(token.id) == number and token.state == "valid":
            return token
    raise ArgumentInvalid("Look at the tokens again", title="There is no such valid token")


async def _list_tokens(visit: PageRequest) -> list[TokenListRow]:
    rows = await visit.call_anywhere("list_tokens", TokenListRow)
    return [row for row in rows if row.home in visit.administered]


def _is_owner(visit: PageRequest) -> bool:
    return visit.site.open_owner is not None and not visit.site.settings.read_only


def _require_owner(visit: PageRequest) -> None:
    """Raise ScopeMissing, ReadOnly, or OwnerNeeded unless the person owns the memory."""
    visit.principal.require("admin", anywhere=True)
    visit.require_writable()
    if not _is_owner(visit):
        raise OwnerNeeded


@asynccontextmanager
async def open_owner(visit: PageRequest) -> AsyncGenerator[Database]:
    """Open the memory as its owner. Raises OwnerNeeded."""
    if visit.site.open_owner is None:
        raise OwnerNeeded
    try:
        async with visit.site.open_owner() as owner:
            yield owner
    except StartRefused as refused:
        raise OwnerNeeded(str(refused)) from refused
    except DataRefused as refused:
        raise refused.explain() from None
