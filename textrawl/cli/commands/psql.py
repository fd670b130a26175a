"""`textrawl psql`: psql on the memory, as a role that can only read."""

import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.table import Table
from rich.text import Text

from textrawl.cli.administration import open_login
from textrawl.cli.console import open_progress
from textrawl.cli.foreground import run_foreground
from textrawl.embedded.cluster import find_installed
from textrawl.embedded.postmaster import ANALYST
from textrawl.errors import StartRefused
from textrawl.postgres.connection import read_conninfo, write_conninfo
from textrawl.postgres.inspection import is_pooled, require_analyst
from textrawl.postgres.sql_files import describe_views
from textrawl.settings import Settings, read_foreign_environment, read_settings

_VERSION = 18
_READING = "-c default_transaction_read_only=on -c search_path=textrawl,public"
_PLAIN = ["-P", "expanded=auto", "-v", "ON_ERROR_ROLLBACK=interactive"]


def psql(
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="Login of an analyst; default: the login of TEXTRAWL_DATABASE_URL.",
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ARGUMENTS]", help="Arguments of psql, such as -c STATEMENT."),
    ] = None,
) -> None:
    """Open psql on the memory, as a role that can only read.

    On the embedded Postgres the default is an analyst of all spaces.
    """
    settings, options = read_settings(), arguments or []

    async def run() -> int:
        async with _find_place(settings, name) as (conninfo, programs):
            if not options and sys.stdin.isatty():
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
