"""`textrawl share`: facts of one space for the people of another."""

import sys
from dataclasses import replace
from typing import Annotated

import typer

from textrawl.access.directory import Directory
from textrawl.cli.console import count, open_console, write_cell, write_json
from textrawl.cli.inputs import AsJson, EntityName, read_reference
from textrawl.cli.memory_session import MemorySession, change_memory
from textrawl.errors import StartRefused
from textrawl.toolsets.curation.operations import CurationOperations, Share
from textrawl.toolsets.curation.rows import SharedRow
from textrawl.values.text import clean_name

_LONGEST = 600.0  # seconds that a large entity can take

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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy or move an entity, or some of its facts, to another space.

    Authors and dates stay. A fact that is there already is not stored again. Without facts, the
    entity goes with its valid facts and relations. The command shows what would happen, and asks.
    """
    wanted = Share(name, target, source, facts or None, move, ended)
    if dry_run or not yes:
        plan = _work(wanted, dry_run=True)
        if not as_json or not dry_run:
            _show(plan, wanted)
        elif as_json:
            write_json(_write_plain(plan))
        if dry_run:
            return
        _ask()
    done = _work(wanted, dry_run=False)
    if as_json:
        write_json(_write_plain(done))
    else:
        _report(done, wanted)


def _work(wanted: Share, *, dry_run: bool) -> SharedRow:
    async def work(session: MemorySession) -> SharedRow:
        # The setting SPACE names the source, and must not hide the target.
        directory = Directory(session.store.database, sensitive=True)
        principal = await directory.find_own(session.store.credential, None)
        caller = replace(session.caller, principal=principal)
        chosen = replace(wanted, source=wanted.source or session.settings.space)
        return await CurationOperations(session.store).share(chosen, caller, dry_run=dry_run)

    return change_memory("textrawl share", None, work, homeless=True, least_timeout=_LONGEST)


def _show(plan: SharedRow, wanted: Share) -> None:
    console = open_console()
    verb = "moves" if wanted.move else "copies"
    line = f"This {verb} {_describe(plan)} of {plan.entity_name} to {wanted.target}:"
    console.print(write_cell(line), soft_wrap=True)
    for content in plan.sample or []:
        console.print(write_cell(f"  {content}"), soft_wrap=True)


def _report(done: SharedRow, wanted: Share) -> None:
    console = open_console()
    line = f"Shared {done.entity_name} with {wanted.target}: {_describe(done)}"
    if done.duplicate_facts:
        line += f", {count(done.duplicate_facts, 'fact')} known there"
    console.print(write_cell(line), soft_wrap=True)
    if wanted.move:
        moved = f"{count(done.moved_facts, 'fact')} and {count(done.moved_relations, 'relation')}"
        console.print(f"Taken away: {moved}")


def _describe(row: SharedRow) -> str:
    return f"{count(row.shared_facts, 'fact')} and {count(row.relations, 'relation')}"


def _ask() -> None:
    if not sys.stdin.isatty():
        raise StartRefused("Nothing was shared: without a terminal, add --yes")
    typer.confirm("Share this?", abort=True, err=True)


def _write_plain(row: SharedRow) -> dict[str, object]:
    return {
        "entity_id": row.entity_id and str(row.entity_id),
        "entity_name": row.entity_name,
        "shared_facts": row.shared_facts,
        "duplicate_facts": row.duplicate_facts,
        "relations": row.relations,
        "moved_facts": row.moved_facts,
        "moved_relations": row.moved_relations,
        "sample": row.sample,
    }
