"""`textrawl entity`: aliases of entities, and merges of two entities that are one."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, TypeVar

import typer

from textrawl.cli.administration import draw_rows
from textrawl.cli.console import count, open_console, write_json, write_texts
from textrawl.cli.inputs import AsJson, EntityName, SpaceName, WrittenSpace, read_name
from textrawl.cli.memory_session import MemorySession, change_memory, read_memory
from textrawl.memory.entities import (
    AliasRow,
    EntityOperations,
    MergeRow,
    NamedRow,
    SamePair,
    SplitRow,
    UnnamedRow,
)

Result = TypeVar("Result")

entity = typer.Typer(
    help="Give entities aliases, and merge two entities that are one.", no_args_is_help=True
)
alias = typer.Typer(help="Add, remove and list aliases of entities.", no_args_is_help=True)
entity.add_typer(alias, name="alias")

_Other = Annotated[
    str,
    typer.Argument(metavar="OTHER", parser=read_name, help="The same entity under another name."),
]
_Alias = Annotated[
    str,
    typer.Argument(metavar="ALIAS", parser=read_name, help="Another name of the entity."),
]
_OptionalName = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", parser=read_name, help="Only this entity."),
]
_Merged = Annotated[
    str,
    typer.Argument(metavar="NAME", parser=read_name, help="A name that the merged entity had."),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen, and change nothing.")
]
_Limit = Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Maximum number of pairs.")]
_LeastScore = Annotated[
    float,
    typer.Option("--min-score", metavar="S", min=0, max=1, help="Smallest score of a pair."),
]


@entity.command()
def merge(
    name: EntityName,
    other: _Other,
    dry_run: _DryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Merge OTHER into NAME: facts, relations and names of OTHER go to NAME.

    `textrawl entity split OTHER` takes the merge back.
    """

    async def work(operations: EntityOperations, session: MemorySession) -> MergeRow:
        return await operations.merge(name, other, session.caller, dry_run=dry_run)

    row = _change("merge", space, work)
    verb = "Would merge" if dry_run else "Merged"
    _report(
        row,
        f"{verb} {row.merged_name} ({row.merged_type}) into {row.kept_name} ({row.kept_type})",
        _count(row.facts, row.relations),
        f"Already known: {_count(row.duplicate_facts, row.duplicate_relations)}",
        *[f"  {one['content']}" for one in row.collapsing],
        as_json=as_json,
    )


@entity.command()
def split(
    name: _Merged,
    dry_run: _DryRun = False,
    space: WrittenSpace = None,
    as_json: AsJson = False,
) -> None:
    """Take a merge back, so that there are two entities again.

    Facts that were stored since the merge under NAME go to the entity of that name. All other
    facts stay.
    """

    async def work(operations: EntityOperations, session: MemorySession) -> SplitRow:
        return await operations.split(name, session.caller, dry_run=dry_run)

    row = _change("split", space, work)
    verb = "Would split" if dry_run else "Split"
    _report(
        row,
        f"{verb} {row.merged_name} from {row.kept_name}",
        f"{_count(row.facts, row.relations)} of {row.merged_name}",
        *[f"  since the merge, {one['entity']}: {one['content']}" for one in row.later],
        as_json=as_json,
    )


@entity.command()
def same(
    name: _OptionalName = None,
    min_score: _LeastScore = 0.5,
    limit: _Limit = 20,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Find entities that may be one entity under two names. Nothing is merged."""

    async def work(session: MemorySession) -> list[SamePair]:
        return await EntityOperations(session.store).find_same(
            session.caller, entity=name, least_score=min_score, limit=limit
        )

    pairs = read_memory("textrawl entity same", space, work)
    if as_json:
        write_json([asdict(pair) for pair in pairs])
        return
    columns = ["keep", "other", "score", "shared facts", "shared relations", "space"]
    rows = [
        [p.entity_name, p.other_name, f"{p.score:.2f}", p.shared_facts, p.shared_relations, p.space]
        for p in pairs
    ]
    open_console().print(draw_rows(columns, [[str(cell) for cell in row] for row in rows]))


@alias.command("add")
def add_alias(
    name: EntityName, other: _Alias, space: WrittenSpace = None, as_json: AsJson = False
) -> None:
    """Give an entity another name."""

    async def work(operations: EntityOperations, session: MemorySession) -> NamedRow:
        return await operations.add_alias(name, other, session.caller)

    row = _change("alias add", space, work)
    _report(row, f"{row.stored_alias} is a name of {row.entity_name}", as_json=as_json)


@alias.command("remove")
def remove_alias(other: _Alias, space: WrittenSpace = None, as_json: AsJson = False) -> None:
    """Remove a wrong alias. Facts that were written under it stay."""

    async def work(operations: EntityOperations, session: MemorySession) -> UnnamedRow:
        return await operations.remove_alias(other, session.caller)

    row = _change("alias remove", space, work)
    line = f"{row.stored_alias} is no longer a name of {row.entity_name}"
    _report(row, line, as_json=as_json)


@alias.command("list")
def list_aliases(
    name: _OptionalName = None, space: SpaceName = None, as_json: AsJson = False
) -> None:
    """List the aliases of an entity, or of all entities."""

    async def work(session: MemorySession) -> list[AliasRow]:
        return await EntityOperations(session.store).list_aliases(name, session.caller)

    rows = read_memory("textrawl entity alias list", space, work)
    if as_json:
        write_json([asdict(row) for row in rows])
        return
    columns = ["entity", "alias", "author", "merged", "space"]
    cells = [
        [row.entity_name, row.alias, row.author, "yes" if row.merged else "", row.space]
        for row in rows
    ]
    open_console().print(draw_rows(columns, cells))


def _change(
    command: str,
    space: str | None,
    work: Callable[[EntityOperations, MemorySession], Awaitable[Result]],
) -> Result:
    async def run(session: MemorySession) -> Result:
        session.caller.principal.require("write")
        return await work(EntityOperations(session.store), session)

    return change_memory(f"textrawl entity {command}", space, run)


def _count(facts: int, relations: int) -> str:
    return f"{count(facts, 'fact')}, {count(relations, 'relation')}"


def _report(row: MergeRow | SplitRow | NamedRow | UnnamedRow, *lines: str, as_json: bool) -> None:
    if as_json:
        write_json(asdict(row))
    else:
        write_texts(open_console(), *lines)
