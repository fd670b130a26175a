"""`textrawl restore`: a backup, restored into an empty database."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from textrawl.archive.dumps import Backup
from textrawl.archive.restoration import restore_backup
from textrawl.cli.commands.backup import describe_backup
from textrawl.cli.console import open_console, show_wait, write_json, write_message
from textrawl.cli.database_access import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.settings import Settings, read_settings

_UNCHECKED = (
    "This backup has no checksum, because an older version wrote it. Its rows were counted, but a "
    "changed byte may stay unnoticed"
)


def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `textrawl backup` wrote.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Restore a backup into an empty database.

    A file that was changed after `textrawl backup` wrote it is refused. A backup of an older
    version is migrated. If anything goes wrong, nothing is changed. Restore only files that you
    trust, because a backup contains functions that the database runs.
    """
    settings = read_settings()
    with show_wait("Restoring the backup"):
        restored = run_foreground(lambda: _restore(settings, file.absolute()))
    if restored.sha256 is None:
        write_message(_UNCHECKED)
    if as_json:
        write_json(asdict(restored))
    else:
        open_console().print(Text(f"Restored {describe_backup(restored)}."), soft_wrap=True)


async def _restore(settings: Settings, file: Path) -> Backup:
    async with open_login(settings, empty=True, any_version=True) as login:
        return await restore_backup(login, file)
