"""A path for each toolset on offer, /mcp/t/{toolset} and /mcp/t/{toolset}/{space}.

What a path lists is the same for everybody: a client that wants other tools takes another address.
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
    """Adds the paths of `servers`, by toolset, to `app`; `mount` makes the app of one of them."""
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
