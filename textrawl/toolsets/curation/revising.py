"""revise_fact: the tool for facts that were wrong."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.curation.declaration import OptionalFact, Reason, Reference, curation
from textrawl.toolsets.curation.operations import CurationOperations, Revision
from textrawl.toolsets.curation.rows import RevisedRow
from textrawl.toolsets.memory.declaration import Name
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply, write_id


class RevisedReply(Reply):
    """The wrong fact and its successor."""

    spared = (("message",), ("entity_name",))

    success: Annotated[bool, Key("ok")] = True
    duplicate: Annotated[bool | None, Key("dup")] = None
    message: str | None
    entity_name: str | None
    observation_id: Annotated[str, Key("wrong", short_id=True)]
    successor_id: Annotated[str | None, Key("obs", short_id=True)] = None

    @classmethod
    def build(cls, row: RevisedRow) -> Self:
        """Return the reply for `row`. `duplicate` says that the successor was known before."""
        verb = "Already revised" if row.repeated else "Revised"
        return cls(
            message=f"{verb} a fact about {row.entity_name}",
            duplicate=row.duplicate or None,
            entity_name=row.entity_name,
            observation_id=str(row.observation_id),
            successor_id=write_id(row.successor_id),
        )


@curation.tool(WRITES, RevisedReply)
async def revise_fact(
    call: Call,
    entityName: Name,
    fact: Annotated[Reference, Field(description="id or text of the wrong fact")],
    reason: Annotated[Reason, Field(description="why it was wrong")],
    instead: Annotated[OptionalFact, Field(description="what is right, if known")] = "",
) -> CallToolResult:
    """Mark a fact as wrong from the beginning, say why, and store what is right.

    For a fact that was right and is no longer so, use remember_fact with replaces. Example:
    {"entityName":"Jeff","fact":"lives in Oslo","reason":"he said Bergen","instead":"lives in
    Bergen"}.
    """
    revision = Revision(entityName, fact, reason, instead or None)
    row = await CurationOperations(call.store).revise(revision, call.caller)
    return call.reply(RevisedReply.build(row))
