"""`textrawl undo`: undo the writes of one author, revert an undo, or purge undos."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, TypeVar

import typer

from textrawl.cli.administration import read_span
from textrawl.cli.confirmation import confirm
from textrawl.cli.console import open_console, show_wait, write_json, write_message
from textrawl.cli.since import find_start
from textrawl.cli.trail_session import work_on_trail
from textrawl.cli.undo_plan import count_steps, draw_plan
from textrawl.store.trail import PlanRow, Trail, UndoRow
from textrawl.values.text import clean_name

Result = TypeVar("Result")


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
SpaceName = Annotated[
    str | None,
    typer.Option(
        metavar="SPACE",
        parser=clean_name,
        help="Only this space; default: every space you administer.",
    ),
]
Revert = Annotated[
    int | None, typer.Option(metavar="ID", help="Put back what the undo with this number removed.")
]
Purge = Annotated[bool, typer.Option("--purge", help="Delete for good what undos removed.")]
Others = Annotated[
    bool,
    typer.Option(
        "--with-others", help="Also remove relations and entities with reflections of others."
    ),
]
OlderThan = Annotated[
    str | None,
    typer.Option(metavar="SPAN", help="With --purge: only undos older than this, such as 30d."),
]


def undo(  # noqa: PLR0913, PLR0917 - each argument is an option
    by: Author = None,
    since: Since = None,
    space: SpaceName = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
    ] = False,
    with_others: Others = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    revert: Revert = None,
    purge: Purge = False,
    older_than: OlderThan = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Undo what one author wrote since a time.

    A fact that somebody else also stated is kept, and gets that person as its author. Facts that
    the author replaced become valid again. A relation or entity with a reflection of somebody else
    is kept. With --with-others it is removed together with its reflections. --revert puts removed
    content back, until the undo is purged or the entity is forgotten.
    """
    modes = [by is not None or since is not None, revert is not None, purge]
    if sum(modes) != 1 or (by is None) != (since is None) or (older_than and not purge):
        raise typer.BadParameter("give --by and --since, or --revert, or --purge")
    if revert is not None:
        _revert(revert, space, as_json=as_json)
    elif purge:
        _purge(older_than, space, yes=yes, as_json=as_json)
    elif by is not None and since is not None:
        process = _Undo(by, since, space, others=with_others, as_json=as_json)
        process.run(dry_run=dry_run, yes=yes)


class _Undo:
    """An undo of what `author` wrote since a time, with its preview and its question."""

    def __init__(
        self, author: str, since: str, space: str | None, *, others: bool, as_json: bool
    ) -> None:
        self._others = others
        self._author, self._since = author, find_start(since)
        self._space, self._as_json = space, as_json

    def run(self, *, dry_run: bool, yes: bool) -> None:
        """Show the plan, ask, and carry it out."""
        scope = self._author, self._since
        plan = _work(self._space, lambda trail: trail.plan(*scope, others=self._others))
        if not (self._as_json and not dry_run):
            self._show(plan)
        if dry_run:
            return
        # A plan without steps can still undo repetitions of a fact, which are not steps.
        if not yes:
            confirm("Undo this?", "changed")
        self._report(_work(self._space, lambda trail: trail.undo(*scope, others=self._others)))

    def _show(self, plan: list[PlanRow]) -> None:
        if self._as_json:
            write_json([asdict(row) for row in plan])
        else:
            open_console().print(draw_plan(self._author, self._since, plan))

    def _report(self, done: list[UndoRow]) -> None:
        if self._as_json:
            write_json([asdict(row) for row in done])
        if not done:
            write_message(f"{self._author} wrote nothing since then, so nothing was undone.")
        for row in done:
            write_message(
                f"Undo {row.undo_id} in {row.space_name}: {count_steps(row)}. "
                f"To put it back: textrawl undo --revert {row.undo_id}"
            )


def _revert(undo: int, space: str | None, *, as_json: bool) -> None:
    rows = _work(space, lambda trail: trail.revert(undo))
    if as_json:
        write_json([asdict(row) for row in rows] if len(rows) > 1 else asdict(rows[0]))
    for row in rows:
        merged = f", {row.merged} existed again already" if row.merged else ""
        write_message(f"Reverted undo {undo} in {row.space_name}: {row.restored} restored{merged}.")


def _purge(older_than: str | None, space: str | None, *, yes: bool, as_json: bool) -> None:
    span = None if older_than is None else read_span(older_than)
    if not yes:
        confirm(
            "Delete for good what these undos removed? The undos cannot be reverted afterwards.",
            "changed",
        )
    rows = _work(space, lambda trail: trail.purge(span))
    if as_json:
        write_json([asdict(row) for row in rows])
    for row in rows:
        write_message(
            f"Purged {row.undos} undos in {row.space_name}: {row.rows} rows are gone for good."
        )
    if not rows:
        write_message("There was nothing to purge.")


def _work(space: str | None, work: Callable[[Trail], Awaitable[Result]]) -> Result:
    with show_wait("Asking the database"):
        return work_on_trail(space, work)
