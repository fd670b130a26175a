"""migrate: the tool that reads a file of the reference memory server."""

from typing import Annotated

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import Field

from textrawl.graph import Graph
from textrawl.graph_files import find_file, migrate_file
from textrawl.toolsets import WRITES, App
from textrawl.toolsets.graph.declaration import graph
from textrawl.toolsets.graph.snake import SnakeReply


class MigratedReply(SnakeReply):
    """What became of the lines."""

    entities_imported: int
    relations_imported: int
    errors: int
    skipped: int


@graph.tool(WRITES, MigratedReply)
async def migrate(
    ctx: Context[App],
    source_path: Annotated[
        str, Field(max_length=1000, description="a file of the import folder")
    ] = "",
) -> CallToolResult:
    """Add what a JSONL file of the reference memory server holds; again adds nothing twice."""
    app: App = ctx.request_context.lifespan_context
    file = find_file(app.import_dir, source_path)
    caller = await app.identify(ctx, "migrate")
    done = await migrate_file(file, Graph(app.memory), caller)
    return app.render(
        MigratedReply(
            entities_imported=done.entities, relations_imported=done.relations,
            errors=done.errors, skipped=done.skipped,
        )
    )  # fmt: skip
