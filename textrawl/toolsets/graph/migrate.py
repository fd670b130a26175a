"""migrate: the tool that reads a file of the reference memory server."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.declaration import graph
from textrawl.toolsets.graph.operations import GraphOperations
from textrawl.toolsets.graph.reference_file import find_file, migrate_file
from textrawl.toolsets.graph.snake_case_replies import SnakeReply
from textrawl.toolsets.toolset import WRITES


class MigratedReply(SnakeReply):
    """The counts of imported, refused and skipped lines."""

    entities_imported: int
    relations_imported: int
    errors: int
    skipped: int


@graph.tool(WRITES, MigratedReply)
async def migrate(
    call: Call,
    source_path: Annotated[
        str, Field(max_length=1000, description="a file of the import folder")
    ] = "",
) -> CallToolResult:
    """Add what a JSONL file of the reference memory server holds; again adds nothing twice."""
    file = find_file(call.app.import_dir, source_path)
    done = await migrate_file(file, GraphOperations(call.store), call.caller)
    return call.reply(
        MigratedReply(
            entities_imported=done.entities,
            relations_imported=done.relations,
            errors=done.errors,
            skipped=done.skipped,
        )
    )
