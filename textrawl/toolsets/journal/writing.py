"""memory_create and memory_update: store the text of an entry."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.journal.declaration import (
    ChatIds,
    Content,
    Editor,
    EntryDate,
    Granularity,
    InstanceId,
    InstanceIds,
    Slug,
    journal,
)
from textrawl.toolsets.journal.entry_names import name_entry
from textrawl.toolsets.journal.operations import EntryKey, JournalOperations
from textrawl.toolsets.journal.rows import WrittenRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply


class WrittenReply(Reply):
    """The id and the version of an entry that was stored."""

    success: Annotated[bool, Key("ok")] = True
    message: str
    memory_id: Annotated[str, Key("id")]
    path: Annotated[str, Key("at")]
    version: Annotated[int, Key("v")]
    changed: Annotated[bool, Key("new")]

    @classmethod
    def build(cls, row: WrittenRow) -> Self:
        """Return the reply for `row`."""
        return cls(
            message=_describe(row),
            memory_id=name_entry(row.path),
            path=row.path,
            version=row.number,
            changed=row.changed,
        )


def _describe(row: WrittenRow) -> str:
    if not row.changed:
        return f"{row.path} has this already; nothing was changed"
    if row.created:
        return f"Created {row.path}"
    return f"{'Merged into' if row.merged else 'Replaced the text of'} {row.path}"


@journal.tool(WRITES, WrittenReply)
async def memory_create(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    content: Content,
    instanceId: InstanceId,
    chatIds: ChatIds | None = None,
    participatingInstances: Annotated[
        InstanceIds | None, Field(description="default: instanceId")
    ] = None,
    slug: Annotated[Slug | None, Field(description="of a significant entry")] = None,
) -> CallToolResult:
    """Record in my journal. A day's bullets, each with [chat:id], are added to that day.

    Example: {"granularity":"daily","date":"2026-05-12","content":"- Met Ben [chat:7]",
    "instanceId":"laptop"}; weekly 2026-W19, monthly 2026-05, yearly 2026.
    """
    row = await JournalOperations(call.store).write(
        EntryKey(granularity, date, instanceId, slug),
        content,
        call.caller,
        chat_ids=chatIds or (),
        participants=participatingInstances,
    )
    return call.reply(WrittenReply.build(row))


@journal.tool(WRITES, WrittenReply)
async def memory_update(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    content: Content,
    editedBy: Annotated[Editor | None, Field(description="instance or person")] = None,
    instanceId: Annotated[InstanceId | None, Field(description="of a daily entry")] = None,
    slug: Slug | None = None,
) -> CallToolResult:
    """Replace the whole text of an entry, to correct it; nothing is merged.

    Example: {"granularity":"weekly","date":"2026-W19","content":"- A quiet week","editedBy":"Ben"}.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    row = await JournalOperations(call.store).update(key, content, editedBy, call.caller)
    return call.reply(WrittenReply.build(row))
