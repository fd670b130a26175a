"""`textrawl resident`: a small process that keeps the memory open."""

from typing import Annotated

import typer

from textrawl.cli.console import write_error
from textrawl.cli.residence import IDLE, TAKEN, stay_resident

_Idle = Annotated[
    float, typer.Option(metavar="MINUTES", min=0.01, help="End after MINUTES without a request.")
]


def resident(idle: _Idle = IDLE) -> None:
    """Keep the memory open for hooks and quick commands.

    Hooks start this process if no server runs. It answers `textrawl recall`, `textrawl digest`,
    `textrawl remember` and hooks of the same OS user, through a Unix socket in the data folder.
    """
    if not stay_resident(idle):
        write_error(TAKEN)
