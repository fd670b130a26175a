"""`textrawl review`: see proposals, and accept or reject them."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from textrawl.cli.console import count, open_console, write_cell, write_json, write_message
from textrawl.cli.inputs import AsJson, SpaceName, read_name, read_reason
from textrawl.cli.memory_session import MemorySession, change_memory, read_memory
from textrawl.cli.since import find_start
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.toolsets.review.operations import Decision, Filter, ReviewOperations, State
from textrawl.toolsets.review.rows import DecidedRow, PlannedRow, ProposalRow
from textrawl.values.text import clean_name

review = typer.Typer(help="See proposals, and accept or reject them.", no_args_is_help=True)

_MOST = 100
_WOULD = {
    "new": "stores it",
    "repeats": "is stored already",
    "replaces": "replaces a fact",
    "refused": "cannot be stored, because the fact that it replaces is gone",
}
Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...",
        help="Ids of proposals, or the first 8 characters of them. Without ids: all pending "
        "proposals that --by, --entity and --since choose.",
    ),
]
Author = Annotated[
    str | None,
    typer.Option("--by", metavar="ACTOR", parser=clean_name, help="Only proposals of this actor."),
]
Entity = Annotated[
    str | None,
    typer.Option(metavar="NAME", parser=read_name, help="Only proposals about this entity."),
]
Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only proposals since TIME: 2h, 7d, 2026-08-01T12:00Z."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")]


@review.command(name="list")
def list_proposals(  # noqa: PLR0913, PLR0917 - each argument is an option
    by: Author = None,
    entity: Entity = None,
    since: Since = None,
    state: Annotated[
        State,
        typer.Option(metavar="STATE", help="pending, accepted, rejected, withdrawn or any."),
    ] = "pending",
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=_MOST, help="Maximum number of proposals.")
    ] = 20,
    offset: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of proposals to skip.")
    ] = 0,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show proposals, oldest first, with the stored facts beside them.

    You see all proposals of the spaces that you review, and elsewhere your own.
    """
    chosen = Filter(by, entity, _find_start(since), state, limit, offset)
    rows = _list(chosen, space)
    if as_json:
        write_json([_write_plain(asdict(row)) for row in rows])
        return
    for row in rows:
        _show(row)
    shown = offset + len(rows)
    if not rows:
        write_message("There are no such proposals.")
    elif (more := rows[0].total - shown) > 0:
        write_message(f"{count(more, 'more proposal')}: --offset {shown} shows them.")


@review.command()
def show(
    proposal: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a pending proposal."),
    ],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what accepting a proposal would store, with the stored facts beside it."""
    _show_plan(_plan([proposal], space), as_json=as_json)


@review.command()
def accept(  # noqa: PLR0913, PLR0917 - each argument is an option
    ids: Ids = None,
    by: Author = None,
    entity: Entity = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Accept proposals: store them with their authors, all or none."""
    chosen = _choose(ids or [], Filter(by, entity, _find_start(since), max_rows=_MOST), space)
    _Decision(chosen, "accept", None, space, as_json).run(dry_run=dry_run, yes=yes)


@review.command()
def reject(  # noqa: PLR0913, PLR0917 - each argument is an option
    reason: Annotated[
        str,
        typer.Option(
            metavar="TEXT", parser=read_reason, help="The reason, which the author can read."
        ),
    ],
    ids: Ids = None,
    by: Author = None,
    entity: Entity = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Reject proposals, all or none. Their authors can read the reason."""
    chosen = _choose(ids or [], Filter(by, entity, _find_start(since), max_rows=_MOST), space)
    _Decision(chosen, "reject", reason, space, as_json).run(dry_run=dry_run, yes=yes)


def _choose(ids: list[str], chosen: Filter, space: str | None) -> list[str]:
    """Return the ids of the proposals to decide. Raises BadParameter without ids and filters."""
    filtered = any((chosen.author, chosen.entity, chosen.since))
    if bool(ids) == filtered:
        raise typer.BadParameter("give ids, or at least one of --by, --entity and --since")
    found = ids or [str(row.id) for row in _list(chosen, space)]
    if not found:
        raise ArgumentInvalid("`textrawl review list` shows them", title="No such proposals")
    return found


@dataclass(frozen=True)
class _Decision:
    """A decision about some proposals, with its plan and its question."""

    ids: Sequence[str]
    decision: Decision
    reason: str | None
    space: str | None
    as_json: bool

    def run(self, *, dry_run: bool, yes: bool) -> None:
        """Show the plan, ask, and carry it out."""
        if dry_run or not yes:
            _show_plan(_plan(self.ids, self.space), as_json=self.as_json and dry_run)
        if dry_run:
            return
        if not yes:
            _ask(f"{self.decision.capitalize()} {count(len(self.ids), 'proposal')}?")
        rows = change_memory("textrawl review", self.space, self._work, homeless=True)
        if self.as_json:
            write_json([_write_plain(asdict(row)) for row in rows])
        write_message(f"{count(len(rows), 'proposal')} {self.decision}ed.")

    async def _work(self, session: MemorySession) -> Sequence[DecidedRow]:
        operations = ReviewOperations(session.store)
        return await operations.decide(self.ids, self.decision, self.reason, session.caller)


def _list(chosen: Filter, space: str | None) -> Sequence[ProposalRow]:
    async def work(session: MemorySession) -> Sequence[ProposalRow]:
        return await ReviewOperations(session.store).list(chosen, session.caller)

    return read_memory("textrawl review", space, work)


def _plan(ids: Sequence[str], space: str | None) -> Sequence[PlannedRow]:
    async def work(session: MemorySession) -> Sequence[PlannedRow]:
        return await ReviewOperations(session.store).plan(ids, session.caller)

    return read_memory("textrawl review", space, work)


def _show_plan(plan: Sequence[PlannedRow], *, as_json: bool) -> None:
    if as_json:
        write_json([_write_plain(asdict(row)) for row in plan])
        return
    for row in plan:
        _write_line(f"{str(row.id)[:8]} {row.author_name}: {row.entity_name}: {row.content}")
        _write_line(f"  accepting {_WOULD[row.outcome]}")
        _show_beside(row.beside)


def _show(row: ProposalRow) -> None:
    state = "" if row.state == "pending" else f" [{row.state}]"
    reason = f" ({row.reason})" if row.reason else ""
    text = f"{row.created_at:%Y-%m-%d} {row.author_name}: {row.entity_name}: {row.content}"
    _write_line(f"{str(row.id)[:8]} {text}{state}{reason}")
    _show_beside(row.beside or [])


def _show_beside(beside: Sequence[dict[str, Any]]) -> None:
    for fact in beside:
        _write_line(f"  {fact['why']} {fact['id'][:8]}: {fact['content']}")


def _write_line(text: str) -> None:
    open_console().print(write_cell(text), soft_wrap=True)


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise StartRefused("Nothing was decided: without a terminal, add --yes")
    typer.confirm(question, abort=True, err=True)


def _find_start(since: str | None) -> datetime | None:
    return None if since is None else find_start(since)


def _write_plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _write_value(value) for name, value in row.items()}


def _write_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
