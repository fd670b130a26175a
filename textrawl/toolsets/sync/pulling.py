"""sync_pull."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.journal.entry_names import name_entry
from textrawl.toolsets.sync.declaration import (
    InstanceId,
    InstanceType,
    Release,
    Title,
    Version,
    sync,
)
from textrawl.toolsets.sync.operations import Program, SyncOperations
from textrawl.toolsets.sync.rows import ChangedRow
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply


class TokenPart(Part):
    """The version that the instance knows now. Its next call gives it as lastSyncVersion."""

    server_version: Annotated[int, Key("v")]
    timestamp: datetime
    hash: str

    @classmethod
    def build(cls, space: int | None, version: int) -> Self:
        """Return the part for a version of the documents of `space`."""
        digest = hashlib.sha256(f"{space}:{version}".encode()).hexdigest()[:16]
        return cls(server_version=version, timestamp=datetime.now(UTC), hash=digest)


class FilePart(Part):
    """An identity file. A file without content was deleted."""

    category: Annotated[str, Key("in")]
    filename: Annotated[str, Key("f")]
    content: Annotated[str | None, Key("c")]
    deleted: Annotated[bool | None, Key("del")]
    prompt_label: Annotated[str | None, Key("l")]
    version: int | None
    last_modified: datetime | None
    modified_by: Annotated[str | None, Key("by")]

    @classmethod
    def build(cls, row: ChangedRow) -> Self:
        """Return the part for `row`."""
        category, filename = row.path.split("/", 1)
        return cls(
            category=category,
            filename=filename,
            content=row.content,
            deleted=row.content is None or None,
            prompt_label=row.label,
            version=row.number,
            last_modified=row.modified_at,
            modified_by=row.modified_by,
        )


class EntryPart(Part):
    """A journal entry. An entry without content was deleted."""

    id: str
    granularity: Annotated[str, Key("g")]
    date: Annotated[str, Key("d")]
    slug: Annotated[str | None, Key("slug")]
    content: Annotated[str | None, Key("c")]
    deleted: Annotated[bool | None, Key("del")]
    chat_ids: Annotated[list[str] | None, Key("chats")]
    source_instance: Annotated[str | None, Key("src")]
    participating_instances: Annotated[list[str] | None, Key("with")]
    version: int | None
    created_at: datetime | None
    updated_at: datetime | None
    modified_by: Annotated[str | None, Key("by")]

    @classmethod
    def build(cls, row: ChangedRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=name_entry(row.path),
            granularity=row.granularity or "",
            date=row.date or "",
            slug=row.slug,
            content=row.content,
            deleted=row.content is None or None,
            chat_ids=row.chat_ids or None,
            source_instance=row.instance,
            participating_instances=row.participants or None,
            version=row.number,
            created_at=row.created_at,
            updated_at=row.modified_at,
            modified_by=row.modified_by,
        )


class PulledReply(Reply):
    """Changed documents in the order of their changes. The last changes are left out first."""

    one_channel: ClassVar[bool] = True
    large: ClassVar[bool] = True

    success: Annotated[bool, Key("ok")] = True
    identity_files: Annotated[list[FilePart], Key("files")]
    memories: Annotated[list[EntryPart], Key("m")]
    new_sync_token: Annotated[TokenPart, Key("token")]
    more: Annotated[int | None, Key("more")]

    rows: Annotated[Sequence[ChangedRow], Field(exclude=True)] = ()
    since: Annotated[int, Field(exclude=True)] = 0
    space: Annotated[int | None, Field(exclude=True)] = None

    @classmethod
    def build(cls, rows: Sequence[ChangedRow], count: int, since: int, space: int | None) -> Self:
        """Return the reply with the first `count` of `rows`."""
        kept = rows[:count]
        known = kept[-1].changed if kept else since
        return cls(
            identity_files=[FilePart.build(row) for row in kept if row.kind == "identity"],
            memories=[EntryPart.build(row) for row in kept if row.kind == "journal"],
            new_sync_token=TokenPart.build(space, known),
            more=(len(rows) - len(kept) + (rows[-1].remaining if rows else 0)) or None,
            rows=rows,
            since=since,
            space=space,
        )

    def size(self) -> int:
        """Return the number of documents that can be left out. The first document always stays."""
        return max(len(self.rows) - 1, 0)

    def choose(self, count: int) -> Self:
        """Return a copy with the first document and `count` more."""
        return self.build(self.rows, count + 1, self.since, self.space)


def _may_write(call: Call) -> bool:
    """Return whether the caller may write. Only then a pull stores that the instance did it."""
    home = call.caller.principal.home_space
    return not call.app.read_only and home is not None and "write" in home.scopes


@sync.tool(READS, PulledReply)
async def sync_pull(
    call: Call,
    instanceId: InstanceId,
    lastSyncVersion: Annotated[
        Version | None, Field(description="serverVersion of your last newSyncToken; default: all")
    ] = None,
    instanceType: InstanceType | None = None,
    name: Title | None = None,
    version: Release | None = None,
) -> CallToolResult:
    """Get the identity files and journal entries that changed, oldest change first.

    If the answer has `more`, call again with its serverVersion.
    """
    operations = SyncOperations(call.store)
    program = Program(instanceId, instanceType, name, version)
    if _may_write(call):
        await operations.register(program, call.caller)
    rows = await operations.pull(lastSyncVersion, call.caller)
    home = call.caller.principal.home
    reply = PulledReply.build(rows, len(rows), lastSyncVersion or 0, home)
    return await call.reply_aside(reply)
