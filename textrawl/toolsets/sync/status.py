"""sync_status."""

import dataclasses
from datetime import datetime
from typing import Annotated, Any, Self

from mcp.types import CallToolResult

from textrawl.toolsets.call import Call
from textrawl.toolsets.sync.declaration import sync
from textrawl.toolsets.sync.operations import SyncOperations
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply


class InstancePart(Part):
    """An instance that shares the documents."""

    id: Annotated[str, Key("id")]
    type: Annotated[str, Key("t")]
    name: str | None
    version: str | None
    last_sync: Annotated[datetime | None, Key("at")]


class ExtractionPart(Part):
    """The totals of the extraction of nodes and edges from journal entries."""

    llm_available: Annotated[bool, Key("llm")]
    last_attempt: datetime | None
    last_success: datetime | None
    last_error: Annotated[str | None, Key("err")]
    attempts_total: int
    successes_total: int
    nodes_created_total: int
    edges_created_total: int
    pending: Annotated[int, Key("due")]


class StatusReply(Reply):
    """The version of the documents, and the instances. The last to synchronize comes first."""

    server_version: Annotated[int, Key("v")]
    connected_instances: Annotated[list[InstancePart], Key("i")]
    extraction: Annotated[ExtractionPart, Key("x")]

    def size(self) -> int:
        """Return the number of instances."""
        return len(self.connected_instances)

    def choose(self, count: int) -> Self:
        """Return a copy with the instances that synchronized last."""
        kept = self.connected_instances[:count]
        return self.model_copy(update={"connected_instances": kept})


@sync.tool(READS, StatusReply)
async def sync_status(call: Call) -> CallToolResult:
    """Show the version of the documents, the instances that share them, and the extraction."""
    operations = SyncOperations(call.store)
    row = await operations.read_state(call.caller)
    extraction = await operations.read_extraction(call.caller)
    instances: list[Any] = row.instances
    return call.reply(
        StatusReply(
            server_version=row.server_version,
            connected_instances=[InstancePart(**one) for one in instances],
            extraction=ExtractionPart(
                llm_available=call.store.llm is not None, **dataclasses.asdict(extraction)
            ),
        )
    )
