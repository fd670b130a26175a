"""The tools of the toolset `entities`."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import AfterValidator, Field

from textrawl.memory import entities as operations
from textrawl.memory.command_results import MergeRow, SplitRow
from textrawl.tools.call import Call
from textrawl.tools.memory.search_replies import Answer
from textrawl.tools.toolset import READS, WRITES, Name, OptionalName, Toolset
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, SuccessReply

entities = Toolset("entities", "Give entities aliases, and merge two entities that are one.")


class Candidate(Part):
    """Two entities that can be one. `entity_name` is the one to keep."""

    entity_name: Annotated[str, Key("entity")]
    other_name: Annotated[str, Key("other")]
    score: Annotated[float, Key("s"), AfterValidator(lambda score: round(score, 2))]
    shared_facts: Annotated[int | None, Key("facts"), OMIT_EMPTY] = None
    shared_relations: Annotated[int | None, Key("rel"), OMIT_EMPTY] = None
    space: Annotated[str | None, Key("sp")] = None


class CandidatesReply(Answer):
    """The candidates, the likeliest first."""

    items = ("candidates",)

    success: Annotated[bool, Key("ok")] = True
    candidates: Annotated[list[Candidate], Key("same")]


@entities.tool(READS, CandidatesReply)
async def find_same_entities(
    call: Call,
    entityName: Annotated[OptionalName, Field(description="only pairs with this entity")] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> CallToolResult:
    """Find entities that may be one under two names, such as Jeff Miller and jmiller.

    Nothing is merged: show the pairs to the user, and merge with merge_entities.
    """
    pairs = await operations.find_same(call, entityName or None, limit=limit)
    candidates = [Candidate.model_validate(pair) for pair in pairs]
    if len({pair.space for pair in pairs}) == 1:
        for candidate in candidates:
            candidate.space = None
    return call.reply(CandidatesReply(candidates=candidates))


DryRun = Annotated[bool, Field(description="only say what would happen")]


class MergedReply(SuccessReply):
    """The counts of a merge, and the texts that both entities have."""

    spared = (("message",), ("kept_type", "merged_type"), ("collapsing",))

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


class SplitReply(SuccessReply):
    """The two entities of a split, and where later facts went."""

    spared = (("message",), ("later",))

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
    row = await operations.merge(call, entityName, other, dry_run=dryRun)
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
    row = await operations.split(call, name, dry_run=dryRun)
    return call.reply(SplitReply.build(row, dry_run=dryRun))


class NamedReply(SuccessReply):
    """An entity and its aliases."""

    spared = (("message",),)

    message: str | None
    entity_name: Annotated[str, Key("entity")]
    aliases: Annotated[list[str] | None, Key("aka")] = None


@entities.tool(WRITES, NamedReply)
async def name_entity(
    call: Call,
    entityName: Name,
    alias: Annotated[Name, Field(description="another name of the same entity")],
    remove: Annotated[bool, Field(description="true: the alias is wrong, remove it")] = False,
) -> CallToolResult:
    """Give an entity another name (alias), or remove a wrong one.

    Every tool then takes the alias, and a search for it finds the entity. If the other name is an
    entity already, use merge_entities.
    """
    if remove:
        removed = await operations.remove_alias(call, alias, entityName)
        name, message = removed.entity_name, f"{alias} is no longer a name of {removed.entity_name}"
    else:
        added = await operations.add_alias(call, entityName, alias)
        name, message = added.entity_name, f"{alias} is a name of {added.entity_name}"
    known = await operations.list_aliases(call, name)
    aliases = [row.alias for row in known] or None
    return call.reply(NamedReply(message=message, entity_name=name, aliases=aliases))
