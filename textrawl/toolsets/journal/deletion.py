"""memory_delete: delete an entry for good."""

from typing import Annotated

from mcp.types import CallToolResult

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.journal.declaration import EntryDate, Granularity, InstanceId, Slug, journal
from textrawl.toolsets.journal.operations import EntryKey, JournalOperations
from textrawl.toolsets.toolset import DELETES
from textrawl.wire.replies import Key, Reply


class DeletedReply(Reply):
    """The path of an entry that was deleted."""

    success: Annotated[bool, Key("ok")] = True
    message: Annotated[str, Key("msg")]


@journal.tool(DELETES, DeletedReply, FailureReply)
async def memory_delete(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    instanceId: InstanceId | None = None,
    slug: Slug | None = None,
) -> CallToolResult:
    """Delete an entry with all its versions, for good; memory_update corrects it instead.

    Example: {"granularity":"daily","date":"2026-05-12","instanceId":"laptop"}.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    row = await JournalOperations(call.store).delete(key, call.caller)
    if not row.deleted:
        return reply_failure(call, f"There is no entry {row.path}; nothing was deleted")
    return call.reply(DeletedReply(message=f"Deleted {row.path}"))
