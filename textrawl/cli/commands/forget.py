"""`textrawl forget`: permanent deletion, after a preview."""

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
    write_texts,
)
from textrawl.cli.inputs import AsJson, EntityName, WrittenSpace, Yes, read_reference
from textrawl.cli.memory_session import ask
from textrawl.memory import commands
from textrawl.memory.fact_rows import ForgottenRow

_Fact = Annotated[
    str | None,
    typer.Argument(
        metavar="[FACT]",
        parser=read_reference,
        help="Only this fact: its id, the first 8 characters of its id, or its text. Or only this "
        "relation: works_at→Acme Corp.",
    ),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be deleted, and delete nothing.")
]


def forget(
    name: EntityName,
    fact: _Fact = None,
    yes: Yes = False,
    dry_run: _DryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Delete an entity, or one fact of it, for good.

    The command shows what would be deleted, and asks before it deletes. To correct a fact use
    `textrawl remember --replaces`.
    """
    if not yes:
        plan = ask(commands.forget, space, name, fact)
        if as_json and dry_run:
            write_json(_write_plain(plan))
        else:
            _show(plan, open_progress() if as_json else open_console())
        if dry_run:
            return
        confirm("Delete it for good?", "deleted")
    elif dry_run:
        raise typer.BadParameter("give --dry-run or --yes, not both")
    done = ask(commands.forget, space, name, fact, dry_run=False)
    if as_json:
        write_json(_write_plain(done))
    write_message(f"Deleted {_describe(done)}.")


def _show(plan: ForgottenRow, console: Console) -> None:
    sample = plan.sample or []
    lines = [f"  {content}" for content in sample]
    write_texts(console, f"This deletes {_describe(plan)}:", *lines)
    if (hidden := (plan.facts or 0) - len(sample)) > 0:
        console.print(f"  and {count(hidden, 'more fact')}")


def _describe(row: ForgottenRow) -> str:
    if row.observation_id:
        return f"one fact about {row.entity_name}"
    if row.relation_id:
        return f"one relation of {row.entity_name}"
    counts = f"{count(row.facts or 0, 'fact')} and {count(row.relations or 0, 'relation')}"
    return f"{row.entity_name} with {counts}"


def _write_plain(row: ForgottenRow) -> dict[str, object]:
    return {
        "entity_id": row.entity_id,
        "entity_name": row.entity_name,
        "observation_id": row.observation_id,
        "relation_id": row.relation_id,
        "facts": row.facts,
        "relations": row.relations,
        "sample": row.sample,
    }
