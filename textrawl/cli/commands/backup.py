"""`textrawl backup`: all of a memory in a file."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from textrawl.archive.dumps import Backup, write_backup
from textrawl.cli.console import count, open_console, show_wait, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inspection import require_memory
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import OWNER
from textrawl.postgres.owner_login import OwnerLogin
from textrawl.settings import Settings, read_settings


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Write the whole memory to a file.

    The file is a dump of pg_dump with content, vectors, spaces, tokens, grants and the trail. It is
    read back and its rows are counted before it gets its name. TEXTRAWL_DATABASE_URL needs the
    rights of the database's owner. Passwords of database logins are not in the file.
    """
    settings = read_settings()
    with show_wait("Writing the backup"):
        written = run_foreground(lambda: _back_up(settings, file.absolute(), force=force))
    if as_json:
        write_json(asdict(written))
    else:
        open_console().print(Text(f"Wrote {describe_backup(written)}."), soft_wrap=True)


async def _back_up(settings: Settings, file: Path, *, force: bool) -> Backup:
    async with open_place(settings) as place:
        return await write_backup(place, file, force=force)


@asynccontextmanager
async def open_place(settings: Settings, *, empty: bool = False) -> AsyncGenerator[OwnerLogin]:
    """Open the memory of `settings`, of any version; with `empty` none needs to exist yet.

    Raises StartRefused, DatabaseUnavailable.
    """
    if settings.database_url is not None:
        conninfo = settings.database_url.get_secret_value()
        yield OwnerLogin(conninfo, None, settings.database_timeout)
        return
    if not empty:
        await require_memory(settings)
    async with run_embedded(settings.data_dir) as cluster:
        yield OwnerLogin(cluster.dsn(OWNER), cluster.bin_path, settings.database_timeout)


def describe_backup(backup: Backup) -> str:
    """Return the file, its size and its contents in one line."""
    rows = sum(backup.tables.values())
    size = f"{backup.bytes / 1e6:,.1f} MB"
    contents = (count(backup.facts, "fact"), count(len(backup.tables), "table"), count(rows, "row"))
    return f"{backup.file}: {size}, {', '.join(contents)}"
