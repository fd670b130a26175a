"""sync_push."""

from typing import Annotated, Any, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.sync.declaration import (
    IdentityChanges,
    Instance,
    MemoryChanges,
    Version,
    sync,
)
from textrawl.toolsets.sync.operations import Program, SyncOperations
from textrawl.toolsets.sync.pulling import TokenPart
from textrawl.toolsets.sync.rows import PushedRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Part, Reply

_WINNERS = {"stored": "incoming", "lost": "stored", "erased": "deleted"}


class ConflictPart(Part):
    """A document that another instance changed meanwhile. `winner` is the current text."""

    path: Annotated[str, Key("at")]
    winner: Annotated[str, Key("won")]
    other: Annotated[str | None, Key("by")]

    @classmethod
    def build(cls, outcome: dict[str, Any]) -> Self:
        """Return the part for an outcome of push_changes."""
        return cls(
            path=outcome["path"],
            winner=_WINNERS[outcome["outcome"]],
            other=outcome["rival"] or None,
        )


class PushedReply(Reply):
    """The number of stored changes, the conflicts, and the version that the instance knows now."""

    success: Annotated[bool, Key("ok")] = True
    stored: Annotated[int, Key("n")]
    unchanged: Annotated[int | None, Key("same")]
    conflicts: Annotated[list[ConflictPart] | None, Key("conflicts")]
    new_sync_token: Annotated[TokenPart, Key("token")]

    @classmethod
    def build(cls, row: PushedRow) -> Self:
        """Return the reply for `row`."""
        found = [outcome["outcome"] for outcome in row.outcomes]
        disputed = [one for one in row.outcomes if one["rival"] is not None]
        return cls(
            stored=found.count("stored"),
            unchanged=found.count("unchanged") or None,
            conflicts=[ConflictPart.build(one) for one in disputed] or None,
            new_sync_token=TokenPart.build(row.space_id, row.known_version),
        )


@sync.tool(WRITES, PushedReply)
async def sync_push(
    call: Call,
    instance: Instance,
    identityChanges: IdentityChanges = [],  # noqa: B006
    memoryChanges: MemoryChanges = [],  # noqa: B006
    lastSyncVersion: Annotated[
        Version | None, Field(description="from which the changes were made")
    ] = None,
) -> CallToolResult:
    """Store all changes of an instance, or none. The later change wins; the answer has conflicts.

    Example: {"instance":{"id":"laptop"},"identityChanges":[{"category":"self",
    "filename":"my_wants.md","content":"Tea."}],"lastSyncVersion":7}.
    """
    changes = [change.read() for change in identityChanges]
    changes += [change.read(instance.id) for change in memoryChanges]
    if not changes:
        raise ArgumentInvalid("give identityChanges or memoryChanges", title="Nothing to push")
    operations = SyncOperations(call.store)
    program = Program(instance.id, instance.type, instance.name, instance.version)
    row = await operations.push(program, changes, lastSyncVersion, call.caller)
    await operations.register(program, call.caller)
    return call.reply(PushedReply.build(row))
