"""memory_list: entries, newest first, with the first words of each."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.journal.declaration import Day, Granularity, journal
from textrawl.toolsets.journal.operations import JournalOperations, Listing
from textrawl.toolsets.journal.rows import ListedRow
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply

_PREVIEW = 100  # characters


class ListedPart(Part):
    """An entry of a list."""

    granularity: Annotated[str, Key("g")]
    date: Annotated[str, Key("d")]
    slug: Annotated[str | None, Key("slug")]
    preview: Annotated[str, Key("c")]
    source_instance: Annotated[str, Key("src")]

    @classmethod
    def build(cls, row: ListedRow) -> Self:
        """Return the part for `row`."""
        return cls(
            granularity=row.granularity,
            date=row.date,
            slug=row.slug,
            preview=row.preview + ("…" if row.length > _PREVIEW else ""),
            source_instance=row.instance,
        )


class ListedReply(Reply):
    """A page of entries, and the number of entries on all pages."""

    memories: Annotated[list[ListedPart], Key("m")]
    total: Annotated[int, Key("total")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of entries."""
        return len(self.memories)

    def choose(self, count: int) -> Self:
        """Return a copy with the newest entries."""
        dropped = (len(self.memories) - count) or None
        return self.model_copy(update={"memories": self.memories[:count], "dropped": dropped})


@journal.tool(READS, ListedReply)
async def memory_list(
    call: Call,
    granularity: Granularity | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0,
    beforeDate: Annotated[Day | None, Field(description="begins on this day or before")] = None,
    afterDate: Annotated[Day | None, Field(description="ends on this day or later")] = None,
) -> CallToolResult:
    """List entries, newest first. Example: {"granularity":"weekly","afterDate":"2026-05-01"}."""
    listing = Listing(granularity, beforeDate, afterDate, limit, offset)
    rows = await JournalOperations(call.store).list_page(listing, call.caller)
    reply = ListedReply(
        memories=[ListedPart.build(row) for row in rows if row.path is not None],
        total=rows[0].total,
    )
    return call.recall("list", reply)
