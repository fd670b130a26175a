"""`textrawl grant`: rights of actors in spaces."""

from typing import Annotated

import typer

from textrawl.access.access_token import GrantListRow
from textrawl.cli.administration import (
    Administration,
    administer,
    call_database,
    read_scopes,
)
from textrawl.cli.console import draw_rows, open_console, write_instant, write_json, write_message
from textrawl.cli.inputs import AsJson, Scopes
from textrawl.values.text import clean_name

grant = typer.Typer(help="Set, list and revoke what actors may do in spaces.", no_args_is_help=True)

Actor = Annotated[
    str, typer.Argument(metavar="ACTOR", parser=clean_name, help="A person or an agent.")
]
Space = Annotated[str, typer.Argument(metavar="SPACE", parser=clean_name, help="Name of a space.")]
Login = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE", parser=clean_name, help="Let this database login read as the actor."
    ),
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

    granted, may_read = administer(work, owned=login is not None)
    if as_json:
        write_json({"actor": actor, "space": space, "scopes": granted})
    write_message(f"{actor} may {', '.join(granted)} in {space}.")
    if not may_read:
        write_message(f"{login} cannot read yet: run `grant textrawl_analyst to {login}` in SQL.")


@grant.command(name="list")
def list_grants(
    space: Annotated[
        str | None,
        typer.Argument(
            metavar="SPACE",
            parser=clean_name,
            help="Only this space; default: every space you administer.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the grants: the scopes of each actor in each space."""
    rows = call_database("list_grants", GrantListRow, owned=False, space=space)
    if as_json:
        write_json([_write_plain(row) for row in rows])
    elif not rows:
        write_message("There are no grants yet: see `textrawl grant set --help`.")
    else:
        columns = ("space", "actor", "scopes", "granted", "login")
        open_console().print(draw_rows(columns, [_list_cells(row) for row in rows]))


def _list_cells(row: GrantListRow) -> list[str]:
    scopes, granted_at = ", ".join(row.scopes), write_instant(row.granted_at, "")
    return [row.space_name, row.actor_name, scopes, granted_at, row.login or ""]


def _write_plain(row: GrantListRow) -> dict[str, object]:
    return {
        "space": row.space_name,
        "actor": row.actor_name,
        "scopes": row.scopes,
        "granted_at": row.granted_at,
        "login": row.login,
    }


@grant.command()
def revoke(actor: Actor, space: Space) -> None:
    """Revoke all scopes of an actor in a space. The actor's tokens lose them immediately."""
    [revoked] = call_database("revoke_access", list[str], owned=False, actor=actor, space=space)
    write_message(f"{actor} has no scopes in {space} any more. Revoked: {', '.join(revoked)}.")
