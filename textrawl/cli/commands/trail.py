"""The commands `log` and `undo`."""

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from shlex import quote
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from textrawl.cli.console import (
    confirm,
    count,
    open_console,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.inputs import AdministeredSpace, AsJson, DryRun, LongYes, read_span
from textrawl.cli.questions import ask
from textrawl.environment import find_value, read_sources
from textrawl.errors import ArgumentInvalid
from textrawl.memory.command_results import (
    EventFilter,
    EventRow,
    ImportRow,
    PlanRow,
    PurgedRow,
    RevertedRow,
    UndoRow,
)
from textrawl.values.text import SHORT_ID, clean_name
from textrawl.values.times import name_day, read_instant

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def find_start(text: str) -> datetime:
    """Return the instant that `text` names: an instant, a date, or a span before now, such as 2h.

    A date, "today" or "yesterday" stand for the beginning of the day in UTC. Raises
    ArgumentInvalid, also for a time in the future.
    """
    text, now = name_day(text.strip()), datetime.now(UTC)
    if "-" not in text and text[:1].isdecimal():
        return now - read_span(text)
    try:
        start = read_instant(f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text)
    except ValueError as error:
        raise ArgumentInvalid(
            f"{error}, a span such as 2h or 7d, or yesterday", title="Wrong --since"
        ) from None
    if start > now:
        raise ArgumentInvalid("give a time that has passed", title="Wrong --since")
    return start


_USUAL_LIMIT = 50
_PAUSE = 2.0  # seconds between questions to a server, which allows a limited number in a minute
_WIDE = 110  # columns of a terminal that has room for years and seconds
_MOST_NAME, _MOST_ENTITY = 12, 22  # columns for an author or a space, and for an entity


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
    datetime | None,
    typer.Option(
        metavar="TIME",
        parser=find_start,
        help="Only events since TIME: 2h, yesterday, 2026-08-01T12:00Z.",
    ),
]
_Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", "-n", min=1, max=10_000, help=f"How many events; default: {_USUAL_LIMIT}."
    ),
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
    space: AdministeredSpace = None,
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
    criteria = EventFilter(by, entity, action, since)
    if follow:
        if since is not None or limit is not None:
            raise typer.BadParameter("--follow cannot have --since or --limit: use --after")
        _follow(space, criteria, after, as_json=as_json)
        return
    if after is not None:
        raise typer.BadParameter("--after needs --follow")
    rows = ask(
        "list_events",
        list[EventRow],
        space,
        author=by,
        entity=entity,
        action=action,
        since=since,
        limit=limit or _USUAL_LIMIT,
    )
    if as_json:
        write_json(rows)
    elif rows:
        _show(rows)
    else:
        write_message("No events." if criteria == EventFilter() else "No events match.")


def _follow(space: str | None, criteria: EventFilter, after: str | None, *, as_json: bool) -> None:
    def tell(row: EventRow) -> None:
        if not _matches(row, criteria):
            return
        if as_json:
            write_json(row, indent=None)
        else:
            _show([row])

    if find_value("server_url", read_sources()) is None:
        from textrawl.cli.log_following import follow  # noqa: PLC0415 - it opens the memory itself

        follow(space, after, tell)
        return
    cursor = ask("find_cursor", str, space) if after is None else after
    while True:  # a server is asked again and again
        rows = ask("read_events", list[EventRow], space, after=cursor)
        for row in rows:
            tell(row)
        if rows:
            cursor = rows[-1].cursor
        else:
            time.sleep(_PAUSE)


def _matches(row: EventRow, criteria: EventFilter) -> bool:
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
    """Draw one line for each event. A narrow terminal shows the tool only if there is no client."""
    wide = console.width >= _WIDE
    several = len({row.space_name for row in rows}) > 1
    table = Table.grid(padding=(0, 2 if wide else 1), expand=True)
    for most in (None, _MOST_NAME if several else 0, _MOST_NAME, None, None):
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=most)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1, style="dim")
    for row in rows:
        time = f"{row.at:%Y-%m-%d %H:%M:%S}" if wide else f"{row.at:%m-%d %H:%M}"
        other = f" → {row.other_name}" if row.other_name else ""
        entity = write_cell(f"{_name_entity(row)}{other}")
        entity.truncate(_MOST_ENTITY * (2 if wide else 1), overflow="ellipsis")
        table.add_row(
            Text(time, "dim"),
            write_cell(row.space_name if several else "", "cyan"),
            write_cell(row.author_name),
            write_cell(row.action, "bold"),
            entity,
            write_cell(
                f"{row.tool} ({row.client})" if wide and row.client else row.client or row.tool
            ),
        )
    return table


def _name_entity(row: EventRow) -> str:
    """Return the entity's name, or the start of its id if the entity was forgotten."""
    return row.entity_name or (f"({str(row.entity_id)[:8]})" if row.entity_id else "")


_MOST_ENTITIES = 20
_MOST_STEPS = 5
_MOST_DIGITS = 18  # of the number of an event
_WIDEST = 100

