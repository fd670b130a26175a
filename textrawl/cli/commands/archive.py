"""The commands `backup`, `restore` and `export`."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer
from rich.text import Text

from textrawl.archive.backups import Backup, count_facts, restore_backup, write_backup
from textrawl.archive.encryption import Identities, Recipients, read_identities, read_recipients
from textrawl.archive.exports import Export, write_server_memory, write_whole
from textrawl.archive.notes import FolderFormat, NoteCounts, NoteFolder, export_folder
from textrawl.archive.receipts import find_receipts
from textrawl.cli.administration import open_login
from textrawl.cli.console import (
    can_ask,
    count,
    open_console,
    show_progress,
    show_stages,
    write_json,
    write_message,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson
from textrawl.cluster.owner_session import open_snapshot
from textrawl.environment import read_sources
from textrawl.errors import ArgumentInvalid, StartRefused, require_writable
from textrawl.host.entrance import choose_host
from textrawl.host.running import keep_out
from textrawl.memory.opening import name_memory
from textrawl.settings import Settings, read_settings
from textrawl.values.text import clean_name

STREAM = "-"
Counts = dict[str, int]
_SHOWN = 20
Kind = Literal["textrawl", "server-memory", FolderFormat]


_ExportFile = Annotated[
    str,
    typer.Argument(
        metavar="[FILE|DIR|-]",
        help="The file to write; default: -, which is stdout. With `obsidian`, `markdown`, "
        "`basic-memory` and `csv`: the folder.",
    ),
]
_ExportSpace = Annotated[
    list[str] | None,
    typer.Option(metavar="SPACE", parser=clean_name, help="Only this space; can be repeated."),
]
_ExportKind = Annotated[
    Kind,
    typer.Option(
        "--to",
        help="File format; `server-memory`: for MCP's reference memory server, with one space; "
        "`obsidian`, `markdown`, `basic-memory`: a note for each entity; `csv`: tables.",
    ),
]
_WithVectors = Annotated[
    bool,
    typer.Option(
        "--with-vectors", help="Include vectors; without them, import computes them again."
    ),
]


_Force = Annotated[
    bool, typer.Option("--force", help="Replace FILE, or notes that somebody has edited.")
]
Encrypt = Annotated[
    list[str] | None,
    typer.Option(
        "--encrypt",
        metavar="FOR",
        help="Encrypt the file with age for FOR: a public key of age or SSH, a file of public "
        "keys, `passphrase`, which asks, or `passphrase:FILE`. Keys can be repeated.",
    ),
]
Identity = Annotated[
    list[str] | None,
    typer.Option(
        "--identity",
        metavar="KEY",
        help="Decrypt the file with KEY: a file with a private key of age or SSH, or "
        "`passphrase:FILE`; default: ask for the passphrase. Can be repeated.",
    ),
]


def ask_passphrase(*, twice: bool = False) -> str:
    """Return a passphrase that somebody types in a terminal. Raises StartRefused without one."""
    if not can_ask():
        option = "--encrypt" if twice else "--identity"
        raise StartRefused(
            f"There is no terminal to ask for a passphrase: use {option} passphrase:FILE"
        )
    return typer.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True)


def find_recipients(texts: list[str] | None) -> Recipients | None:
    """Return the people whom --encrypt names, or None. Raises StartRefused."""
    return read_recipients(texts or [], partial(ask_passphrase, twice=True))


def find_identities(texts: list[str] | None) -> Identities:
    """Return the keys that --identity names. Raises StartRefused."""
    return read_identities(texts or [], ask_passphrase)


def export(
    file: _ExportFile = STREAM,
    space: _ExportSpace = None,
    kind: _ExportKind = "textrawl",
    with_vectors: _WithVectors = False,
    force: _Force = False,
    encrypt: Encrypt = None,
) -> None:
    """Write entities, facts, relations, reflections and documents as JSON Lines.

    The file also has the authors, and the facts that are not valid any more. Only a file of
    `textrawl backup` also has tokens, grants and the trail. In a folder, only files that changed
    are written, and notes of forgotten entities are removed.
    """
    settings = read_settings()
    if kind not in ("textrawl", "server-memory"):
        if file == STREAM or encrypt:
            fix = "name a folder" if file == STREAM else "--encrypt is for a single file"
            raise StartRefused(f"--to {kind} writes several files: {fix}")
        folder = NoteFolder(Path(file).absolute(), force=force)
        notes = run_foreground(lambda: _export_notes(settings, folder, kind, space or []))
        _report_folder(notes)
        return
    recipients = find_recipients(encrypt)

    def write(out: BinaryIO) -> Counts:
        with recipients.encrypt(out) if recipients else nullcontext(out) as lines:
            if kind == "server-memory":
                return run_foreground(lambda: _export_graph(settings, lines, space or ["default"]))
            return run_foreground(lambda: _export(settings, lines, space or [], with_vectors))

    if file == STREAM:
        counts = _write_stdout(write, encrypted=bool(recipients))
    else:
        with write_whole(Path(file).absolute(), force=force) as draft, draft.open("wb") as out:
            counts = write(out)
    write_message(f"Exported {count_kinds(counts)}.")


def _write_stdout(write: Callable[[BinaryIO], Counts], *, encrypted: bool) -> Counts:
    if encrypted and sys.stdout.isatty():
        raise StartRefused("An encrypted export cannot be shown in a terminal: name a file")
    try:
        counts = write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        # At exit Python would flush the rest to stdout and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StartRefused(f"The export is incomplete: {error.strerror} on stdout") from error
    return counts


async def _export(
    settings: Settings, out: BinaryIO, spaces: list[str], with_vectors: bool
) -> Counts:
    async with open_login(settings) as login, open_snapshot(login) as session:
        # The parts of journal entries and sources are not lines of their own.
        facts = count_facts(await session.count_rows()) - await session.count_parts()
        with show_progress("Exporting facts", facts) as report:
            exporting = Export(session, out.write, report)
            await exporting.run(spaces, with_vectors=with_vectors)
        if not spaces and exporting.counts["fact"] != facts:
            raise StartRefused(
                f"The export is incomplete: the memory has {count(facts, 'fact')}, but the file "
                f"has {exporting.counts['fact']:,}"
            )
    return exporting.counts


async def _export_notes(
    settings: Settings, folder: NoteFolder, form: FolderFormat, spaces: Sequence[str]
) -> NoteCounts:
    """Write the entities of `spaces` to a folder. Raises StartRefused, ArgumentInvalid."""
    async with open_login(settings) as login, open_snapshot(login) as session:
        entities = (await session.count_rows())["entity"]
        with show_progress("Exporting entities", entities) as report:
            return await export_folder(session, folder, form, spaces, report)


def _report_folder(counts: NoteCounts) -> None:
    """Say how many files were written, and which ones were kept because somebody edited them."""
    write_message(
        f"Wrote {count(counts.written, 'file')}, removed {counts.removed:,}, "
        f"unchanged {counts.unchanged:,}."
    )
    for path in counts.kept[:_SHOWN]:
        write_message(f"Kept {path}, because somebody has edited it: --force replaces it")
    if len(counts.kept) > _SHOWN:
        write_message(f"and {len(counts.kept) - _SHOWN:,} more")


async def _export_graph(settings: Settings, out: BinaryIO, spaces: list[str]) -> Counts:
    if len(spaces) != 1:
        raise ArgumentInvalid(
            "a file of the reference memory server holds one space: give one --space",
            title="More than one space",
        )
    async with open_login(settings) as login, open_snapshot(login) as session:
        entities = (await session.count_rows())["entity"]
        with show_progress("Exporting entities", entities) as report:
            return await write_server_memory(session, out.write, spaces[0], report)


def count_kinds(counts: dict[str, int]) -> str:
    """Return counts in words, such as "1 space, 2 entities, 3 facts, 0 relations"."""
    # Name rows of other toolsets only if there are any, because few memories have them.
    usual = {"space", "entity", "fact", "relation"}
    shown = {kind: number for kind, number in counts.items() if number or kind in usual}
    return ", ".join(count(number, kind) for kind, number in shown.items())


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    as_json: AsJson = False,
    encrypt: Encrypt = None,
) -> None:
    """Write the whole memory to a file.

    The file is a dump of pg_dump with content, vectors, spaces, tokens, grants and the trail. The
    command reads the dump back and counts its rows before it gives the file its name.
    TEXTRAWL_DATABASE_URL needs the rights of the database's owner. Passwords of database logins are
    not in the file.
    """
    settings, recipients = read_settings(), find_recipients(encrypt)

    async def back_up() -> Backup:
        async with open_login(settings, any_version=True) as login:
            return await write_backup(login, file.absolute(), report, recipients, force=force)

    with show_stages("Writing the backup") as report:
        written = run_foreground(back_up)
    if as_json:
        write_json(written)
    else:
        note = ", encrypted" if recipients else ""
        open_console().print(Text(f"Wrote {describe_backup(written)}{note}."), soft_wrap=True)


def describe_backup(backup: Backup) -> str:
    """Return the file, its size and its contents in one line."""
    rows = sum(backup.tables.values())
    size = f"{backup.bytes / 1e6:,.1f} MB"
    contents = (count(backup.facts, "fact"), count(len(backup.tables), "table"), count(rows, "row"))
    return f"{backup.file}: {size}, {', '.join(contents)}"


_UNCHECKED = (
    "This backup has no checksum, because an older version wrote it. Its rows were counted, but a "
    "changed byte may stay unnoticed"
)


def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `textrawl backup` wrote.")
    ],
    as_json: AsJson = False,
    identity: Identity = None,
) -> None:
    """Restore a backup into an empty database.

    A file that was changed after `textrawl backup` wrote it is refused. A backup of an older
    version is migrated. Receipts of `textrawl erase` beside the file or in TEXTRAWL_DATA_DIR are
    applied again. If anything goes wrong, nothing is changed. Restore only files that you trust,
    because a backup contains functions that the database runs. Hosts on this machine end first.
    """
    settings, path = read_settings(), file.absolute()
    require_writable(settings.read_only)
    identities = find_identities(identity).ask_first(path)  # before the progress is shown

    async def restore() -> tuple[Backup, int]:
        receipts = find_receipts([path.parent, settings.data_dir])
        async with open_login(settings, empty=True, any_version=True) as login:
            return await restore_backup(login, path, report, receipts, identities)

    host = choose_host(read_sources())
    with keep_out(host, name_memory(settings)), show_stages("Restoring the backup") as report:
        restored, erased = run_foreground(restore)
    if restored.sha256 is None:
        write_message(_UNCHECKED)
    if as_json:
        write_json(restored)
    else:
        open_console().print(Text(f"Restored {describe_backup(restored)}."), soft_wrap=True)
    if erased:
        write_message(f"Applied {count(erased, 'receipt')} of erasures again.")
