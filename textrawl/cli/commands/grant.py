"""`textrawl grant`: who may do what in which space."""

from typing import Annotated

import typer

from textrawl.cli.administration import (
    Administration,
    administer,
    draw_rows,
    read_scopes,
    tell,
    write_instant,
    write_plain,
)
from textrawl.cli.console import open_console, write_json
from textrawl.cli.rows import BoundLoginRow, GrantedRow, GrantListRow, WithdrawnRow
from textrawl.values.text import clean_name

grant = typer.Typer(help="Set, list and revoke what actors may do in spaces.", no_args_is_help=True)

Actor = Annotated[
    str, typer.Argument(metavar="ACTOR", parser=clean_name, help="A person or an agent.")
]
Space = Annotated[str, typer.Argument(metavar="SPACE", parser=clean_name, help="Name of a space.")]
Scopes = Annotated[
    str,
    typer.Option(
        metavar="SCOPES", help="Any of read, write, forget, admin and metrics, separated by commas."
    ),
]
Login = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE", parser=clean_name, help="Let this database login read as the actor."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


@grant.command(name="set")
def set_grant(
    actor: Actor,
    space: Space,
    scope: Scopes,
    login: Login = None,
    as_json: AsJson = False,
) -> None:
    """Set what an actor may do in a space. This replaces the earlier grant.

    A token can use a scope only if both the token and its actor's grant include it. With --login, a
    database login such as an analyst's can read in psql what the actor may read.
    """
    scopes = read_scopes(scope)

    async def work(memory: Administration) -> tuple[list[str], bool]:
        may_read = True
        if login is not None:
            [bound] = await memory.call("bind_login", BoundLoginRow, actor=actor, role_name=login)
            may_read = bound.bind_login
        [row] = await memory.call(
            "grant_access", GrantedRow, actor=actor, space=space, scopes=scopes,
            credential=memory.credential,
        )  # fmt: skip
        return row.grant_access, may_read

    given, may_read = administer(work, owned=login is not None)
    if as_json:
        write_json({"actor": actor, "space": space, "scopes": given})
    tell(f"{actor} may {', '.join(given)} in {space}.")
    if not may_read:
        tell(f"{login} sees nothing yet: run `grant textrawl_analyst to {login}`.")


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
    """Show who may do what."""

    async def work(memory: Administration) -> list[GrantListRow]:
        return await memory.call(
            "list_grants", GrantListRow, space=space, credential=memory.credential
        )

    rows = administer(work, owned=False)
    if as_json:
        write_json([_plain(row) for row in rows])
    elif not rows:
        tell("Nothing is granted to anybody yet: see `textrawl grant set --help`.")
    else:
        columns = ("space", "actor", "scopes", "granted", "login")
        lines = [
            (row.space_name, row.actor_name, ", ".join(row.scopes),
             write_instant(row.granted_at, ""), row.login or "") for row in rows
        ]  # fmt: skip
        open_console().print(draw_rows(columns, lines))


def _plain(row: GrantListRow) -> dict[str, object]:
    return write_plain(
        {"space": row.space_name, "actor": row.actor_name, "scopes": row.scopes,
         "granted_at": row.granted_at, "login": row.login}
    )  # fmt: skip


@grant.command()
def revoke(actor: Actor, space: Space) -> None:
    """Revoke everything that an actor was granted in a space; their tokens lose it at once."""

    async def work(memory: Administration) -> WithdrawnRow:
        [row] = await memory.call(
            "revoke_access", WithdrawnRow, actor=actor, space=space, credential=memory.credential
        )
        return row

    taken = administer(work, owned=False).revoke_access
    tell(f"{actor} may do nothing in {space} any more; it was {', '.join(taken)}.")
