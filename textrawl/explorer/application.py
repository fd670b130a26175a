"""The explorer as an application: its pages, behind its own guards, in a server or alone."""

from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from textrawl.access.principal import Directory
from textrawl.errors import StartRefused, TextrawlError
from textrawl.explorer import (
    changes,
    decision_pages,
    entity_page,
    grants_page,
    graph_page,
    library_page,
    overview_pages,
    search_page,
    sessions_page,
    sign_in,
    sql_page,
    timeline_page,
    trail_page,
)
from textrawl.explorer.rendering import Compression, Headers, answer_asset, write_link
from textrawl.explorer.requests import (
    Page,
    Visitors,
    build_action,
    build_page,
    require_read,
    show_error,
    show_failure,
)
from textrawl.explorer.site import ROOT, Links, OpenOwner, Site
from textrawl.memory.opening import open_memory
from textrawl.memory.watches import Watches
from textrawl.server.http.guards import Bodies, Deadlines, Hosts, RequestLimits, Requests
from textrawl.server.http.listening import listen, serve_app
from textrawl.server.http.metrics import Metrics
from textrawl.server.server import MemoryServer
from textrawl.settings import Settings
from textrawl.tools.call import App
from textrawl.wire.replies import build_renderer

if TYPE_CHECKING:
    from textrawl.explorer.oauth_sign_in import OAuthSignIn

_CHANGES: dict[str, tuple[Page, Page]] = {
    "decide": (decision_pages.plan_decision, decision_pages.decide),
    "amend": (decision_pages.ask_amendment, decision_pages.amend),
    "share": (changes.plan_share, changes.share),
    "selection": (changes.plan_selection, changes.change_selection),
    "health": (overview_pages.show_health, overview_pages.check),
    "encrypted": (library_page.show_encrypted, library_page.search_encrypted),
    "undo": (trail_page.plan, trail_page.undo),
    "erase": (trail_page.plan_erasure, trail_page.erase),
    "correct": (changes.ask_correction, changes.correct),
    "forget": (changes.ask_deletion, changes.forget),
    "alias": (entity_page.ask_alias, entity_page.add_alias),
    "edit": (entity_page.ask_edit, entity_page.edit),
    "remember": (changes.ask_fact, changes.remember),
    "relate": (changes.ask_relation, changes.relate),
    "end": (changes.ask_end, changes.end),
    "merge": (decision_pages.plan_merge, decision_pages.merge),
    "merge-pairs": (decision_pages.plan_pairs, decision_pages.merge_pairs),
    "split": (decision_pages.plan_split, decision_pages.split),
    "grant": (grants_page.ask_grant, grants_page.grant),
    "take-back": (grants_page.ask_withdrawal, grants_page.take_back),
    "token": (grants_page.ask_token, grants_page.make),
    "revoke": (grants_page.ask_revocation, grants_page.revoke),
}
"""Pages that ask for a change, each with the action of its form."""
_PAGES: dict[str, Page] = {
    "home": overview_pages.show_home,
    "search": search_page.show,
    "suggest": search_page.suggest,
    "entity": entity_page.show,
    "entities": entity_page.show_all,
    "item": library_page.show_item,
    "documents": library_page.list_documents,
    "journal": library_page.show_journal,
    "identity": library_page.show_identity,
    "fading": library_page.show_fading,
    "clients": overview_pages.show_clients,
    "export": library_page.show_export,
    "graph": graph_page.show_graph,
    "sessions": sessions_page.show,
    "sql": sql_page.show,
    "spaces": overview_pages.show_spaces,
    "compare": decision_pages.show_pairs,
    "timeline": timeline_page.show,
    "proposals": decision_pages.show_proposals,
    "trail": trail_page.show,
    "same": decision_pages.show_same,
    "stale": decision_pages.show_stale,
    "decisions": decision_pages.show_decisions,
    "grants": grants_page.show,
    "tokens": grants_page.show_tokens,
    **{name: page for name, (page, _) in _CHANGES.items()},
}
_ACTIONS: dict[str, Page] = {
    "sign-out": sign_in.sign_out,
    "preferences": sign_in.keep_preferences,
    "revert": trail_page.revert,
    "undo-change": trail_page.undo_change,
    "unname": entity_page.remove_alias,
    "dismiss": decision_pages.dismiss,
    "pin": changes.pin,
    "keep": library_page.keep,
    "upload": library_page.upload,
    **{name: action for name, (_, action) in _CHANGES.items()},
}
_PAGE_OF = {"upload": "documents"}  # the page with the form, if it has another name
_WITH_FILES = {"upload"}
# The first four change no memory. The others ask once more before they change it.
_UNCONFIRMED = {"sign-out", "preferences", "health", "encrypted", "grant", "token"}
# Pages of people who write, propose, review or administer without reading.
_UNREAD = {
    "remember", "relate", "end", "proposals", "decide", "amend", "trail", "undo", "erase", "grants",
    "grant", "take-back", "tokens", "token", "revoke",
}  # fmt: skip

