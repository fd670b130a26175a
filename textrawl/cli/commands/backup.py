"""`textrawl backup`: a whole memory in a file."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from textrawl.archive.dumps import Backup, write_backup
from textrawl.cli.console import count, open_console, show_wait, write_json
from textrawl.cli.database_access import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.settings import Settings, read_settings


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Write the whole memory to a file.

    The file is a dump of pg_dump with content, vectors, spaces, tokens, grants and the trail. The
    command reads the dump back and counts its rows before it gives the file its name.
    TEXTRAWL_DATABASE_URL needs the rights of the database's owner. Passwords of database logins are
    not in the file.
    """
    settings = read_settings()
    with show_wait("Writing the backup"):
        written = run_foreground(lambda: _back_up(settings, file.absolute(), force=force))
    if as_json:
        write_json(asdict(written))
    else:
        open_console().print(Text(f"Wrote {describe_backup(written)}."), soft_wrap=True)


async def _back_up(settings: Settings, file: Path, *, force: bool) -> Backup:
    async with open_login(settings, any_version=True) as login:
        return await write_backup(login, file, force=force)


def describe_backup(backup: Backup) -> str:
    """Return the file, its size and its contents in one line."""
    rows = sum(backup.tables.values())
    size = f"{backup.bytes / 1e6:,.1f} MB"
    contents = (count(backup.facts, "fact"), count(len(backup.tables), "table"), count(rows, "row"))
    return f"{backup.file}: {size}, {', '.join(contents)}"
