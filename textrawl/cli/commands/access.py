"""The commands `grant` and `token`: rights of actors in spaces, and access tokens."""

import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from textrawl.access.access_token import (
    GrantListRow,
    RevokedTokenRow,
    RotatedTokenRow,
    TokenListRow,
    hash_token,
    is_token,
    make_token,
    shorten_token,
)
from textrawl.cli.administration import (
    Administration,
    administer,
    call_database,
    find_end,
    read_scopes,
)
from textrawl.cli.console import (
    show_rows,
    write_instant,
    write_json,
    write_message,
)
from textrawl.cli.inputs import AsJson, Scopes, argument, option, read_span
from textrawl.values.text import clean_name

grant = typer.Typer(no_args_is_help=True)

Actor = Annotated[str, argument("ACTOR", "A person or an agent.", clean_name)]
Space = Annotated[str, argument("SPACE", "Name of a space.", clean_name)]
Login = Annotated[
    str | None, option("ROLE", "Let this database login read as the actor.", clean_name)
]


@grant.command(name="set")
def set_grant(
    actor: Actor,
    space: Space,
    scope: Scopes,
    login: Login = None,
    as_json: AsJson = False,
) -> None:
    """Set what an actor may do in a space. This replaces the earlier grant.

    A token can use a scope only if both the token and its actor's grant include the scope. With
    --login, the database login ROLE can read the spaces that the actor can read.
    """
    scopes = read_scopes(scope)

    async def work(memory: Administration) -> tuple[list[str], bool]:
        may_read = True
        if login is not None:
            may_read = await memory.value("bind_login", bool, actor=actor, role_name=login)
        granted = await memory.value(
            "grant_access",
            list[str],
            actor=actor,
            space=space,
            scopes=scopes,
            credential=memory.credential,
        )
        return granted, may_read

    granted, may_read = administer(work, owned=login is not None, changes_memory=False)
    if as_json:
        write_json({"actor": actor, "space": space, "scopes": granted})
    write_message(f"{actor} may {', '.join(granted)} in {space}.")
    if not may_read:
        write_message(f"{login} cannot read yet: run `grant textrawl_analyst to {login}` in SQL.")


