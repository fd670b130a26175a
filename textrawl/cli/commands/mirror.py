"""The command `mirror`."""

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from textrawl.archive.note_folder import FolderFormat, NoteFolder, export_folder
from textrawl.cli.administration import open_login
from textrawl.cli.commands.archive import report_folder
from textrawl.cli.console import write_message
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.cluster.opening import open_connection
from textrawl.cluster.owner_session import open_snapshot
from textrawl.errors import DatabaseUnavailable
from textrawl.memory.watches import Notify, Watch, Watches
from textrawl.postgres.connection import OwnerLogin
from textrawl.settings import Settings, read_settings
from textrawl.values.text import clean_name

_SHORTEST_PAUSE = 1.0  # seconds between two exports
_SHARE = 4  # an export takes a fifth of the time at most, however often the memory changes
_LONGEST_WAIT = 3600.0  # seconds; a fact that ends at its time changes nothing in the trail


def mirror(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the notes.")],
    kind: Annotated[
        FolderFormat, typer.Option("--to", help="As of `textrawl export --to`.")
    ] = "obsidian",
    space: Annotated[
        list[str] | None,
        typer.Option(metavar="SPACE", parser=clean_name, help="Only this space; can be repeated."),
    ] = None,
) -> None:
    """Keep a folder of notes equal to the memory.

    The command writes the folder as `textrawl export --to` does, and again within seconds after
    each change, whoever made it, until Ctrl-C. Notes that somebody has edited are kept and named.
    """
    settings = read_settings()
    write_message(f"Keeping the notes in {folder} current. Ctrl-C ends.")
    try:
        run_foreground(partial(_mirror, settings, folder.absolute(), kind, space or []))
    except Interrupted:
        return  # the regular way to end


async def _mirror(settings: Settings, root: Path, form: FolderFormat, spaces: list[str]) -> None:
    async with (
        open_login(settings) as login,
        open_connection(login.conninfo, timeout=login.timeout) as database,
        anyio.create_task_group() as group,
    ):
        watches = Watches(database)
        group.start_soon(watches.run)
        while True:
            try:
                await _follow(watches, login, root, form, spaces)
            except DatabaseUnavailable as error:
                write_message(f"Waiting for the database: {error}")
                await anyio.sleep(_SHORTEST_PAUSE * _SHARE)


async def _follow(
    watches: Watches, login: OwnerLogin, root: Path, form: FolderFormat, spaces: list[str]
) -> None:
    """Write the folder, and return after the next change."""
    changed = anyio.Event()

    async def note() -> None:
        changed.set()

    begin = time.monotonic()
    async with open_snapshot(login) as session:
        names = spaces or list(await session.find_spaces())
    wanted: dict[Watch, Notify] = {Watch(digest=name): note for name in names}
    # Before the export, so that a change during the export is not missed.
    remove = await watches.add({Watch(list=True): note, **wanted})
    try:
        async with open_snapshot(login) as session:
            folder = NoteFolder(root)
            counts = await export_folder(session, folder, form, spaces, lambda _: None)
        if counts.written or counts.removed:
            report_folder(counts)
        await anyio.sleep(max(_SHORTEST_PAUSE, _SHARE * (time.monotonic() - begin)))
        with anyio.move_on_after(_LONGEST_WAIT):
            await changed.wait()
    finally:
        remove()
