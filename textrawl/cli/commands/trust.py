"""The commands `trust` and `distrust`."""

from pathlib import Path
from typing import Annotated

import typer

from textrawl.cli.console import write_json, write_message, write_row
from textrawl.environment import distrust as drop_trust
from textrawl.environment import (
    find_user_file,
    list_trusted,
    name_local_file,
    parse_file,
    read_local_file,
)
from textrawl.environment import trust as record_trust
from textrawl.settings import is_setting

TrustedFolder = Annotated[
    Path, typer.Argument(metavar="[FOLDER]", help="The folder; default: the working directory.")
]


def trust(
    folder: TrustedFolder = Path(),
    listing: Annotated[
        bool, typer.Option("--list", help="List the files that you trusted, and their state.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Let the `.env` of a folder set all settings, until the file changes.

    Without this, textrawl takes only formats and sizes of answers from the `.env` of the working
    directory, because a repository that you cloned can contain this file. Read the file first. The
    states of `--list` are trusted, changed (the file is ignored again) and missing.
    """
    if listing:
        _list(as_json=as_json)
        return
    file = read_local_file(folder)
    names = sorted(filter(is_setting, parse_file(file).withheld))
    record_trust(find_user_file().parent, Path(file.label), file.content)
    if as_json:
        write_json({"file": file.label, "settings": names})
    taken = f" It now sets {', '.join(names)}." if names else ""
    write_message(f"{file.label} is trusted until it changes.{taken}")


def _list(*, as_json: bool) -> None:
    found = list_trusted(find_user_file().parent)
    if as_json:
        write_json([{"file": str(path), "state": state} for path, state in found])
        return
    for path, state in found:
        write_row((state, str(path)))


def distrust(folder: TrustedFolder = Path()) -> None:
    """Take back the trust in the `.env` of a folder.

    The folder does not need to exist any more.
    """
    file = name_local_file(folder)
    state = "no longer" if drop_trust(find_user_file().parent, file) else "not"
    write_message(f"{file} is {state} trusted.")