_SHOWN = {name: page if name in _UNREAD else require_read(page) for name, page in _PAGES.items()}


def build_explorer(site: Site) -> ASGIApp:
    """Return the explorer of a memory, for a server that answers at /explore."""
    issuer = _choose_issuer(site)
    entrance = sign_in.SignIn(site, issuer)
    routes = [
        *(issuer.routes if issuer else []),
        Route("/", RedirectResponse(write_link("home"), 303), methods=["GET"]),
        Route("/open", library_page.open_item),
        Route("/live", build_page(site, require_read(timeline_page.follow)), methods=["GET"]),
        Route("/sign-in", entrance.ask, methods=["GET"]),
        Route("/sign-in", entrance.accept, methods=["POST"]),
        Route("/static/{version}/{name}", answer_asset),
        *_list_routes(site),
    ]
    middleware = [
        Middleware(Compression),
        Middleware(Visitors, site=site),
        Middleware(RequestLimits, most=site.settings.rate_limit),
    ]
    app = Starlette(routes=routes, middleware=middleware)
    app.add_exception_handler(TextrawlError, partial(_show_error, site))
    app.add_exception_handler(HTTPException, partial(_show_fault, site))
    return Headers(app)


def _list_routes(site: Site) -> Iterator[Route]:
    for name, page in _SHOWN.items():
        yield Route(f"/{name}", build_page(site, page), methods=["GET"])
    for name, action in _ACTIONS.items():
        answer = build_action(
            site,
            action,
            _SHOWN.get(_PAGE_OF.get(name, name)),
            with_files=name in _WITH_FILES,
            confirmed=name not in _UNCONFIRMED,
        )
        yield Route(f"/{name}", answer, methods=["POST"])


def build_pages(server: MemoryServer, settings: Settings, app: App) -> ASGIApp:
    """Return the explorer of an open server. People sign in with the tokens of its clients."""
    identity = app.identity
    return build_explorer(
        Site(
            app.store,
            app.renderer,
            identity.directory,
            settings,
            server.find_principal,
            watches=app.watches,
        )
    )


def _choose_issuer(site: Site) -> "OAuthSignIn | None":
    settings = site.settings
    if settings.oauth_client_id is None or site.lookup is None:
        return None
    if settings.oauth_issuer is None:
        raise StartRefused("TEXTRAWL_OAUTH_CLIENT_ID needs TEXTRAWL_OAUTH_ISSUER")
    from textrawl.explorer.oauth_sign_in import OAuthSignIn  # noqa: PLC0415 - few servers have it

    return OAuthSignIn(site, settings.oauth_issuer, settings.oauth_client_id)


async def _show_error(site: Site, request: Request, error: Exception) -> Response:
    assert isinstance(error, TextrawlError)  # noqa: S101 - registered for this class
    return show_error(request, error, site)


async def _show_fault(site: Site, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
    title = HTTPStatus(error.status_code).phrase.capitalize()
    fix = "Go to the first page, and look from there"
    return show_failure(request, site, title, fix, error.status_code)


HOST = "127.0.0.1"


async def serve_explorer(
    settings: Settings, port: int, announce: Callable[[str], None], open_owner: OpenOwner
) -> None:
    """Serve the memory of `settings` at a loopback address until cancelled.

    `announce` gets a link that signs in once, as the actor of the other commands, and a new one
    when somebody has to sign in again. `open_owner` is not used if ACCESS_TOKEN or SPACE restricts
    this actor. Raises StartRefused, NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    with listen(HOST, port) as listener:
        async with open_memory(settings) as store:
            # A person reads their own sensitive graphs: no client of MCP reaches this process.
            directory = Directory(store.database, sensitive=True)
            principal = await directory.find_own(store.credential, settings.space)
            watches = Watches(store.database)
            restricted = settings.access_token is not None or settings.space is not None
            address, links = f"http://{HOST}:{listener.getsockname()[1]}", Links()
            print_link = partial(_print_link, announce, address, links, principal.credential)
            site = Site(
                store,
                build_renderer(settings),
                directory,
                settings,
                open_owner=None if restricted else open_owner,
                watches=watches,
                links=links,
                print_link=print_link,
            )
            async with anyio.create_task_group() as group:
                group.start_soon(watches.run)
                group.start_soon(serve_app, _build_app(site), listener, watches.end)
                print_link()


def _print_link(
    announce: Callable[[str], None],
    address: str,
    links: Links,
    credential: bytes | None,
    page: str = "",
) -> None:
    code = links.make(credential)
    announce(f"{address}{write_link('sign-in', code=code, next=page)}")


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
