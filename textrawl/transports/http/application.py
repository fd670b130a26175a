"""Streamable HTTP at /mcp, /mcp/{space} and /mcp/t/{toolset}, both eras, behind every guard."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import anyio
from mcp.server import MCPServer
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.routing import Route

from textrawl.access.principal import Scope
from textrawl.errors import TextrawlError
from textrawl.server.logs import ANNOUNCED
from textrawl.settings import Settings
from textrawl.toolsets.catalogue import choose_names
from textrawl.transports.framing.lines import MOST_BYTES
from textrawl.transports.http.authentication import Authentication, Lookup
from textrawl.transports.http.bodies import Bodies
from textrawl.transports.http.deadlines import Deadlines
from textrawl.transports.http.endings import Endings
from textrawl.transports.http.exchanges import Exchanges
from textrawl.transports.http.hosts import Hosts, Pages, bracket, refuse_exposure
from textrawl.transports.http.limits import Limits
from textrawl.transports.http.listening import listen, serve_app
from textrawl.transports.http.metrics import Metrics
from textrawl.transports.http.probes import FindMissing, build_probes
from textrawl.transports.http.requests import Requests
from textrawl.transports.http.toolset_paths import add_paths

if TYPE_CHECKING:  # the server reads what these modules note of a request
    from textrawl.server.server import MemoryServer

logger = logging.getLogger("textrawl")

_PROBE = 2  # seconds after which a probe would have given up on us
_SCOPES = list(get_args(Scope))


async def serve_http(
    server: "MemoryServer",
    settings: Settings,
    *,
    lookup: Lookup | None,
    metrics: Metrics,
) -> None:
    """Serves any number of clients at http://HTTP_HOST:HTTP_PORT/mcp until it is cancelled.

    `lookup` says whose a bearer token is. Without it nobody needs one, and the address has to be
    this machine's. Open requests have three seconds to end.
    Raises StartRefused for an address that others can reach and that is not provided for, or one
    that cannot be listened on.
    """
    host = settings.http_host
    refuse_exposure(host, public_url=settings.public_url, insecure=lookup is None)

    async def find_missing() -> str | None:
        return await _find_missing(server)

    with listen(host, settings.http_port) as listener:
        async with server.open():
            if lookup is None:
                logger.warning("--insecure: whoever reaches this machine needs no token")
            app = build_http_app(
                server, settings, lookup=lookup, metrics=metrics, find_missing=find_missing,
                toolsets={name: server.offer(name) for name in choose_names(settings.toolsets)},
            )  # fmt: skip
            address = f"{bracket(host)}:{listener.getsockname()[1]}"
            logger.log(ANNOUNCED, "listens on http://%s/mcp", address)
            await serve_app(app, listener)


def build_http_app(
    server: MCPServer[Any],
    settings: Settings,
    *,
    lookup: Lookup | None,
    metrics: Metrics,
    find_missing: FindMissing,
    toolsets: Mapping[str, MCPServer[Any]] | None = None,
) -> Starlette:
    """The ASGI application: /mcp and /mcp/{space}, probes, metrics, and every guard before them.

    `toolsets` are servers of their own at /mcp/t/{toolset}; other paths of that kind are a 404.
    """
    resource = _find_resource(settings)
    metadata_url = build_resource_metadata_url(resource) if resource else None
    app = _mount(server)
    app.router.routes += [
        Route("/mcp/{space}", StreamableHTTPASGIApp(server.session_manager)),
        *build_probes(find_missing, metrics, insecure=lookup is None, metadata_url=metadata_url),
        *_build_metadata(settings, resource),
    ]
    add_paths(app, toolsets or {}, _mount)
    # The last one added is the first to see a request.
    app.add_middleware(Exchanges)
    app.add_middleware(Bodies)
    app.add_middleware(Limits, most=settings.rate_limit)
    if lookup is not None:
        app.add_middleware(Endings, lookup=lookup)
        app.add_middleware(Authentication, lookup=lookup, metadata_url=metadata_url)
    app.add_middleware(Deadlines)
    app.add_middleware(Pages)
    app.add_middleware(Hosts, host=settings.http_host, public_url=settings.public_url)
    app.add_middleware(Requests, metrics=metrics)
    return app


def _mount(server: MCPServer[Any]) -> Starlette:
    return server.streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MOST_BYTES,
    )


def _find_resource(settings: Settings) -> AnyHttpUrl | None:
    """What an identity provider issues tokens for, where there is one and it can be named."""
    if settings.oauth_issuer is None or settings.public_url is None:
        return None
    return AnyHttpUrl(f"{settings.public_url}/mcp")


def _build_metadata(settings: Settings, resource: AnyHttpUrl | None) -> list[Route]:
    if settings.oauth_issuer is None or resource is None:
        return []
    issuer = AnyHttpUrl(settings.oauth_issuer)
    return create_protected_resource_routes(
        resource, [issuer], scopes_supported=_SCOPES, resource_name="textrawl"
    )


async def _find_missing(server: "MemoryServer") -> str | None:
    """Why a call would not be answered; None if it would."""
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
