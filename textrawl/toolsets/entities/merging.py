"""merge_entities and split_entity: two entities become one, and two again."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.entities.declaration import entities
from textrawl.toolsets.entities.operations import EntityOperations
from textrawl.toolsets.entities.rows import MergeRow, SplitRow
from textrawl.toolsets.memory.declaration import Name
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply

DryRun = Annotated[bool, Field(description="only say what would happen")]


class MergedReply(Reply):
    """The counts of a merge, and the texts that both entities have."""

    spared = (("message",), ("kept_type", "merged_type"), ("collapsing",))

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    dry_run: Annotated[bool | None, Key("dry")] = None
    kept_name: Annotated[str, Key("entity")]
    kept_type: Annotated[str | None, Key("t")] = None
    merged_name: Annotated[str, Key("merged")]
    merged_type: Annotated[str | None, Key("mergedT")] = None
    facts: Annotated[int, Key("facts")]
    relations: Annotated[int, Key("rel")]
    duplicates: Annotated[int, Key("dup")]
    collapsing: Annotated[list[str] | None, Key("dups")] = None

    @classmethod
    def build(cls, row: MergeRow, *, dry_run: bool) -> Self:
        """Return the reply for `row`. Types are given only if they differ."""
        differ = row.kept_type != row.merged_type
        verb = "Would merge" if dry_run else "Merged"
        return cls(
            message=f"{verb} {row.merged_name} into {row.kept_name}",
            dry_run=dry_run or None,
            kept_name=row.kept_name,
            kept_type=row.kept_type if differ else None,
            merged_name=row.merged_name,
            merged_type=row.merged_type if differ else None,
            facts=row.facts,
            relations=row.relations,
            duplicates=row.duplicate_facts + row.duplicate_relations,
            collapsing=[one["content"] for one in row.collapsing] or None if dry_run else None,
        )


class SplitReply(Reply):
    """The two entities of a split, and where later facts went."""

    spared = (("message",), ("later",))

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    dry_run: Annotated[bool | None, Key("dry")] = None
    kept_name: Annotated[str, Key("entity")]
    split_name: Annotated[str, Key("split")]
    facts: Annotated[int, Key("facts")]
    relations: Annotated[int, Key("rel")]
    later: Annotated[dict[str, list[str]] | None, Key("later")] = None

    @classmethod
    def build(cls, row: SplitRow, *, dry_run: bool) -> Self:
        """Return the reply for `row`. `later` has the facts since the merge by entity."""
        later: dict[str, list[str]] = {}
        for fact in row.later:
            later.setdefault(fact["entity"], []).append(fact["content"])
        verb = "Would split" if dry_run else "Split"
        return cls(
            message=f"{verb} {row.merged_name} from {row.kept_name}",
            dry_run=dry_run or None,
            kept_name=row.kept_name,
            split_name=row.merged_name,
            facts=row.facts,
            relations=row.relations,
            later=later or None,
        )


@entities.tool(WRITES, MergedReply)
async def merge_entities(
    call: Call,
    entityName: Annotated[Name, Field(description="the entity to keep")],
    other: Annotated[Name, Field(description="the same entity under another name")],
    dryRun: DryRun = False,
) -> CallToolResult:
    """Merge two entities that are one: facts, relations and names of the other go to the first.

    Call it with dryRun first, and merge only if the user agrees. split_entity takes it back.
    """
    row = await EntityOperations(call.store).merge(entityName, other, call.caller, dry_run=dryRun)
    return call.reply(MergedReply.build(row, dry_run=dryRun))


@entities.tool(WRITES, SplitReply)
async def split_entity(
    call: Call,
    name: Annotated[Name, Field(description="former name of the merged entity")],
    dryRun: DryRun = False,
) -> CallToolResult:
    """Split a wrong merge: both entities are as they were before it.

    Facts that were written since under a name of the merged entity go to it; all others stay.
    """
    row = await EntityOperations(call.store).split(name, call.caller, dry_run=dryRun)
    return call.reply(SplitReply.build(row, dry_run=dryRun))
