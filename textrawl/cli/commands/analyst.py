"""`textrawl analyst`: logins that read the memory in SQL."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from textrawl.cli.administration import call_database
from textrawl.cli.console import show_rows, write_json, write_message
from textrawl.cli.inputs import AsJson
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.postgres.connection import make_password, write_verifier
from textrawl.settings import read_settings
from textrawl.values.text import clean_name

analyst = typer.Typer(
    help="Create, list and drop logins that read the memory in SQL.", no_args_is_help=True
)

_Name = Annotated[
    str, typer.Argument(metavar="NAME", parser=clean_name, help="Name of the database login.")
]
_Spaces = Annotated[
    list[str],
    typer.Option(metavar="SPACE", help="A space that the login can read; can be repeated."),
]
_Actor = Annotated[
    str | None,
    typer.Option(
        metavar="ACTOR",
        parser=clean_name,
        help="The actor that the login belongs to; default: NAME.",
    ),
]


@dataclass(frozen=True)
class _AnalystRow:
    """A row of list_analysts."""

    login: str
    actor: str | None
    spaces: str | None
    sessions: int
    most_sessions: int | None


@analyst.callback()
def group() -> None:
    """Manage logins that read the memory in SQL."""


@analyst.command()
def create(name: _Name, space: _Spaces, actor: _Actor = None, as_json: AsJson = False) -> None:
    """Create a login that can only read spaces, and write its password to stdout.

    The password is not shown again. On the embedded Postgres the login does not have a password:
    use `textrawl psql --as NAME`.
    """
    embedded = read_settings().database_url is None
    password = None if embedded else make_password()
    spaces = [clean_name(text) for text in space]
    call_database(
        "create_analyst",
        str,
        role=SUPERUSER,
        login=name,
        actor=actor or name,
        spaces=spaces,
        verifier=write_verifier(password) if password else None,
    )
    if as_json:
        write_json({"login": name, "actor": actor or name, "spaces": spaces, "password": password})
    elif password:
        sys.stdout.write(f"{password}\n")
    note = " Its password is not shown again." if password else ""
    write_message(f"{name} can read {', '.join(spaces)}: `textrawl psql --as {name}`.{note}")


@analyst.command(name="list")
def list_analysts(as_json: AsJson = False) -> None:
    """Show the logins of analysts with their actors and the spaces that they can read."""
    rows = call_database("list_analysts", _AnalystRow)
    columns = ("login", "actor", "spaces", "sessions")
    none = "There are no analysts yet: see `textrawl analyst create --help`."
    show_rows(rows, columns, _list_cells, as_json=as_json, none=none)


def _list_cells(row: _AnalystRow) -> list[str]:
    most = "no limit" if row.most_sessions is None else f"at most {row.most_sessions}"
    return [row.login, row.actor or "", row.spaces or "none", f"{row.sessions} ({most})"]


@analyst.command()
def drop(name: _Name, as_json: AsJson = False) -> None:
    """Drop a login with its sessions and the grants that `textrawl analyst create` made for it.

    The actor's tokens and other grants are kept.
    """
    [spaces] = call_database("drop_analyst", list[str], role=SUPERUSER, login=name)
    if as_json:
        write_json({"login": name, "spaces": spaces})
    note = f" Its grants in {', '.join(spaces)} are revoked." if spaces else ""
    write_message(f"{name} is dropped.{note}")
