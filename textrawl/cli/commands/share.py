"""`textrawl share`: facts of one space for the people of another."""

from typing import Annotated

import typer
from rich.console import Console

from textrawl.cli.console import (
    confirm,
    count,
    open_console,
    open_progress,
    write_json,
    write_texts,
)
from textrawl.cli.inputs import AsJson, DryRun, EntityName, Yes, read_reference
from textrawl.cli.memory_session import ask
from textrawl.memory import commands
from textrawl.memory.curation import SharedRow
from textrawl.settings import read_settings
from textrawl.values.text import clean_name

_Facts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FACT]...",
        parser=read_reference,
        help="Only these facts: their ids, the first 8 characters of the ids, or their texts.",
    ),
]
_Target = Annotated[
    str,
    typer.Option("--to", metavar="SPACE", parser=clean_name, help="The space that gets the facts."),
]
_Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="SPACE",
        parser=clean_name,
        help="The space that has the facts; default: your home space. [TEXTRAWL_SPACE]",
    ),
]
_Move = Annotated[
    bool, typer.Option("--move", help="Also remove the facts from the space that has them.")
]
_Ended = Annotated[bool, typer.Option("--with-ended", help="Also facts that are no longer valid.")]


def share(  # noqa: PLR0913, PLR0917 - each argument is an option
    name: EntityName,
    target: _Target,
    facts: _Facts = None,
    source: _Source = None,
    move: _Move = False,
    ended: _Ended = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Copy or move an entity, or some of its facts, to another space.

    Authors and dates stay. A fact that is there already is not stored again. Without facts, the
    entity goes with its valid facts and relations. The command shows what would happen, and asks.
    """
    place = source or read_settings().space  # this setting must not hide the target
    wanted = name, target, place, facts or None, move, ended
    if dry_run or not yes:
        plan = ask(commands.share, None, *wanted)
        if as_json and dry_run:
            write_json(plan)
        else:
            _show(plan, target, open_progress() if as_json else open_console(), move=move)
        if dry_run:
            return
        confirm("Share this?", "shared")
    done = ask(commands.share, None, *wanted, dry_run=False)
    if as_json:
        write_json(done)
    else:
        _report(done, target, move=move)


def _show(plan: SharedRow, target: str, console: Console, *, move: bool) -> None:
    verb = "moves" if move else "copies"
    line = f"This {verb} {_describe(plan)} of {plan.entity_name} to {target}:"
    write_texts(console, line, *[f"  {content}" for content in plan.sample or []])


def _report(done: SharedRow, target: str, *, move: bool) -> None:
    line = f"Shared {done.entity_name} with {target}: {_describe(done)}"
    if done.duplicate_facts:
        line += f", {count(done.duplicate_facts, 'fact')} known there"
    lines = [line]
    if move:
        moved = f"{count(done.moved_facts, 'fact')} and {count(done.moved_relations, 'relation')}"
        lines.append(f"Taken away: {moved}")
    write_texts(open_console(), *lines)


def _describe(row: SharedRow) -> str:
    return f"{count(row.shared_facts, 'fact')} and {count(row.relations, 'relation')}"
