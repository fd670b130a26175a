"""`textrawl restore`: a backup, restored into an empty database."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from textrawl.archive.dumps import Backup
from textrawl.archive.restoration import restore_backup
from textrawl.cli.commands.backup import describe_backup, open_place
from textrawl.cli.console import open_console, show_wait, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.settings import Settings, read_settings


def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `textrawl backup` wrote.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Restore a backup into an empty database.

    A backup of an older version is migrated. If anything goes wrong, nothing has changed. Restore
    only files that you trust: they contain functions, which the database runs.
    """
    settings = read_settings()
    with show_wait("Restoring the backup"):
        restored = run_foreground(lambda: _restore(settings, file.absolute()))
    if as_json:
        write_json(asdict(restored))
    else:
        open_console().print(Text(f"Restored {describe_backup(restored)}."), soft_wrap=True)


async def _restore(settings: Settings, file: Path) -> Backup:
    async with open_place(settings, empty=True) as place:
        return await restore_backup(place, file)
