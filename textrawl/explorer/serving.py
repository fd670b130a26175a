"""The explorer alone, for the person at this machine: `textrawl explore`."""

from collections.abc import Callable

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from textrawl.access.principal import Directory
from textrawl.explorer.application import build_explorer
from textrawl.explorer.rendering import write_link
from textrawl.explorer.site import ROOT, OpenOwner, Site
from textrawl.memory.opening import open_memory
from textrawl.memory.watches import Watches
from textrawl.server.http.guards import Bodies, Deadlines, Hosts, Requests
from textrawl.server.http.listening import listen, serve_app
from textrawl.server.http.metrics import Metrics
from textrawl.settings import Settings
from textrawl.wire.replies import build_renderer

HOST = "127.0.0.1"


async def serve_explorer(
    settings: Settings, port: int, announce: Callable[[str], None], open_owner: OpenOwner
) -> None:
    """Serve the memory of `settings` at a loopback address until cancelled.

    `announce` gets a link that signs in once, as the actor of the other commands. `open_owner` is
    not used if ACCESS_TOKEN or SPACE restricts this actor. Raises StartRefused, NotAuthenticated,
    SpaceNotFound, DatabaseUnavailable.
    """
    with listen(HOST, port) as listener:
        async with open_memory(settings) as store:
            # A person reads their own sensitive graphs: no client of MCP reaches this process.
            directory = Directory(store.database, sensitive=True)
            principal = await directory.find_own(store.credential, settings.space)
            watches = Watches(store.database)
            restricted = settings.access_token is not None or settings.space is not None
            site = Site(
                store,
                build_renderer(settings),
                directory,
                settings,
                open_owner=None if restricted else open_owner,
                watches=watches,
            )
            code = site.links.make(principal.credential)
            address = f"http://{HOST}:{listener.getsockname()[1]}"
            async with anyio.create_task_group() as group:
                group.start_soon(watches.run)
                group.start_soon(serve_app, _build_app(site), listener, watches.end)
                announce(f"{address}{write_link('sign-in', code=code)}")


def _build_app(site: Site) -> Starlette:
    return Starlette(
        routes=[Mount(ROOT, build_explorer(site))],
        middleware=[
            Middleware(Requests, metrics=Metrics()),
            Middleware(Hosts, host=HOST, public_url=None),
            Middleware(Deadlines),
            Middleware(Bodies),
        ],
    )
