"""`textrawl resident`: a small process that keeps the memory open."""

from functools import partial
from typing import Annotated

import typer

from textrawl.cli.console import write_message
from textrawl.cli.database_access import require_memory
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.cli.hosting import prepare_server
from textrawl.resident.process import run_resident
from textrawl.settings import read_settings

_Idle = Annotated[
    float, typer.Option(metavar="MINUTES", min=0.01, help="End after MINUTES without a request.")
]


def resident(idle: _Idle = 15) -> None:
    """Keep the memory open for hooks and quick commands.

    Hooks start this process if no server runs. It answers `textrawl recall`, `textrawl digest`,
    `textrawl remember` and hooks of the same OS user, through a Unix socket in the data folder.
    """
    settings = read_settings()
    prepare_server(settings)
    if settings.server_url is None:
        require_memory(settings)
    try:
        served = run_foreground(partial(run_resident, settings, idle=60 * idle))
    except Interrupted:
        return  # the regular way to end a server
    if not served:
        write_message("Another process has this memory open for hooks and quick commands.")
