"""share_memories: the tool that copies or moves facts to another space."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.curation.declaration import OptionalSpace, Reference, SpaceName, curation
from textrawl.toolsets.curation.operations import CurationOperations, Share
from textrawl.toolsets.curation.rows import SharedRow
from textrawl.toolsets.memory.declaration import Name
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply, write_id


class SharedReply(Reply):
    """The counts of a copy or a move, or the preview of a dry run."""

    spared = (("message", "sample"), ("entity_id",))

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    dry_run: Annotated[bool | None, Key("dry")] = None
    entity_id: Annotated[str | None, Key("entity", short_id=True)] = None
    facts: Annotated[int, Key("facts")]
    duplicates: Annotated[int | None, Key("dup")] = None
    relations: Annotated[int, Key("rel")]
    moved: Annotated[int | None, Key("moved")] = None
    sample: Annotated[list[str] | None, Key("sample")] = None

    @classmethod
    def build(cls, row: SharedRow, share: Share, *, dry_run: bool) -> Self:
        """Return the reply for `row`. `moved` counts facts and relations that left the source."""
        verb = "Would share" if dry_run else "Shared"
        return cls(
            message=f"{verb} {row.entity_name} with {share.target}",
            dry_run=dry_run or None,
            entity_id=write_id(row.entity_id),
            facts=row.shared_facts,
            duplicates=row.duplicate_facts or None,
            relations=row.relations,
            moved=row.moved_facts + row.moved_relations if share.move else None,
            sample=row.sample if dry_run else None,
        )


@curation.tool(WRITES, SharedReply, dry_run="dryRun", anywhere=True)
async def share_memories(
    call: Call,
    entityName: Name,
    toSpace: SpaceName,
    facts: Annotated[
        list[Reference] | None,
        Field(max_length=50, description="ids or texts; else the entity with its relations"),
    ] = None,
    fromSpace: OptionalSpace = "",
    move: Annotated[bool, Field(description="also take them away here")] = False,
    includeEnded: bool = False,
    dryRun: bool = False,
) -> CallToolResult:
    """Copy or move facts of an entity to another space, such as from your own to the team's.

    Only when the user wants it. Authors and dates stay. Example:
    {"entityName":"Jeff","toSpace":"team","facts":["lives in Bergen"],"dryRun":true}.
    """
    share = Share(entityName, toSpace, fromSpace or None, facts, move, includeEnded)
    row = await CurationOperations(call.store).share(share, call.caller, dry_run=dryRun)
    return call.reply(SharedReply.build(row, share, dry_run=dryRun))
