"""`textrawl demo`: a memory in use, with data that is part of the package."""

import sys
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from textrawl.cli.console import open_console, show_stages, write_json, write_message
from textrawl.cli.demo import (
    DemoResult,
    DemoServerFailed,
    draw_connecting,
    draw_demo,
    draw_look,
    run_demo,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, option
from textrawl.embedded.postmaster import read_state
from textrawl.environment import default_data_dir, find_data_dir, read_sources
from textrawl.errors import StartRefused


def demo(
    data_dir: Annotated[
        Path | None,
        option("", "Folder of the demo's memory; default: a folder beside your memory's."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """See memory at work: store facts about PostgreSQL, ask questions, count tokens.

    A real MCP client calls a real server. The demo needs no network, reads no setting but
    TEXTRAWL_DATA_DIR, and does not change your own memory.
    """
    folder = (data_dir or find_demo_folder()).expanduser().absolute()
    if folder.resolve() in {_find_own_folder().resolve(), default_data_dir().resolve()}:
        raise typer.BadParameter(f"{folder} holds your own memory: choose another folder.")
    try:
        result = _run(folder)
    except DemoServerFailed:
        if data_dir is not None:
            raise
        _set_aside(folder)
        result = _run(folder)
    if as_json:
        answers = [asdict(answer) for answer in result.answers]
        scenes = [{"asked": answer.pop("question")} | answer for answer in answers]
        told = {"encoding": result.encoding, "seconds": result.seconds}
        write_json({"stored": asdict(result.stored), "scenes": scenes, **told})
        return
    console = open_console()
    draw_demo(console, result, folder)
    sys.stdout.flush()
    draw_connecting(console)
    draw_look(console, folder, usual=folder == find_demo_folder())


def find_demo_folder() -> Path:
    """Return the folder of the demo's memory, beside that of the own memory."""
    own = _find_own_folder()
    return own.with_name(f"{own.name}-demo")


def _find_own_folder() -> Path:
    # Other settings may be wrong, because the demo does not need them.
    return find_data_dir(read_sources())


def _set_aside(folder: Path) -> None:
    """Rename the demo's own folder, which another version made, so that it is made anew.

    Raises StartRefused while another program has the memory open.
    """
    if read_state(folder).phase in ("running", "starting"):
        raise StartRefused(
            f"Another program, of another version, has the memory in {folder} open: end that "
            "program, or choose another folder with --data-dir"
        )
    kept = next(
        place
        for number in count(1)
        if not (place := folder.with_name(f"{folder.name}-{number}")).exists()
    )
    folder.rename(kept)
    write_message(f"This version cannot use {folder}, so it is made anew. The old one is {kept}.")


def _run(folder: Path) -> DemoResult:
    with show_stages("Starting") as report:
        return run_foreground(lambda: run_demo(folder, report))
