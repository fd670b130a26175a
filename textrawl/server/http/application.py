"""Streamable HTTP at /mcp, /mcp/{space} and /mcp/t/{toolset}, for every protocol version."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import anyio
from mcp.server import MCPServer
from mcp.server.auth.handlers.metadata import ProtectedResourceMetadataHandler
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url, cors_middleware
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.auth import ProtectedResourceMetadata
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, request_response
from starlette.types import ASGIApp

from textrawl.access.principal import Scope
from textrawl.errors import TextrawlError
from textrawl.host.framing import MOST_BYTES
from textrawl.server.http.authentication import Authentication, Lookup, Revocations
from textrawl.server.http.commands import COMMANDS, serve_commands
from textrawl.server.http.guards import (
    LIVENESS,
    METADATA,
    PAGES,
    Bodies,
    CrossOrigin,
    Deadlines,
    Hosts,
    RequestLimits,
    Requests,
    Welcome,
    bracket,
    build_refusal,
    refuse_exposure,
)
from textrawl.server.http.listening import listen, serve_app
from textrawl.server.http.metrics import Metrics
from textrawl.server.http.sessions import Exchanges, Sessions
from textrawl.server.logs import ANNOUNCEMENT
from textrawl.settings import Settings
from textrawl.tools.catalogue import choose_names, choose_tools

if TYPE_CHECKING:
    from textrawl.server.server import MemoryServer
    from textrawl.tools.call import App

ToolsetMount = Callable[[MCPServer[Any]], Starlette]
CheckReadiness = Callable[[], Awaitable[tuple[bool, dict[str, object]]]]
"""A function that returns whether calls would succeed, and the answer of /readyz."""


def add_paths(app: Starlette, servers: Mapping[str, MCPServer[Any]], mount: ToolsetMount) -> None:
    """Add a path for each toolset of `servers` to `app`. `mount` makes the app of a server."""
    own = app.router.lifespan_context
    for name, server in servers.items():
        mount(server)
        answer = StreamableHTTPASGIApp(server.session_manager)
        app.router.routes += [
            Route(f"/mcp/t/{name}", answer),
            Route(f"/mcp/t/{name}/{{space}}", answer),
        ]
    offered = ", ".join(name for name in servers if name != COMMANDS) or "none"
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


logger = logging.getLogger("textrawl")

_INSECURE = "--insecure: every program on this machine can connect without a token"
_NOBODY = (
    "has no access token yet, so nobody can connect: `textrawl token create --actor NAME --space "
    "default --scope read,write,forget` makes one"
)
_PROBE = 2  # seconds for a readiness check. Programs that ask for readiness do not wait long.


async def serve_http(
    server: "MemoryServer",
    settings: Settings,
    *,
    lookup: Lookup | None,
    metrics: Metrics,
    build_pages: "Callable[[App], ASGIApp] | None" = None,
) -> None:
    """Serve any number of clients at http://HTTP_HOST:HTTP_PORT/mcp until cancelled.

    `lookup` finds the principal of a bearer token. If it is None, calls need no token, and
    HTTP_HOST has to be a loopback address. `build_pages` makes the explorer of the open memory.
    After cancellation, open requests have three seconds to end.

    Raises StartRefused if the address is in use, or if others can reach it without protection.
    """
    host = settings.http_host
    refuse_exposure(host, public_url=settings.public_url, insecure=lookup is None)

    with listen(host, settings.http_port) as listener:
        async with server.open():
            await _warn_of_access(server, settings, insecure=lookup is None)
            app = build_http_app(
                server,
                settings,
                lookup=lookup,
                metrics=metrics,
                check_readiness=partial(_check_readiness, server),
                toolsets={name: server.offer(name) for name in choose_names(settings.toolsets)}
                | {COMMANDS: server.offer("memory")},
            )
            serve_commands(app, server)
            if build_pages is not None and server.app is not None:
                app.router.routes.append(Mount(PAGES, build_pages(server.app)))
            port = listener.getsockname()[1]
            logger.log(ANNOUNCEMENT, "listens on http://%s:%d/mcp", bracket(host), port)
            await serve_app(app, listener, end_streams=server.end_streams)


def build_http_app(
    server: MCPServer[Any],
    settings: Settings,
    *,
    lookup: Lookup | None,
    metrics: Metrics,
    check_readiness: CheckReadiness,
    toolsets: Mapping[str, MCPServer[Any]] | None = None,
) -> Starlette:
    """Return the ASGI application with /mcp, /mcp/{space}, probes and metrics, behind all guards.

    Each server of `toolsets` is added at /mcp/t/{toolset}. Other paths of that form get a 404.
    """
    metadata_url, metadata = _build_metadata(settings)
    app = _mount(server)
    app.router.routes += [
        Route("/mcp/{space}", StreamableHTTPASGIApp(server.session_manager)),
        *build_probes(check_readiness, metrics, insecure=lookup is None, metadata_url=metadata_url),
        *metadata,
    ]
    add_paths(app, toolsets or {}, _mount)
    _add_guards(app, settings, lookup, metadata_url)
    app.add_middleware(Requests, metrics=metrics)
    return app


def build_probes(
    check_readiness: CheckReadiness,
    metrics: Metrics,
    *,
    insecure: bool,
    metadata_url: AnyHttpUrl | None,
) -> list[Route]:
    """Return the routes of probes and metrics.

    /healthz needs no token, and /metrics needs the scope `metrics`.
    """

    async def answer_alive(_: Request) -> JSONResponse:
        """Answer 200 as long as the process runs."""
        return JSONResponse({"status": "ok"})

    async def answer_ready(_: Request) -> JSONResponse:
        """Answer 200 if calls would succeed, else 503 with the reason."""
        ready, answer = await check_readiness()
        return JSONResponse(answer, status_code=200 if ready else 503)

    async def answer_metrics(_: Request) -> Response:
        return Response(metrics.write(), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    guarded = RequireAuthMiddleware(request_response(answer_metrics), ["metrics"], metadata_url)
    return [
        Route(LIVENESS, answer_alive),
        Route("/readyz", answer_ready),
        Route("/metrics", answer_metrics if insecure else guarded, methods=["GET"]),
    ]


def _add_guards(
    app: Starlette, settings: Settings, lookup: Lookup | None, metadata_url: AnyHttpUrl | None
) -> None:
    """Add each guard that can refuse a request. The last one added receives a request first."""
    for guard in (Sessions, Exchanges, Bodies):
        app.add_middleware(guard)
    app.add_middleware(RequestLimits, most=settings.rate_limit)
    if lookup is not None:
        app.add_middleware(Revocations, lookup=lookup)
        app.add_middleware(Authentication, lookup=lookup, metadata_url=metadata_url)
    app.add_middleware(Welcome, public_url=settings.public_url, explorer=settings.explorer)
    app.add_middleware(Deadlines)
    app.add_middleware(CrossOrigin)
    app.add_middleware(
        Hosts,
        host=settings.http_host,
        public_url=settings.public_url,
        connectors=lookup is not None and metadata_url is not None,
    )


def _mount(server: MCPServer[Any]) -> Starlette:
    return server.streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MOST_BYTES,
    )


def _build_metadata(settings: Settings) -> tuple[AnyHttpUrl | None, list[Route]]:
    """Return the URL of the metadata about the identity provider, and its routes.

    Without an identity provider, they are None and empty. Some clients look only at the place
    without a path.
    """
    if settings.oauth_issuer is None or settings.public_url is None:
        return None, []
    resource = AnyHttpUrl(f"{settings.public_url}/mcp")
    # Clients compare the name of the issuer with that in its metadata (RFC 8414, section 3.3).
    # AnyHttpUrl would add a slash to a name without a path, so give the model the text.
    document = ProtectedResourceMetadata.model_validate(
        {
            "resource": str(resource),
            "authorization_servers": [settings.oauth_issuer],
            "scopes_supported": _list_scopes(settings),
            "resource_name": "textrawl",
        }
    )
    methods = ["GET", "OPTIONS"]
    answer = cors_middleware(ProtectedResourceMetadataHandler(document).handle, methods)
    paths = (METADATA, f"{METADATA}/mcp")
    routes = [Route(path, answer, methods=methods) for path in paths]
    return build_resource_metadata_url(resource), routes


def _list_scopes(settings: Settings) -> list[Scope]:
    """Return the scopes that the offered tools need. Clients ask the identity provider for all."""
    needed: set[Scope] = {"read"}
    if not settings.read_only:
        for spec in choose_tools(settings.toolsets).values():
            needed |= {spec.scope, *spec.also}
    return [scope for scope in get_args(Scope) if scope in needed]


async def _warn_of_access(server: "MemoryServer", settings: Settings, *, insecure: bool) -> None:
    """Say that everybody can connect, or nobody. If the database is away, say nothing."""
    if insecure:
        logger.warning(_INSECURE)
    if insecure or server.app is None or settings.oauth_issuer is not None:
        return
    with suppress(TextrawlError):
        if not await server.app.store.call_one("has_tokens", bool):
            logger.log(ANNOUNCEMENT, _NOBODY)


async def _check_readiness(server: "MemoryServer") -> tuple[bool, dict[str, object]]:
    missing = await _find_missing(server)
    status = {"status": "ready" if missing is None else missing}
    standby = server.app.store.database.standby if server.app is not None else None
    return missing is None, status | (standby.describe() if standby is not None else {})


async def _find_missing(server: "MemoryServer") -> str | None:
    """Return the reason why calls would fail now, or None if they would succeed."""
    if server.app is None:
        return None
    try:
        with anyio.fail_after(_PROBE):
            await server.app.store.ping()
    except TimeoutError:
        return "database slow"
    except TextrawlError as error:
        return error.title.lower()
    return None
