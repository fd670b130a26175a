"""`textrawl review`: see proposals, and accept or reject them. `textrawl tidy` makes some.

Without an LLM, `tidy` proposes to mend what is out of order in the memory.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Console

from textrawl.cli.commands.trail import find_start
from textrawl.cli.console import (
    confirm,
    count,
    open_console,
    open_progress,
    write_json,
    write_message,
    write_result,
    write_texts,
)
from textrawl.cli.inputs import (
    AsJson,
    LongYes,
    SpaceName,
    WrittenSpace,
    argument,
    option,
    read_name,
    read_reason,
)
from textrawl.cli.questions import ask
from textrawl.errors import ArgumentInvalid
from textrawl.memory.command_results import (
    DecidedRow,
    Decision,
    FindingRow,
    PlannedRow,
    ProposalRow,
    State,
)
from textrawl.values.text import MOST_PROPOSALS, clean_name

review = typer.Typer(no_args_is_help=True)

_WOULD = {
    "new": "accepting stores it",
    "repeats": "accepting adds nothing: it is stored already",
    "replaces": "accepting replaces a fact",
    "merges": "accepting merges the two entities",
    "ends": "accepting ends this fact; it stays in the history",
    "pins": "accepting pins this fact: each session begins with it",
    "refused": "it cannot be accepted: its end has passed, what it builds on is gone, it is pinned "
    "already, or too much is pinned",
}
Ids = Annotated[
    list[str] | None,
    argument(
        "[ID]...",
        "Ids of proposals, or the first 8 characters of them. Without ids: all pending "
        "proposals that --by, --entity and --since choose.",
    ),
]
Author = Annotated[str | None, option("--by ACTOR", "Only proposals of this actor.", clean_name)]
Entity = Annotated[str | None, option("NAME", "Only proposals about this entity.", read_name)]
Since = Annotated[
    datetime | None,
    option("TIME", "Only proposals since TIME: 2h, 7d, 2026-08-01T12:00Z.", find_start),
]
DryRun = Annotated[bool, option("--dry-run", "Show the plan, and change nothing.")]


@review.command(name="list")
def list_proposals(  # noqa: PLR0913, PLR0917 - each argument is an option
    by: Author = None,
    entity: Entity = None,
    since: Since = None,
    state: Annotated[
        State, option("STATE", "pending, accepted, rejected, withdrawn or any.")
    ] = "pending",
    limit: Annotated[
        int, option("N", "Maximum number of proposals.", min=1, max=MOST_PROPOSALS)
    ] = 20,
    offset: Annotated[int, option("N", "Number of proposals to skip.", min=0)] = 0,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show proposals, oldest first, with the stored facts beside them.

    You see all proposals of the spaces that you review, and elsewhere your own.
    """
    rows = ask(
        "list_proposals",
        list[ProposalRow],
        space,
        author=by,
        entity=entity,
        since=since,
        state=state,
        limit=limit,
        offset=offset,
    )
    if as_json:
        write_json(rows)
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
    proposal: Annotated[str, argument("ID", "Id of a pending proposal.")],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what accepting a proposal would store, with the stored facts beside it."""
    plan = ask("plan_decision", list[PlannedRow], space, ids=[proposal])
    if as_json:
        write_json(plan)
    else:
        _show_plan(plan, open_console())


@review.command()
def accept(  # noqa: PLR0913, PLR0917 - each argument is an option
    ids: Ids = None,
    by: Author = None,
    entity: Entity = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: LongYes = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Accept proposals: store them with their authors, all or none."""
    chosen = _choose(ids, by, entity, since, space)
    _decide(chosen, "accept", None, space, dry_run=dry_run, yes=yes, as_json=as_json)


