"""The commands `analyst` and `psql`: logins that read the memory in SQL, and psql for them."""

import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.table import Table
from rich.text import Text

from textrawl.cli.administration import call_database, open_login
from textrawl.cli.console import can_ask, open_progress, show_rows, write_json, write_message
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, argument, option
from textrawl.embedded.cluster import find_installed
from textrawl.embedded.postmaster import ANALYST, SUPERUSER
from textrawl.errors import StartRefused
from textrawl.postgres.connection import (
    make_password,
    read_conninfo,
    write_conninfo,
    write_verifier,
)
from textrawl.postgres.inspection import is_pooled, require_analyst
from textrawl.postgres.sql_files import describe_views
from textrawl.settings import Settings, read_foreign_environment, read_settings
from textrawl.values.text import clean_name

analyst = typer.Typer(no_args_is_help=True)

_Name = Annotated[str, argument("NAME", "Name of the database login.", clean_name)]
_Spaces = Annotated[list[str], option("SPACE", "A space that the login can read; can be repeated.")]
_Actor = Annotated[
    str | None, option("ACTOR", "The actor that the login belongs to; default: NAME.", clean_name)
]


@dataclass(frozen=True)
class _AnalystRow:
    """A row of list_analysts."""

    login: str
    actor: str | None
    spaces: str | None
    sessions: int
    most_sessions: int | None


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
        changes_memory=False,
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
    rows = call_database("list_analysts", _AnalystRow, changes_memory=False)
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
    [spaces] = call_database(
        "drop_analyst", list[str], role=SUPERUSER, changes_memory=False, login=name
    )
    if as_json:
        write_json({"login": name, "spaces": spaces})
    note = f" Its grants in {', '.join(spaces)} are revoked." if spaces else ""
    write_message(f"{name} is dropped.{note}")


_VERSION = 18
_READING = "-c default_transaction_read_only=on -c search_path=textrawl,public"
_PLAIN = ["-P", "expanded=auto", "-v", "ON_ERROR_ROLLBACK=interactive"]


def psql(
    name: Annotated[
        str | None,
        option("--as NAME", "Login of an analyst; default: the login of TEXTRAWL_DATABASE_URL."),
    ] = None,
    arguments: Annotated[
        list[str] | None, argument("[ARGUMENTS]", "Arguments of psql, such as -c STATEMENT.")
    ] = None,
) -> None:
    """Open psql on the memory, as a role that can only read.

    On the embedded Postgres the default is an analyst of all spaces.
    """
    settings, options = read_settings(), arguments or []

    async def run() -> int:
        async with _find_place(settings, name) as (conninfo, programs):
            if not options and can_ask():
                _list_views()
            return await _run_psql([_choose_program(programs), *_PLAIN], conninfo, options)

    # Ctrl-C has to end the statement that psql runs, not this process.
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = run_foreground(run, signals=(signal.SIGTERM, signal.SIGHUP))
    finally:
        signal.signal(signal.SIGINT, former)
    raise typer.Exit(code)


@asynccontextmanager
async def _find_place(
    settings: Settings, name: str | None
) -> AsyncGenerator[tuple[str, Path | None]]:
    """Yield the connection string, and the programs of the embedded Postgres if it is used."""
    if settings.database_url is not None:
        conninfo, timeout = settings.database_url.get_secret_value(), settings.database_timeout
        if name is None:
            pooled = await require_analyst(conninfo, timeout=timeout)
        else:
            pooled = await is_pooled(conninfo, timeout=timeout)
        yield (_log_in(conninfo, name) if pooled else _restrict(conninfo, name)), None
        return
    async with open_login(settings) as login:
        yield _restrict(login.conninfo, name), login.programs


def _restrict(conninfo: str, name: str | None) -> str:
    """Return `conninfo` made read-only, with the login `name` or else the role of analysts."""
    parameters = read_conninfo(conninfo)
    options = f"{parameters.get('options') or ''} {_READING}".strip()
    if name is None:
        return write_conninfo(conninfo, options=f"{options} -c role={ANALYST}")
    return write_conninfo(_log_in(conninfo, name), options=options)


def _log_in(conninfo: str, name: str | None) -> str:
    """Return `conninfo` with the login `name`, without the password of the former login."""
    if name is None:
        return conninfo
    parameters = read_conninfo(conninfo)
    kept = {key: value for key, value in parameters.items() if key != "password"}
    return write_conninfo("", **(kept | {"user": name}))


def _choose_program(programs: Path | None) -> str:
    """Return a path of psql: in `programs`, or else on PATH, or else in the Postgres package."""
    if programs is None and (found := shutil.which("psql")):
        return found
    program = (programs or find_installed(_VERSION)) / "psql"
    if not program.is_file():
        raise StartRefused("There is no psql: install the client programs of PostgreSQL")
    return str(program)


async def _run_psql(command: Sequence[str], conninfo: str, arguments: Sequence[str]) -> int:
    """Run psql in this terminal and return its exit code.

    The password is passed in the environment, because everybody can list the arguments of a
    process.
    """
    parameters = read_conninfo(conninfo)
    environment = read_foreign_environment()
    if password := parameters.pop("password", None):
        environment["PGPASSWORD"] = str(password)
    full_command = [*command, write_conninfo("", **parameters), *arguments]
    async with await anyio.open_process(
        full_command, stdin=None, stdout=None, stderr=None, env=environment
    ) as process:
        return await process.wait()


def _list_views() -> None:
    """Write the views, functions and first steps to stderr."""
    console = open_progress()
    table = Table.grid(padding=(0, 2))
    for name, comment in describe_views().items():
        table.add_row(Text(name, style="bold"), Text(comment))
    console.print("This role can only read. Views:\n")
    console.print(table)
    console.print(
        "\nFunctions: search_memory, similar_to, entity_context, neighbours, path_between, as_of, "
        "memory_diff.\nTry  table memory_stale;  \\d+ memory_recalls  \\df+ search_memory\n"
    )
