"""`textrawl token`: access tokens of people and agents."""

import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from textrawl.access.access_token import (
    RevokedTokenRow,
    RotatedTokenRow,
    TokenListRow,
    hash_token,
    is_token,
    make_token,
    shorten_token,
)
from textrawl.cli.administration import call_database, find_end, read_scopes, read_span
from textrawl.cli.console import show_rows, write_instant, write_json, write_message
from textrawl.cli.inputs import AsJson, Scopes
from textrawl.values.text import clean_name

token = typer.Typer(help="Create, list, rotate and revoke access tokens.", no_args_is_help=True)

Name = Annotated[
    str,
    typer.Argument(
        metavar="PREFIX", parser=clean_name, help="First 10 characters of the token, or its id."
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(
        metavar="SPAN", help="How long the token is valid, such as 90d; default: forever."
    ),
]
_NewExpires = Annotated[
    str | None,
    typer.Option(
        metavar="SPAN",
        help="How long the new token is valid; default: until the old token would have expired.",
    ),
]
Issuer = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Servers with this token accept access tokens of this TEXTRAWL_OAUTH_ISSUER.",
    ),
]


_Actor = Annotated[
    str,
    typer.Option(
        metavar="ACTOR",
        parser=clean_name,
        help="The actor of the token; created if it does not exist.",
    ),
]
_Space = Annotated[
    str, typer.Option(metavar="SPACE", parser=clean_name, help="Home space: writes go to it.")
]


@token.command()
def create(
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
    rights: dict[str, Any] = {
        "actor": actor,
        "space": space,
        "scopes": scopes,
        "expires_at": expires_at,
    }
    [number] = call_database(
        "create_token",
        int,
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
    rows = call_database("list_tokens", TokenListRow, owned=False)
    columns = ("prefix", "actor", "home", "scopes", "created", "last used", "expires", "state")
    none = "There are no tokens yet: see `textrawl token create --help`."
    show_rows(rows, columns, _list_cells, as_json=as_json, none=none)


def _list_cells(row: TokenListRow) -> list[str]:
    return [
        row.prefix,
        row.actor,
        row.home or "",
        ", ".join(row.scopes),
        write_instant(row.created_at, ""),
        write_instant(row.last_used_at, "never"),
        write_instant(row.expires_at, "never"),
        row.state,
    ]


@token.command()
def revoke(name: Name) -> None:
    """Revoke a token: servers refuse it within a second."""
    [row] = call_database("revoke_token", RevokedTokenRow, name=_shorten(name))
    write_message(
        f"{row.prefix} of {row.actor} was revoked at {write_instant(row.revoked_at, '')} UTC."
    )


@token.command()
def rotate(
    name: Name,
    overlap: Annotated[
        str, typer.Option(metavar="SPAN", help="How long both tokens are valid.")
    ] = "1h",
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
        name=_shorten(name),
        hash=hash_token(text),
        prefix=shorten_token(text),
        overlap=span,
        expires_at=expires_at,
    )
    _write_token(text, _list_details(row), as_json=as_json)
    write_message(
        f"{shorten_token(text)} of {row.actor} {_write_end(row.ends_at)}; the old token "
        f"{_write_end(row.former_ends_at)}. The new token is not shown again."
    )


def _list_details(row: RotatedTokenRow) -> dict[str, object]:
    return {
        "id": row.token,
        "actor": row.actor,
        "space": row.home,
        "scopes": row.scopes,
        "expires_at": row.ends_at,
        "former_expires_at": row.former_ends_at,
    }


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
