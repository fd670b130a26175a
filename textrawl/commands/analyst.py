"""`textrawl analyst`: logins that read the memory in SQL."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from textrawl.commands.administration import Administration, administer, tell
from textrawl.commands.console import write_json
from textrawl.embedded.configuration import SUPERUSER
from textrawl.passwords import make_password, write_verifier
from textrawl.settings import read_settings
from textrawl.texts import clean_name

analyst = typer.Typer(help="Logins that read the memory in SQL.", no_args_is_help=True)


@dataclass(frozen=True)
class _Made:
    create_analyst: str | None  # void


@analyst.callback()
def group() -> None:
    """Logins that read the memory in SQL."""


@analyst.command()
def create(
    name: Annotated[
        str, typer.Argument(metavar="NAME", parser=clean_name, help="Of the database login.")
    ],
    space: Annotated[
        list[str], typer.Option(metavar="SPACE", help="What it reads; once for each.")
    ],
    actor: Annotated[
        str | None,
        typer.Option(metavar="ACTOR", parser=clean_name, help="Whose it is; unset: NAME."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Make a login that reads spaces and changes nothing; its password is written to stdout.

    The password is not shown again. The embedded Postgres has none: `textrawl psql --as NAME`.
    """
    embedded = read_settings().database_url is None
    password = None if embedded else make_password()
    spaces = [clean_name(one) for one in space]

    async def work(memory: Administration) -> None:
        await memory.call(
            "create_analyst", _Made, login=name, actor=actor or name, spaces=spaces,
            verifier=write_verifier(password) if password else None,
        )  # fmt: skip

    administer(work, role=SUPERUSER)
    if as_json:
        write_json({"login": name, "actor": actor or name, "spaces": spaces, "password": password})
    elif password:
        sys.stdout.write(f"{password}\n")
    told = " Its password is not shown again." if password else ""
    tell(f"{name} reads {', '.join(spaces)}: `textrawl psql --as {name}`.{told}")
