"""The caller of a request that only reads: a resource, a prompt or a completion."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver.context import Context
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from textrawl import errors
from textrawl.access.principal import keep_caller
from textrawl.toolsets.app import App
from textrawl.toolsets.call import Call
from textrawl.wire.replies import write_sentences


@asynccontextmanager
async def open_reading(context: Context[App, Any] | None, name: str) -> AsyncGenerator[Call]:
    """Identify a caller who reads. Raises MCPError."""
    if context is None:
        raise MCPError(INTERNAL_ERROR, "Only a request can read this")
    app: App = context.request_context.lifespan_context
    try:
        caller = await app.identify(context, name)
        caller.principal.require("read")
        with keep_caller(caller):
            yield Call(app, caller, context)
    except errors.ArgumentInvalid as error:
        raise MCPError(INVALID_PARAMS, write_sentences(error.title, error.fix)) from error
    except errors.TextrawlError as error:
        raise MCPError(INTERNAL_ERROR, write_sentences(error.title, error.fix)) from error
