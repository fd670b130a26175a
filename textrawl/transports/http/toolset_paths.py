"""Paths of the offered toolsets: /mcp/t/{toolset} and /mcp/t/{toolset}/{space}.

Every client of a path gets the same tools. A client that wants other tools uses another path.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from starlette.applications import Starlette
from starlette.routing import Route

from textrawl.transports.http.refusals import build_refusal

Mount = Callable[[MCPServer[Any]], Starlette]


def add_paths(app: Starlette, servers: Mapping[str, MCPServer[Any]], mount: Mount) -> None:
    """Add a path for each toolset of `servers` to `app`. `mount` makes the app of a server."""
    own = app.router.lifespan_context
    for name, server in servers.items():
        mount(server)
        answer = StreamableHTTPASGIApp(server.session_manager)
        app.router.routes += [
            Route(f"/mcp/t/{name}", answer),
            Route(f"/mcp/t/{name}/{{space}}", answer),
        ]
    offered = ", ".join(servers) or "none"
    refusal = build_refusal(
        404, "not_found", f"TEXTRAWL_TOOLSETS names the toolsets that have a path here: {offered}"
    )
    app.router.routes.append(Route("/mcp/t/{rest:path}", refusal))

    @asynccontextmanager
    async def run_all(app: Starlette) -> AsyncGenerator[object]:
        async with own(app) as state, AsyncExitStack() as stack:
            for server in servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield state

    app.router.lifespan_context = run_all  # pyright: ignore[reportAttributeAccessIssue]
