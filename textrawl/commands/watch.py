"""`textrawl watch`: the trail as it grows."""

import json
import sys
from contextlib import aclosing
from typing import Annotated

import typer

from textrawl.commands.log import list_cells, write_event
from textrawl.commands.trails import work_on_trail
from textrawl.texts import clean_name
from textrawl.trail import EventRow, Trail


def watch(
    space: Annotated[
        str | None,
        typer.Option(metavar="SPACE", parser=clean_name, help="There alone; else wherever admin."),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="After this event; 0:0 for all. Unset: from now on."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write a JSON object a line.")] = False,
) -> None:
    """Follow who does what, a line an event, until it is interrupted.

    No event is missed or written twice, whatever breaks: to go on later, hand the `cursor` of the
    last one to --after.
    """

    async def follow(trail: Trail) -> None:
        start = await trail.find_end() if after is None else after
        async with aclosing(trail.follow(start)) as events:
            async for row in events:
                _write(row, as_json=as_json)

    work_on_trail(space, follow)


def _write(row: EventRow, *, as_json: bool) -> None:
    line = json.dumps(write_event(row), ensure_ascii=False) if as_json else _join(row)
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _join(row: EventRow) -> str:
    return "  ".join(cell for cell in list_cells(row) if cell)