@grant.command(name="list")
def list_grants(
    space: Annotated[
        str | None,
        argument("SPACE", "Only this space; default: every space you administer.", clean_name),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the grants: the scopes of each actor in each space."""
    rows = call_database(
        "list_grants", GrantListRow, owned=False, changes_memory=False, space=space
    )
    show_rows(
        rows,
        ("space", "actor", "scopes", "granted", "login"),
        lambda row: [
            row.space_name,
            row.actor_name,
            ", ".join(row.scopes),
            write_instant(row.granted_at, ""),
            row.login or "",
        ],
        as_json=as_json,
        none="There are no grants yet: see `textrawl grant set --help`.",
        describe=_write_plain,
    )


def _write_plain(row: GrantListRow) -> dict[str, object]:
    return {
        "space": row.space_name,
        "actor": row.actor_name,
        "scopes": row.scopes,
        "granted_at": row.granted_at,
        "login": row.login,
    }


@grant.command(name="revoke")
def revoke_grant(actor: Actor, space: Space) -> None:
    """Revoke all scopes of an actor in a space. The actor's tokens lose them immediately."""
    [revoked] = call_database(
        "revoke_access", list[str], owned=False, changes_memory=False, actor=actor, space=space
    )
    write_message(f"{actor} has no scopes in {space} any more. Revoked: {', '.join(revoked)}.")


token = typer.Typer(no_args_is_help=True)

Prefix = Annotated[
    str, argument("PREFIX", "First 10 characters of the token, or its id.", clean_name)
]
Expires = Annotated[
    str | None, option("SPAN", "How long the token is valid, such as 90d; default: forever.")
]
_NewExpires = Annotated[
    str | None,
    option(
        "SPAN", "How long the new token is valid; default: until the old token would have expired."
    ),
]
Issuer = Annotated[
    str | None,
    option("URL", "Servers with this token accept access tokens of this TEXTRAWL_OAUTH_ISSUER."),
]


_Actor = Annotated[
    str, option("ACTOR", "The actor of the token; created if it does not exist.", clean_name)
]
_Space = Annotated[str, option("SPACE", "Home space: writes go to it.", clean_name)]


@token.command(name="create")
def create_token(
    actor: _Actor,
    space: _Space,
    scope: Scopes,
    expires: Expires = None,
    issuer: Issuer = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and write it to stdout.

    Only its hash is stored, so the token is not shown again. The actor is granted the same scopes
    in the home space. In another space the token can use a scope only if `textrawl grant` granted
    the scope to the actor there.
    """
    scopes, expires_at, text = read_scopes(scope), find_end(expires), make_token()
    ends = {"expires_at": expires_at}
    rights: dict[str, Any] = {"actor": actor, "space": space, "scopes": scopes, **ends}
    [number] = call_database(
        "create_token",
        int,
        changes_memory=False,
        hash=hash_token(text),
        prefix=shorten_token(text),
        issuer=issuer,
        **rights,
    )
    _write_token(text, {"id": number} | rights, as_json=as_json)
    write_message(
        f"{shorten_token(text)} of {actor}: scopes {', '.join(scopes)}; home space {space}; "
        f"{_write_end(expires_at)}. The token is not shown again."
    )


@token.command(name="list")
def list_tokens(as_json: AsJson = False) -> None:
    """List the tokens of the spaces that you administer. The owner sees all tokens.

    Only the first characters of a token are shown.
    """
    rows = call_database("list_tokens", TokenListRow, owned=False, changes_memory=False)
    show_rows(
        rows,
        ("prefix", "actor", "home", "scopes", "created", "last used", "expires", "state"),
        lambda row: [
            row.prefix,
            row.actor,
            row.home or "",
            ", ".join(row.scopes),
            write_instant(row.created_at, ""),
            write_instant(row.last_used_at, "never"),
            write_instant(row.expires_at, "never"),
            row.state,
        ],
        as_json=as_json,
        none="There are no tokens yet: see `textrawl token create --help`.",
    )


@token.command(name="revoke")
def revoke_token(name: Prefix) -> None:
    """Revoke a token: servers refuse it within a second."""
    [row] = call_database(
        "revoke_token", RevokedTokenRow, changes_memory=False, name=_shorten(name)
    )
    write_message(
        f"{row.prefix} of {row.actor} was revoked at {write_instant(row.revoked_at, '')} UTC."
    )


@token.command(name="rotate")
def rotate_token(
    name: Prefix,
    overlap: Annotated[str, option("SPAN", "How long both tokens are valid.")] = "1h",
    expires: _NewExpires = None,
    as_json: AsJson = False,
) -> None:
    """Create a token that replaces another token, and write it to stdout.

    The new token has the same scopes. The old token expires after the overlap.
    """
    span, expires_at, text = read_span(overlap), find_end(expires), make_token()
    [row] = call_database(
        "rotate_token",
        RotatedTokenRow,
        changes_memory=False,
        name=_shorten(name),
        hash=hash_token(text),
        prefix=shorten_token(text),
        overlap=span,
        expires_at=expires_at,
    )
    details = {
        "id": row.token,
        "actor": row.actor,
        "space": row.home,
        "scopes": row.scopes,
        "expires_at": row.ends_at,
        "former_expires_at": row.former_ends_at,
    }
    _write_token(text, details, as_json=as_json)
    write_message(
        f"{shorten_token(text)} of {row.actor} {_write_end(row.ends_at)}; the old token "
        f"{_write_end(row.former_ends_at)}. The new token is not shown again."
    )


def _write_token(text: str, details: Mapping[str, object], *, as_json: bool) -> None:
    """Write a token to stdout: as JSON, or without other text so that it can be piped."""
    if as_json:
        write_json({"token": text, "prefix": shorten_token(text)} | dict(details))
    else:
        sys.stdout.write(f"{text}\n")


def _write_end(end: datetime | None) -> str:
    return f"expires {write_instant(end, '')} UTC" if end else "never expires"


def _shorten(name: str) -> str:
    """Return the prefix of a token, so that a whole token never leaves this process."""
    return shorten_token(name) if is_token(name) else name
