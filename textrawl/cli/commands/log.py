"""`textrawl log`: the events of the trail, newest first, or as they happen."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import (
    open_console,
    show_wait,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.since import find_start
from textrawl.cli.trail_session import work_on_trail
from textrawl.store.trail import EventRow, Filter, Trail
from textrawl.values.text import clean_name

_USUAL_LIMIT = 50
_WIDE = 110  # columns of a terminal that has room for years and seconds
_MOST_NAME, _MOST_ENTITY = 12, 24  # columns for an author or a space, and for an entity


_Space = Annotated[
    str | None,
    typer.Option(
        metavar="SPACE",
        parser=clean_name,
        help="Only this space; default: every space you administer.",
    ),
]
_By = Annotated[
    str | None,
    typer.Option(metavar="ACTOR", parser=clean_name, help="Only events by this author."),
]
_Entity = Annotated[
    str | None,
    typer.Option(metavar="NAME", parser=clean_name, help="Only events about this entity."),
]
_Action = Annotated[
    str | None,
    typer.Option(metavar="ACTION", help="Only this action, such as remembered or forgotten."),
]
_Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only events since TIME: 2h, 7d, 2026-08-01T12:00Z."),
]
_Limit = Annotated[
    int | None,
    typer.Option(min=1, max=10_000, help=f"How many events; default: {_USUAL_LIMIT}."),
]
_Follow = Annotated[
    bool, typer.Option("--follow", "-f", help="Write new events as they happen, until Ctrl-C.")
]
_After = Annotated[
    str | None,
    typer.Option(
        metavar="CURSOR", help="With --follow: start after this event; 0:0 is the beginning."
    ),
]
_AsJson = Annotated[
    bool, typer.Option("--json", help="Write JSON; with --follow one object per line.")
]


def log(  # noqa: PLR0913, PLR0917 - each argument is an option
    space: _Space = None,
    by: _By = None,
    entity: _Entity = None,
    action: _Action = None,
    since: _Since = None,
    limit: _Limit = None,
    follow: _Follow = False,
    after: _After = None,
    as_json: _AsJson = False,
) -> None:
    """Show who did what to the memory, newest first, without the content.

    With --follow no event is missed or written twice. To continue later, pass the `cursor` of the
    last event (see --json) to --after.
    """
    criteria = Filter(by, entity, action, None if since is None else find_start(since))
    if follow:
        if since is not None or limit is not None:
            raise typer.BadParameter("--follow cannot have --since or --limit: use --after")
        _follow(space, criteria, after, as_json=as_json)
        return
    if after is not None:
        raise typer.BadParameter("--after needs --follow")
    with show_wait("Reading"):
        rows = work_on_trail(
            space, lambda trail: trail.list_events(criteria, limit or _USUAL_LIMIT)
        )
    if as_json:
        write_json([asdict(row) for row in rows])
    elif rows:
        _show(rows)
    else:
        write_message("No events." if criteria == Filter() else "No events match.")


def _follow(space: str | None, criteria: Filter, after: str | None, *, as_json: bool) -> None:
    async def work(trail: Trail) -> None:
        start = await trail.find_end() if after is None else after
        async with aclosing(trail.follow(start)) as events:
            async for row in events:
                if not _matches(row, criteria):
                    continue
                if as_json:
                    write_json(asdict(row), indent=None)
                else:
                    _show([row])

    work_on_trail(space, work)


def _matches(row: EventRow, criteria: Filter) -> bool:
    name = None if criteria.entity is None else criteria.entity.casefold()
    return (
        criteria.author in (None, row.author_name)
        and criteria.action in (None, row.action)
        and name in (None, (row.entity_name or "").casefold())
    )


def _show(rows: Sequence[EventRow]) -> None:
    """Write one line for each event: aligned on a terminal, or all cells with tabs if piped."""
    console = open_console()
    if console.is_terminal:
        console.print(_draw(console, rows))
        return
    for row in rows:
        write_row(
            [
                f"{row.at:%Y-%m-%dT%H:%M:%SZ}",
                row.space_name,
                row.author_name,
                row.action,
                _name_entity(row),
                row.tool,
                row.client or "",
                row.request or "",
            ]
        )


def _draw(console: Console, rows: Sequence[EventRow]) -> Table:
    """Draw one line for each event. On a narrow terminal, the tool is cut first."""
    wide = console.width >= _WIDE
    several = len({row.space_name for row in rows}) > 1
    table = Table.grid(padding=(0, 2), expand=True)
    for most in (None, _MOST_NAME if several else 0, _MOST_NAME, None, None):
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=most)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1, style="dim")
    for row in rows:
        time = f"{row.at:%Y-%m-%d %H:%M:%S}" if wide else f"{row.at:%m-%d %H:%M}"
        entity = write_cell(_name_entity(row))
        entity.truncate(_MOST_ENTITY * (2 if wide else 1), overflow="ellipsis")
        table.add_row(
            Text(time, "dim"),
            write_cell(row.space_name if several else "", "cyan"),
            write_cell(row.author_name),
            write_cell(row.action, "bold"),
            entity,
            write_cell(f"{row.tool} ({row.client})" if row.client else row.tool),
        )
    return table


def _name_entity(row: EventRow) -> str:
    """Return the entity's name, or the start of its id if the entity was forgotten."""
    return row.entity_name or (f"({str(row.entity_id)[:8]})" if row.entity_id else "")
