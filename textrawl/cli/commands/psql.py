"""`textrawl psql`: the memory in psql, as somebody who can only read."""

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

from textrawl.cli.console import open_progress
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inspection import is_pooled, require_analyst, require_memory
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import ANALYST, OWNER
from textrawl.embedded.programs import find_installed
from textrawl.errors import StartRefused
from textrawl.postgres.conninfo import read_conninfo, write_conninfo
from textrawl.postgres.migrations import migrate
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
    settings, given = read_settings(), arguments or []

    async def run() -> int:
        async with _find_place(settings, name) as (conninfo, programs):
            if not given and sys.stdin.isatty():
                _greet()
            return await _talk([_choose_program(programs), *_PLAIN], conninfo, given)

    # An interrupt is for the statement that psql runs, and for psql alone.
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
    """Where to connect to and as whom, and the programs of a Postgres that runs here."""
    if settings.database_url is not None:
        conninfo, timeout = settings.database_url.get_secret_value(), settings.database_timeout
        if name is None:
            pooled = await require_analyst(conninfo, timeout=timeout)
        else:
            pooled = await is_pooled(conninfo, timeout=timeout)
        yield (_log_in(conninfo, name) if pooled else _restrict(conninfo, name)), None
        return
    await require_memory(settings)
    async with run_embedded(settings.data_dir) as cluster:
        await migrate(cluster.dsn(OWNER))
        yield _restrict(cluster.dsn(OWNER), name), cluster.bin_path


def _restrict(conninfo: str, name: str | None) -> str:
    """The same place, as the login `name`, else as its own login in the role of analysts."""
    known = read_conninfo(conninfo)
    options = f"{known.get('options') or ''} {_READING}".strip()
    if name is None:
        return write_conninfo(conninfo, options=f"{options} -c role={ANALYST}")
    return write_conninfo(_log_in(conninfo, name), options=options)


def _log_in(conninfo: str, name: str | None) -> str:
    """The same place as the login `name`, which has a password of its own."""
    if name is None:
        return conninfo
    known = read_conninfo(conninfo)
    kept = {key: value for key, value in known.items() if key != "password"}
    return write_conninfo("", **(kept | {"user": name}))


def _choose_program(programs: Path | None) -> str:
    """The psql of the Postgres that runs here, else the one on PATH, else the one we came with."""
    if programs is None and (found := shutil.which("psql")):
        return found
    program = (programs or find_installed(_VERSION)) / "psql"
    if not program.is_file():
        raise StartRefused("There is no psql: install the client programs of PostgreSQL")
    return str(program)


async def _talk(command: Sequence[str], conninfo: str, arguments: Sequence[str]) -> int:
    """Runs psql in this terminal; its exit code. The password is in no list of processes."""
    known = read_conninfo(conninfo)
    environment = read_foreign_environment()
    if password := known.pop("password", None):
        environment["PGPASSWORD"] = str(password)
    whole = [*command, write_conninfo("", **known), *arguments]
    async with await anyio.open_process(
        whole, stdin=None, stdout=None, stderr=None, env=environment
    ) as process:
        return await process.wait()


def _greet() -> None:
    """What there is to read, on stderr."""
    console = open_progress()
    table = Table.grid(padding=(0, 2))
    for name, told in describe_views().items():
        table.add_row(Text(name, style="bold"), Text(told))
    console.print("The memory, to read. Views:\n")
    console.print(table)
    console.print(
        "\nFunctions: search_memory, similar_to, entity_context, neighbours, path_between, as_of, "
        "memory_diff.\nTry  table memory_stale;  \\d+ memory_recalls  \\df+ search_memory\n"
    )
