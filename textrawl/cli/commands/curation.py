"""The commands `revise`, `pin`, `unpin`, `forget` and `share`: what is done with facts."""

from typing import Annotated

import typer
from rich.console import Console

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
    DryRun,
    EntityName,
    WrittenSpace,
    Yes,
    argument,
    option,
    read_fact,
    read_reason,
    read_reference,
)
from textrawl.cli.questions import ask
from textrawl.environment import find_value, read_sources
from textrawl.memory.command_results import PinnedRow, PinRow, RevisedRow, SharedRow
from textrawl.memory.fact_rows import ForgottenRow
from textrawl.values.text import clean_name

_Fact = Annotated[
    str,
    argument(
        "FACT",
        "The fact: its id, the first 8 characters of its id, or its text.",
        read_reference,
    ),
]
_Reason = Annotated[str, option("--reason TEXT", "Why the fact was wrong.", read_reason)]
_Instead = Annotated[str | None, option("--instead FACT", "The fact that is right.", read_fact)]


def revise(
    name: EntityName,
    fact: _Fact,
    reason: _Reason,
    instead: _Instead = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Mark a fact as wrong, say why, and store what is right.

    The wrong fact is then valid at no time, and the fact that is right gets its times. If a fact
    was right and is no longer so, use `textrawl remember --replaces`.
    """
    row = ask("revise", RevisedRow, space, name=name, fact=fact, reason=reason, instead=instead)
    verb = "Already revised" if row.repeated else "Revised"
    lines = [f"{verb} {row.entity_name}: {row.content or row.observation_id}"]
    if row.successor_id:
        lines.append(f"Instead: {str(row.successor_id)[:8]} {instead}")
    write_result(row, *lines, as_json=as_json)


_PinnedName = Annotated[str | None, argument("[NAME]", "Name of the entity.", clean_name)]
_PinnedFact = Annotated[
    str | None,
    argument(
        "[FACT]", "The fact: its id, the first 8 characters of its id, or its text.", read_reference
    ),
]


def pin(
    name: _PinnedName = None,
    fact: _PinnedFact = None,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Pin a fact, so that every session begins with it, first and whole.

    Without a fact, list what is pinned. A space has at most twelve pins, of at most 200 characters
    each. If a pinned fact is replaced, its successor is pinned.
    """
    if name and fact:
        _write_pin(ask("pin", PinnedRow, space, name=name, fact=fact), "Pinned", as_json=as_json)
        return
    if name:
        raise typer.BadParameter("give the fact too, or no name to list pins", param_hint="FACT")
    rows = ask("list_pins", list[PinRow], space)
    lines = [
        f"{str(row.observation_id)[:8]}  {row.entity_name}: {row.content}"
        f"{'' if row.valid else ' (over)'}, by {row.author}"
        for row in rows
    ]
    write_result(rows, *(lines or ["Nothing is pinned."]), as_json=as_json)


def unpin(
    name: EntityName,
    fact: _Fact,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Take the pin of a fact away. The fact stays."""
    row = ask("pin", PinnedRow, space, name=name, fact=fact, pinned=False)
    _write_pin(row, "Unpinned", as_json=as_json)


def _write_pin(row: PinnedRow, done: str, *, as_json: bool) -> None:
    word = done if row.changed else f"Already {done.lower()}"
    write_result(row, f"{word}: {row.entity_name}: {row.content}", as_json=as_json)


_OptionalFact = Annotated[
    str | None,
    argument(
        "[FACT]",
        "Only this fact: its id, the first 8 characters of its id, or its text. Or only this "
        "relation: works_at→Acme Corp.",
        read_reference,
    ),
]
_ForgetDryRun = Annotated[
    bool, option("--dry-run", "Show what would be deleted, and delete nothing.")
]


def forget(
    name: EntityName,
    fact: _OptionalFact = None,
    yes: Yes = False,
    dry_run: _ForgetDryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Delete an entity, or one fact of it, for good.

    The command shows what would be deleted, and asks before it deletes. To correct a fact use
    `textrawl remember --replaces`.
    """
    if not yes:
        plan = ask("forget", ForgottenRow, space, name=name, fact=fact)
        if as_json and dry_run:
            write_json(_write_plain(plan))
        else:
            _show_deletion(plan, open_progress() if as_json else open_console())
        if dry_run:
            return
        confirm("Delete it for good?", "deleted")
    elif dry_run:
        raise typer.BadParameter("give --dry-run or --yes, not both")
    done = ask("forget", ForgottenRow, space, name=name, fact=fact, dry_run=False)
    if as_json:
        write_json(_write_plain(done))
    write_message(f"Deleted {_describe_deletion(done)}.")
    _name_documents(done)


def _show_deletion(plan: ForgottenRow, console: Console) -> None:
    sample = plan.sample or []
    lines = [f"  {content}" for content in sample]
    write_texts(console, f"This deletes {_describe_deletion(plan)}:", *lines)
    if (hidden := (plan.facts or 0) - len(sample)) > 0:
        console.print(f"  and {count(hidden, 'more fact')}")
    _name_documents(plan)


def _name_documents(row: ForgottenRow) -> None:
    if row.documents:
        write_message(f"Documents of this name stay: {', '.join(row.documents)}")


def _describe_deletion(row: ForgottenRow) -> str:
    if row.observation_id:
        return f"one fact about {row.entity_name}"
    if row.relation_id:
        return f"one relation of {row.entity_name}"
    counts = f"{count(row.facts or 0, 'fact')} and {count(row.relations or 0, 'relation')}"
    return f"{row.entity_name} with {counts}"


def _write_plain(row: ForgottenRow) -> dict[str, object]:
    names = ("entity_id", "entity_name", "observation_id", "relation_id")
    return {
        name: getattr(row, name) for name in (*names, "facts", "relations", "sample", "documents")
    }


_Facts = Annotated[
    list[str] | None,
    argument(
        "[FACT]...",
        "Only these facts: their ids, the first 8 characters of the ids, or their texts.",
        read_reference,
    ),
]
_Target = Annotated[str, option("--to SPACE", "The space that gets the facts.", clean_name)]
_Source = Annotated[
    str | None,
    option(
        "--from SPACE",
        "The space that has the facts; default: your home space. [TEXTRAWL_SPACE]",
        clean_name,
    ),
]
_Move = Annotated[bool, option("--move", "Also remove the facts from the space that has them.")]
_Ended = Annotated[bool, option("--with-ended", "Also facts that are no longer valid.")]


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
    setting = find_value("space", read_sources())  # it must not hide the target
    place = source or (setting.text if setting else None)
    wanted: dict[str, object] = {
        "name": name,
        "target": target,
        "source": place,
        "facts": facts or None,
        "move": move,
        "ended": ended,
    }
    if dry_run or not yes:
        plan = ask("share", SharedRow, **wanted)
        if as_json and dry_run:
            write_json(plan)
        else:
            line = f"{_describe(plan)} of {plan.entity_name} to {target}:"
            sample = [f"  {content}" for content in plan.sample or []]
            console = open_progress() if as_json else open_console()
            write_texts(console, f"This {'moves' if move else 'copies'} {line}", *sample)
        if dry_run:
            return
        confirm("Share this?", "shared")
    done = ask("share", SharedRow, **wanted, dry_run=False)
    line = f"Shared {done.entity_name} with {target}: {_describe(done)}"
    if done.duplicate_facts:
        line += f", {count(done.duplicate_facts, 'fact')} known there"
    moved = f"{count(done.moved_facts, 'fact')} and {count(done.moved_relations, 'relation')}"
    write_result(done, line, *([f"Taken away: {moved}"] if move else []), as_json=as_json)


def _describe(row: SharedRow) -> str:
    return f"{count(row.shared_facts, 'fact')} and {count(row.relations, 'relation')}"