_STYLES = {
    "remove": "red",
    "revive": "green",
    "reset": "green",
    "lost": "bold red",
    "move back": "green",
    "retype": "green",
    "kept": "yellow",
}
_COUNTS = {
    "removed": "removed",
    "revived": "valid again",
    "reset": "reset to former values",
    "moved": "moved back",
    "retyped": "given their former type",
    "dropped": "entities dropped",
    "lost": "forgotten and lost",
    "kept": "kept",
}


def draw_plan(writes: str, plan: Sequence[PlanRow]) -> Tree:
    """Draw the steps by space and entity. A long list ends with the number of omitted items."""
    steps = count(len(plan), "step") if plan else "no visible steps"
    tree = Tree(Text(f"Undoing {writes}: {steps}", style="bold"))
    for space, rows in groupby(plan, lambda row: row.space_name):
        branch = tree.add(Text(space, style="bold cyan"))
        entities = [(n or "(forgotten)", list(g)) for n, g in groupby(rows, _find_name)]
        for name, entity_steps in entities[:_MOST_ENTITIES]:
            _draw_entity(branch, name, entity_steps)
        if len(entities) > _MOST_ENTITIES:
            others = entities[_MOST_ENTITIES:]
            hidden = sum(len(entity_steps) for _, entity_steps in others)
            branch.add(_note(f"… {count(len(others), 'more entity')}, {count(hidden, 'step')}"))
    return tree


def count_steps(row: UndoRow) -> str:
    """Return the number of each kind of change that was made."""
    changes = [
        f"{number} {'entity dropped' if (name, number) == ('dropped', 1) else label}"
        for name, label in _COUNTS.items()
        if (number := getattr(row, name))
    ]
    return ", ".join(changes) or "only repetitions of facts"


def _find_name(row: PlanRow) -> str | None:
    return row.entity_name


def _draw_entity(branch: Tree, name: str, rows: Sequence[PlanRow]) -> None:
    dropped = any(row.action == "drop entity" for row in rows)
    leaf = branch.add(Text(f"{name} (is removed too)" if dropped else name))
    steps = [row for row in rows if row.action != "drop entity"]
    for row in steps[:_MOST_STEPS]:
        leaf.add(_draw_step(row))
    if len(steps) > _MOST_STEPS:
        leaf.add(_note(f"… {len(steps) - _MOST_STEPS} more"))


def _draw_step(row: PlanRow) -> Text:
    action = row.action
    if row.later_author and row.later_at:
        action += f", because of {row.later_author} at {row.later_at:%Y-%m-%d %H:%M}"
    content = row.content or row.kind
    if row.kind == "merge":
        content = f"merged {content}: `textrawl entity split {quote(content)}`"
    elif row.kind == "split":
        content = f"split off {content}"
    text = Text(f"{action}: {content}", style=_STYLES[row.action])
    text.truncate(_WIDEST, overflow="ellipsis")
    return text


def _note(text: str) -> Text:
    return Text(text, style="dim")


Author = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="ACTOR", parser=clean_name, help="The author whose writes are undone."
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Undo what was written since TIME: 2h, 7d, 2026-08-01T12:00Z."
    ),
]
Run = Annotated[
    str | None,
    typer.Option(
        "--import", metavar="ID", help="Take back one import; `last`: the newest that is left."
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        metavar="CURSOR", help="Undo one event: its `cursor` of `textrawl log --json`, or the end."
    ),
]
Revert = Annotated[
    int | None, typer.Option(metavar="ID", help="Put back what the undo with this number removed.")
]
Purge = Annotated[bool, typer.Option("--purge", help="Delete for good what undos removed.")]
OlderThan = Annotated[
    str | None,
    typer.Option(metavar="SPAN", help="With --purge: only undos older than this, such as 30d."),
]


def undo(  # noqa: PLR0913, PLR0917 - each argument is an option
    by: Author = None,
    since: Since = None,
    space: AdministeredSpace = None,
    dry_run: DryRun = False,
    yes: LongYes = False,
    run: Run = None,
    event: Event = None,
    revert: Revert = None,
    purge: Purge = False,
    older_than: OlderThan = None,
    as_json: AsJson = False,
) -> None:
    """Undo what one author wrote since a time.

    With --import, undo only what one import wrote. With --event, undo one event: yours, or any in a
    space that you administer, unless a later one builds on it. What others repeated, corrected or
    built on since is kept, and the plan names who and when. So are merges: see `textrawl entity
    split`. Facts that the author replaced become valid again. --revert puts an undo back, as long
    as nothing has touched the same facts since.
    """
    alone = [revert is not None, purge, run is not None, event is not None]
    modes = [by is not None or since is not None, *alone]
    if sum(modes) != 1 or (by is None) != (since is None) or (older_than and not purge):
        raise typer.BadParameter("give --by and --since, or --import, --event, --revert or --purge")
    if event is not None:
        _undo_event(event, space, as_json=as_json, planned=dry_run)
    elif revert is not None:
        _revert(revert, space, as_json=as_json)
    elif purge:
        _purge(older_than, space, yes=yes, as_json=as_json)
    else:
        scopes = _find_scopes(by, since, run, space)
        _undo(scopes, space, dry_run=dry_run, yes=yes, as_json=as_json)