@review.command()
def reject(  # noqa: PLR0913, PLR0917 - each argument is an option
    reason: Annotated[str, option("TEXT", "The reason, which the author can read.", read_reason)],
    ids: Ids = None,
    by: Author = None,
    entity: Entity = None,
    since: Since = None,
    dry_run: DryRun = False,
    yes: LongYes = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Reject proposals, all or none. Their authors can read the reason."""
    chosen = _choose(ids, by, entity, since, space)
    _decide(chosen, "reject", reason, space, dry_run=dry_run, yes=yes, as_json=as_json)


def _choose(
    ids: list[str] | None,
    by: str | None,
    entity: str | None,
    since: datetime | None,
    space: str | None,
) -> list[str]:
    """Return the ids of the proposals to decide.

    Raises BadParameter unless there are either ids or filters.
    """
    if bool(ids) == any((by, entity, since)):
        raise typer.BadParameter(
            "give ids, or at least one of --by, --entity and --since, but not both"
        )
    if ids:
        return ids
    found = ask(
        "list_proposals",
        list[ProposalRow],
        space,
        author=by,
        entity=entity,
        since=since,
        limit=MOST_PROPOSALS,
    )
    if not found:
        raise ArgumentInvalid("`textrawl review list` shows them", title="No such proposals")
    return [str(row.id) for row in found]


def _decide(  # noqa: PLR0913 - each argument is an option
    ids: list[str],
    decision: Decision,
    reason: str | None,
    space: str | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show the plan, ask, and carry it out."""
    if dry_run or not yes:
        plan = ask("plan_decision", list[PlannedRow], space, ids=ids)
        if as_json and dry_run:
            write_json(plan)
        else:
            _show_plan(plan, open_progress() if as_json else open_console())
    if dry_run:
        return
    if not yes:
        confirm(f"{decision.capitalize()} {count(len(ids), 'proposal')}?", "decided")
    rows = ask("decide", list[DecidedRow], space, ids=ids, decision=decision, reason=reason)
    if as_json:
        write_json(rows)
    write_message(f"{count(len(rows), 'proposal')} {decision}ed.")


def _show_plan(plan: Sequence[PlannedRow], console: Console) -> None:
    for row in plan:
        write_texts(
            console,
            f"{str(row.id)[:8]} {row.author_name}: {row.entity_name}: {row.content}",
            f"  {_WOULD[row.outcome]}",
            *_describe_beside(row.beside),
        )


def _show(row: ProposalRow) -> None:
    state = "" if row.state == "pending" else f" [{row.state}]"
    reason = f" ({row.reason})" if row.reason else ""
    text = f"{row.created_at:%Y-%m-%d} {row.author_name}: {row.entity_name}: {row.content}"
    line = f"{str(row.id)[:8]} {text}{state}{reason}"
    said = [f"  {row.finding or 'said'}: {row.evidence}"] if row.evidence else []
    write_texts(open_console(), line, *said, *_describe_beside(row.beside or []))


def _describe_beside(beside: Sequence[dict[str, Any]]) -> list[str]:
    return [f"  {fact['why']} {fact['id'][:8]}: {fact['content']}" for fact in beside]


# In the order in which they are shown, as FINDING in the singular and the plural.
_FINDINGS = {
    "name": ("entity has two spellings", "entities have two spellings"),
    "same": ("entity may have two names", "entities may have two names"),
    "disagreement": ("fact disagrees with a newer one", "facts disagree with newer ones"),
    "double": ("fact is there in other words", "facts are there in other words"),
    "question": ("open question is answered", "open questions are answered"),
    "expired": ("fact has ended by its own words", "facts have ended by their own words"),
    "relation": ("fact states a relation", "facts state relations"),
    "anchor": ("fact speaks of a file that changed", "facts speak of files that changed"),
    "stale": ("old fact was never recalled", "old facts were never recalled"),
}


def tidy(
    apply: Annotated[
        bool, option("--apply", "Propose what was found, for a reviewer to decide.")
    ] = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Find what is out of order in the memory, and propose to mend it.

    No LLM is asked. Without --apply, only a plan of at most ten lines is shown. With it, each
    finding becomes a proposal. Nothing else changes before somebody accepts it: `textrawl review
    list` shows them. A second run finds nothing new, and nothing that was rejected.
    """
    rows = ask("tidy", list[FindingRow], space, dry_run=not apply)
    write_result(rows, *_sum_up(rows), as_json=as_json)
    if not rows:
        write_message("Nothing new is out of order.")
    elif apply:
        write_message("Proposed. See `textrawl review list`, `accept` and `reject`.")
    else:
        write_message("Nothing was changed: --apply proposes this.")


def _sum_up(rows: Sequence[FindingRow]) -> list[str]:
    """Return a line for each kind of finding, with its number and an example."""
    lines: list[str] = []
    for finding, (one, several) in _FINDINGS.items():
        if found := [row for row in rows if row.finding == finding]:
            what, first = one if len(found) == 1 else several, found[0]
            lines.append(f"{len(found):,} {what}: {first.entity_name}: {first.content}")
    return lines
