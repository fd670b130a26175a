"""memory_read: one entry with its whole text."""

from datetime import datetime
from typing import Annotated, Self

from mcp.types import CallToolResult

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.journal.declaration import EntryDate, Granularity, InstanceId, Slug, journal
from textrawl.toolsets.journal.entry_names import name_entry
from textrawl.toolsets.journal.operations import EntryKey, JournalOperations
from textrawl.toolsets.journal.rows import EntryRow
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Reply


class EntryReply(Reply):
    """An entry with its whole text. `others` are the other entries that match the key."""

    large = True

    id: Annotated[str, Key("id")]
    granularity: str
    date: str
    slug: Annotated[str | None, Key("slug")] = None
    content: Annotated[str, Key("c")]
    chat_ids: Annotated[list[str], Key("chats")]
    source_instance: Annotated[str, Key("src")]
    participating_instances: Annotated[list[str], Key("with")]
    version: Annotated[int, Key("v")]
    created_at: datetime
    updated_at: Annotated[datetime, Key("upd")]
    edited_by: Annotated[str | None, Key("by")] = None
    others: Annotated[list[str] | None, Key("more")] = None

    @classmethod
    def build(cls, row: EntryRow) -> Self:
        """Return the reply for `row`."""
        granularity, date = row.path.split("/")[:2]
        return cls(
            id=name_entry(row.path),
            granularity=granularity,
            date=date,
            slug=row.entry_slug,
            content=row.content,
            chat_ids=row.chat_ids,
            source_instance=row.source_instance,
            participating_instances=row.participants,
            version=row.number,
            created_at=row.created_at,
            updated_at=row.modified_at,
            edited_by=row.modified_by,
            others=row.others or None,
        )


@journal.tool(READS, EntryReply, FailureReply)
async def memory_read(
    call: Call,
    granularity: Granularity,
    date: EntryDate,
    instanceId: InstanceId | None = None,
    slug: Slug | None = None,
) -> CallToolResult:
    """Read one entry. If the answer has `others`, give instanceId or slug to read them.

    Example: {"granularity":"daily","date":"2026-05-12"}.
    """
    key = EntryKey(granularity, date, instanceId, slug)
    row = await JournalOperations(call.store).read(key, call.caller)
    if row is None:
        return reply_failure(call, f"No {granularity} entry of {date}; memory_list shows entries")
    return call.recall("entity", EntryReply.build(row))
