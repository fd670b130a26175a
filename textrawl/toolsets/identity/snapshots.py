"""The tools for snapshots: former texts of identity files."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.identity.declaration import Category, Filename, SnapshotId, identity
from textrawl.toolsets.identity.operations import IdentityOperations
from textrawl.toolsets.identity.replies import DoneReply
from textrawl.toolsets.identity.rows import SnapshotRow
from textrawl.toolsets.toolset import READS, WRITES
from textrawl.wire.replies import Key, Part, Reply


class CreatedReply(Reply):
    """The snapshots that were taken."""

    success: Annotated[bool, Key("ok")] = True
    message: str
    snapshots: Annotated[list[str], Key("snaps")]


class SnapshotPart(Part):
    """A snapshot without its text."""

    id: Annotated[str, Key("id")]
    category: str
    filename: str
    timestamp: str
    date: str
    reason: Annotated[str, Key("r")]
    source: Annotated[str | None, Key("by")]
    pinned: Annotated[bool | None, Key("pin")]

    @classmethod
    def build(cls, row: SnapshotRow) -> Self:
        """Return the part for `row`."""
        instant = row.created_at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        return cls(
            id=row.id,
            category=row.category,
            filename=row.filename,
            timestamp=instant,
            date=instant[:10],
            reason=row.reason,
            source=row.source,
            pinned=row.pinned or None,
        )


class SnapshotsReply(Reply):
    """Snapshots, newest first."""

    success: Annotated[bool, Key("ok")] = True
    snapshots: Annotated[list[SnapshotPart], Key("snaps")]
    omitted: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of snapshots."""
        return len(self.snapshots)

    def choose(self, count: int) -> Self:
        """Return a copy with the newest snapshots."""
        left_out = len(self.snapshots) - count
        return self.model_copy(
            update={"snapshots": self.snapshots[:count], "omitted": left_out or None}
        )


class ContentReply(Reply):
    """The text of a snapshot."""

    success: Annotated[bool, Key("ok")] = True
    content: Annotated[str, Key("c")]


@identity.tool(WRITES, CreatedReply)
async def snapshot_create(
    call: Call, pinned: Annotated[bool, Field(description="keep the snapshots for good")] = False
) -> CallToolResult:
    """Take a snapshot of each of my files."""
    days = call.app.snapshot_days
    names = await IdentityOperations(call.store).create_snapshots(call.caller, days, pinned=pinned)
    message = f"I took a snapshot of {len(names)} file{'s' if len(names) != 1 else ''}."
    return call.reply(CreatedReply(message=message, snapshots=list(names)))


@identity.tool(READS, SnapshotsReply)
async def snapshot_list(
    call: Call, category: Category | None = None, filename: Filename | None = None
) -> CallToolResult:
    """List the snapshots of my files, newest first."""
    rows = await IdentityOperations(call.store).list_snapshots(call.caller, category, filename)
    return call.reply(SnapshotsReply(snapshots=[SnapshotPart.build(row) for row in rows]))


@identity.tool(READS, ContentReply, FailureReply)
async def snapshot_get(call: Call, snapshotId: SnapshotId) -> CallToolResult:
    """Read the text of a snapshot."""
    row = await IdentityOperations(call.store).find_snapshot(snapshotId, call.caller)
    if row is None:
        return _reply_missing(call, snapshotId)
    return await call.reply_aside(ContentReply(content=row.content or ""))


@identity.tool(WRITES, DoneReply, FailureReply)
async def snapshot_restore(call: Call, snapshotId: SnapshotId) -> CallToolResult:
    """Bring back the text of a snapshot. The replaced text stays as a snapshot."""
    row = await IdentityOperations(call.store).restore(snapshotId, call.caller)
    if row.path is None:
        return _reply_missing(call, snapshotId)
    message = f"I restored {row.path} from {snapshotId}."
    return call.reply(DoneReply(message=message, snapshot_id=row.snapshot_id))


def _reply_missing(call: Call, name: str) -> CallToolResult:
    return reply_failure(call, f"There is no snapshot {name}: snapshot_list shows all.")