def _undo_event(event: str, space: str | None, *, as_json: bool, planned: bool) -> None:
    """Undo the event with a cursor. Its number is the end of the cursor. Raises BadParameter."""
    if planned:
        raise typer.BadParameter("--event cannot have --dry-run")
    number = event.rpartition(":")[2].strip()
    if not number.isascii() or not number.isdecimal() or len(number) > _MOST_DIGITS:
        raise typer.BadParameter("--event: give a cursor of `textrawl log --json`")
    _report_undone(ask("undo_event", list[UndoRow], space, event=int(number)), as_json=as_json)


class _Scope(NamedTuple):
    """The writes that an undo takes back: of an author since a time, or only of an import."""

    author: str
    since: datetime
    run: ImportRow | None = None

    def __str__(self) -> str:
        begin = f"{self.since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        if self.run is None:
            return f"{self.author} since {begin}"
        return f"the import {str(self.run.run)[:SHORT_ID]} ({self.run.system}) of {begin}"


def _find_scopes(
    by: str | None, since: str | None, run: str | None, space: str | None
) -> list[_Scope]:
    """Return the scopes of the options: of each import of a command. Raises ArgumentInvalid."""
    if run is not None:
        found = _find_imports(run, space)
        return [_Scope(row.author_name, row.started_at, row) for row in found]
    return [_Scope(by or "", find_start(since or ""))]


def _find_imports(run: str, space: str | None) -> list[ImportRow]:
    """Return the imports whose ids begin with `run`, or the last ones that nobody has undone.

    The imports of one command have ids with the same beginning. Raises ArgumentInvalid.
    """
    rows = ask("list_imports", list[ImportRow], space)
    if run == "last":
        rows = [row for row in rows if not row.undone]
    named = {str(row.run): row for row in rows}
    begin = next(iter(named), "-")[:SHORT_ID] if run == "last" else run
    found = {name: row for name, row in named.items() if name.startswith(begin)}
    if len({name[:SHORT_ID] for name in found}) == 1:
        return list(found.values())
    known = ", ".join(
        f"{name[:SHORT_ID]} ({row.system}, {row.started_at:%Y-%m-%d %H:%M})"
        for name, row in list(named.items())[:5]
    )
    title = f"No import {run}" if not found else f"Several imports begin with {run}"
    raise ArgumentInvalid(f"the newest are {known}" if known else "none is here", title=title)


def _undo(
    scopes: Sequence[_Scope],
    space: str | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show the plan, ask, and carry it out."""
    given = [
        {"author": author, "since": since, "run": row and row.run} for author, since, row in scopes
    ]
    plans = [ask("plan_undo", list[PlanRow], space, **each) for each in given]
    if not as_json:
        for scope, plan in zip(scopes, plans, strict=True):
            open_console().print(draw_plan(str(scope), plan))
    elif dry_run:
        write_json([step for plan in plans for step in plan])
    if dry_run:
        return
    # A plan without steps can still undo repetitions of a fact, which are not steps.
    if not yes:
        confirm("Undo this?", "changed")
    done = [row for each in given for row in ask("undo", list[UndoRow], space, **each)]
    _report_undone(done, as_json=as_json)
    if not done:
        author, _, found = scopes[0]
        place = "in this import" if found else "since then"
        write_message(
            f"{author} wrote nothing {place} that can be undone now, so nothing was undone."
        )


def _report_undone(done: Sequence[UndoRow], *, as_json: bool) -> None:
    """Write what was undone in each space, and how to put it back."""
    if as_json:
        write_json(done)
    for row in done:
        write_message(
            f"Undo {row.undo_id} in {row.space_name}: {count_steps(row)}. "
            f"To put it back: textrawl undo --revert {row.undo_id}"
        )


def _revert(undo: int, space: str | None, *, as_json: bool) -> None:
    rows = ask("revert", list[RevertedRow], space, number=undo)
    if as_json:
        write_json(rows if len(rows) > 1 else rows[0])
    for row in rows:
        write_message(f"Reverted undo {undo} in {row.space_name}: {row.restored} restored.")


def _purge(older_than: str | None, space: str | None, *, yes: bool, as_json: bool) -> None:
    span = None if older_than is None else read_span(older_than)
    if not yes:
        confirm(
            "Delete for good what these undos removed? The undos cannot be reverted afterwards.",
            "changed",
        )
    rows = ask("purge", list[PurgedRow], space, older_than=span)
    if as_json:
        write_json(rows)
    for row in rows:
        write_message(
            f"Purged {row.undos} undos in {row.space_name}: {row.rows} rows are gone for good."
        )
    if not rows:
        write_message("There was nothing to purge.")
