"""`textrawl log`: who did what, newest first."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from textrawl.commands.administration import draw_rows
from textrawl.commands.console import open_console, show_wait, write_json
from textrawl.commands.since import find_start
from textrawl.commands.trails import work_on_trail
from textrawl.texts import clean_name
from textrawl.trail import EventRow, Filter

_COLUMNS = ("time (UTC)", "space", "author", "action", "entity", "tool", "client", "request")


def log(  # noqa: PLR0913, PLR0917 - an argument is an option
    space: Annotated[
        str | None,
        typer.Option(metavar="SPACE", parser=clean_name, help="There alone; else wherever admin."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="ACTOR", parser=clean_name, help="Of this author alone.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="NAME", parser=clean_name, help="About this one alone.")
    ] = None,
    action: Annotated[
        str | None, typer.Option(metavar="ACTION", help="Such as remembered or forgotten.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when: 2h, 7d, 2026-08-01T12:00Z.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show who did what to the memory, newest first; never what was said."""
    chosen = Filter(by, entity, action, None if since is None else find_start(since))
    with show_wait("Reading"):
        rows = work_on_trail(space, lambda trail: trail.list_events(chosen, limit))
    if as_json:
        write_json([write_event(row) for row in rows])
    else:
        open_console().print(draw_rows(_COLUMNS, [list_cells(row) for row in rows]))


def write_event(row: EventRow) -> dict[str, Any]:
    """An event as JSON can hold it."""
    ids = {
        name: value and str(value) for name, value in asdict(row).items() if name.endswith("_id")
    }
    return asdict(row) | {"at": row.at.isoformat()} | ids


def list_cells(row: EventRow) -> list[str]:
    """An event as people read it; of a forgotten entity the front of its id is left."""
    entity = row.entity_name or (f"({str(row.entity_id)[:8]})" if row.entity_id else "")
    return [
        f"{row.at:%Y-%m-%d %H:%M:%S}", row.space_name, row.author_name, row.action, entity,
        row.tool, row.client or "", row.request or "",
    ]  # fmt: skip
