"""The explorer as an application: its pages, behind its own guards."""

from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from textrawl.errors import StartRefused, TextrawlError
from textrawl.explorer import (
    changes,
    clients_page,
    decisions_page,
    encrypted_page,
    entity_page,
    erasure_page,
    export_page,
    grants_page,
    graph_page,
    health_page,
    home_page,
    library_page,
    live_page,
    merges_page,
    proposals_page,
    search_page,
    selection_page,
    share_page,
    sign_in,
    timeline_page,
    trail_page,
    upload_page,
)
from textrawl.explorer.rendering import Compression, Headers, answer_asset, write_link
from textrawl.explorer.requests import (
    Page,
    Visitors,
    build_action,
    build_page,
    show_error,
    show_failure,
)
from textrawl.explorer.site import Site
from textrawl.server.http.guards import RequestLimits
from textrawl.server.server import MemoryServer
from textrawl.settings import Settings
from textrawl.tools.call import App

if TYPE_CHECKING:
    from textrawl.explorer.oauth_sign_in import OAuthSignIn

_CHANGES: dict[str, tuple[Page, Page]] = {
    "decide": (proposals_page.plan, proposals_page.decide),
    "amend": (proposals_page.ask_amendment, proposals_page.amend),
    "share": (share_page.plan, share_page.share),
    "selection": (selection_page.plan, selection_page.change),
    "health": (health_page.show, health_page.check),
    "encrypted": (encrypted_page.show, encrypted_page.search),
    "undo": (trail_page.plan, trail_page.undo),
    "erase": (erasure_page.plan, erasure_page.erase),
    "correct": (changes.ask_correction, changes.correct),
    "forget": (changes.ask_deletion, changes.forget),
    "alias": (entity_page.ask_alias, entity_page.add_alias),
    "edit": (entity_page.ask_edit, entity_page.edit),
    "remember": (changes.ask_fact, changes.remember),
    "relate": (changes.ask_relation, changes.relate),
    "end": (changes.ask_end, changes.end),
    "merge": (merges_page.plan, merges_page.merge),
    "merge-pairs": (merges_page.plan_pairs, merges_page.merge_pairs),
    "split": (merges_page.plan_split, merges_page.split),
    "grant": (grants_page.ask_grant, grants_page.grant),
    "take-back": (grants_page.ask_withdrawal, grants_page.take_back),
    "token": (grants_page.ask_token, grants_page.make),
    "revoke": (grants_page.ask_revocation, grants_page.revoke),
}
"""Pages that ask for a change, each with the action of its form."""
_PAGES: dict[str, Page] = {
    "home": home_page.show,
    "search": search_page.show,
    "suggest": search_page.suggest,
    "entity": entity_page.show,
    "item": library_page.show_item,
    "documents": library_page.list_documents,
    "journal": library_page.show_journal,
    "identity": library_page.show_identity,
    "fading": library_page.show_fading,
    "clients": clients_page.show,
    "export": export_page.show,
    "graph": graph_page.show,
    "spaces": home_page.show_spaces,
    "compare": decisions_page.show_pairs,
    "timeline": timeline_page.show,
    "proposals": proposals_page.show,
    "trail": trail_page.show,
    "same": merges_page.show,
    "stale": decisions_page.show_stale,
    "decisions": decisions_page.show_decisions,
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
    "dismiss": decisions_page.dismiss,
    "keep": library_page.keep,
    "upload": upload_page.upload,
    **{name: action for name, (_, action) in _CHANGES.items()},
}
_WITH_FILES = {"upload"}
# The first four change no memory. The others ask once more before they change it.
_UNCONFIRMED = {"sign-out", "preferences", "health", "encrypted", "grant", "token"}
# Pages of people who write, propose, review or administer without reading.
_UNREAD = {
    "remember", "relate", "end", "proposals", "decide", "amend", "trail", "undo", "erase", "grants",
    "grant", "take-back", "tokens", "token", "revoke",
}  # fmt: skip


def build_explorer(site: Site) -> ASGIApp:
    """Return the explorer of a memory, for a server that answers at /explore."""
    issuer = _choose_issuer(site)
    entrance = sign_in.SignIn(site, issuer)
    routes = [
        *(issuer.routes if issuer else []),
        Route("/", _lead_home),
        Route("/open", library_page.open_item),
        Route("/live", build_page(site, live_page.follow), methods=["GET"]),
        Route("/sign-in", entrance.ask, methods=["GET"]),
        Route("/sign-in", entrance.accept, methods=["POST"]),
        Route("/static/{version}/{name}", answer_asset),
    ]
    for name, page in _PAGES.items():
        show = build_page(site, page, read=name not in _UNREAD)
        routes.append(Route(f"/{name}", show, methods=["GET"]))
    for name, action in _ACTIONS.items():
        answer = build_action(
            site, action, with_files=name in _WITH_FILES, confirmed=name not in _UNCONFIRMED
        )
        routes.append(Route(f"/{name}", answer, methods=["POST"]))
    middleware = [
        Middleware(Compression),
        Middleware(Visitors, site=site),
        Middleware(RequestLimits, most=site.settings.rate_limit),
    ]
    app = Starlette(routes=routes, middleware=middleware)
    app.add_exception_handler(TextrawlError, partial(_show_error, site))
    app.add_exception_handler(HTTPException, partial(_show_fault, site))
    return Headers(app)


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


async def _lead_home(_: Request) -> Response:
    return RedirectResponse(write_link("home"), 303)


async def _show_error(site: Site, request: Request, error: Exception) -> Response:
    assert isinstance(error, TextrawlError)  # noqa: S101 - registered for this class
    return show_error(request, error, site)


async def _show_fault(site: Site, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
    title = HTTPStatus(error.status_code).phrase.capitalize()
    fix = "Go to the first page, and look from there"
    return show_failure(request, site, title, fix, error.status_code)
